/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries and exits, with what is recorded beside them, and those that --keep-slower holds back. */
#include <string.h>

#include "probes/arguments.h"
#include "probes/drain_keep.h"
#include "probes/drain_private.h"
#include "probes/ringbuf.h"
#include "trace/record.h"
#include "trace/writer.h"

/* A stack comes before its entry, so that taking it is not part of the call; in the file it stands
 * behind it. */
static void put_call_stack(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct drain_cpu *c = &d->cpus[cpu];
	struct record r = drain_record(&call->h, cpu, REC_STACK);

	if (c->stack_tid != call->h.tid)
		return;
	drain_put_values(d, &r, 1, c->stack, 0, 0);
	c->stack = 0;
}

/* Of an exit it comes before that in the file, too. */
static void put_exit_stack(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct drain_cpu *c = &d->cpus[cpu];
	struct record r = drain_record(&call->h, cpu, REC_EXIT_STACK);

	if (c->exit_stack && c->exit_stack_tid == call->h.tid)
		drain_put_values(d, &r, 1, c->exit_stack, 0, 0);
	c->exit_stack = 0;
}

static void keep_stack(struct drain_cpu *c, const struct wire_head *h, uint32_t stack)
{
	bool at_exit = h->head >> WIRE_ID_BITS & WIRE_AT_EXIT;

	*(at_exit ? &c->exit_stack : &c->stack) = stack;
	*(at_exit ? &c->exit_stack_tid : &c->stack_tid) = h->tid;
}

void drain_on_stack(struct drain *d, const struct wire_stack *w, uint32_t cpu)
{
	keep_stack(&d->cpus[cpu], &w->h, drain_call_stack(&d->stacks, w));
}

void drain_on_copy(struct drain *d, const struct wire_copy *w, uint32_t cpu)
{
	keep_stack(&d->cpus[cpu], &w->h, drain_call_copy(&d->stacks, w));
}

void drain_on_wait_copy(struct drain *d, const struct wire_copy *w, uint32_t cpu)
{
	d->cpus[cpu].wait_stack = drain_wait_copy(&d->stacks, w);
	d->cpus[cpu].wait_stack_tid = w->h.tid;
}

static const struct arguments *arguments_of(const struct drain *d, uint32_t function)
{
	return function < d->n_functions ? d->arguments[function] : NULL;
}

static void put_return(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, w->h.head & WIRE_ID_MASK);
	struct record r = drain_record(&w->h, cpu, REC_ARGS);

	if (a)
		drain_put_values(d, &r, 2, 1u << ARG_RETURN,
				 argument_value(a, ARG_RETURN, w->values[0]), 0);
}

/* They come before their entry, for the same reason as its stack. */
static void put_arguments(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, call->h.head & WIRE_ID_MASK);
	struct wire_args *w = &d->cpus[cpu].args;
	struct record r = drain_record(&call->h, cpu, REC_ARGS);
	uint64_t values[WIRE_ARGS_MAX + 1] = { 0 };

	if (!a || w->h.tid != call->h.tid)
		return;
	r.n_values = 1;
	for (uint32_t i = 0; i < WIRE_ARGS_MAX; i++) {
		uint64_t value = argument_value(a, i, w->values[i]);

		if (!(a->registers & 1u << i) || (a->occasional && !argument_may_count(value)))
			continue;
		if (a->addresses & 1u << i)
			drain_address(&d->addresses, call->h.tgid, w->values[i]);
		values[0] |= 1u << i;
		values[r.n_values++] = value;
	}
	r.values = values;
	if (values[0])
		drain_put(d, &r);
	w->h.tid = 0;
}

void drain_on_args(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, w->h.head & WIRE_ID_MASK);

	if (!a)
		return;
	d->cpus[cpu].args.h = w->h;
	memcpy(d->cpus[cpu].args.values, w->values,
	       (a->registers >> WIRE_ARGS_FEW ? WIRE_ARGS_MAX : WIRE_ARGS_FEW) *
		       sizeof(*w->values));
}

static void put_inner(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct record r = drain_record(&call->h, cpu, REC_INNER);

	drain_put_values(d, &r, 0, 0, 0, 0);
}

static void count_entry(struct drain *d, const struct wire_call *call, bool entry)
{
	uint32_t function = call->h.head & WIRE_ID_MASK;

	d->entries += entry;
	if (entry && function < d->n_functions)
		d->calls_of[function]++;
}

static void put_call(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	bool entry = (call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK) == WIRE_ENTRY;
	uint32_t function = call->h.head & WIRE_ID_MASK;
	int ret;

	if (call->h.head >> WIRE_ID_BITS & WIRE_INNER)
		put_inner(d, call, cpu);
	if (!entry)
		put_exit_stack(d, call, cpu);
	ret = trace_writer_call(d->writer, cpu, entry ? REC_ENTRY : REC_EXIT, call->h.time_ns,
				call->h.tid, call->h.tgid,
				entry ? drain_site(&d->stacks, call) : function, call->sp);

	if (ret)
		d->error = ret;
	if (!entry)
		return;
	if (d->cpus[cpu].stack)
		put_call_stack(d, call, cpu);
	if (d->cpus[cpu].args.h.tid)
		put_arguments(d, call, cpu);
}

/* ---- --keep-slower ---- */

static void put_held(void *ctx, uint32_t cpu, const struct keep_entry *e)
{
	struct drain *d = ctx;
	struct drain_cpu *c = &d->cpus[cpu];
	struct drain_cpu now = *c;

	c->args = e->args;
	c->stack = e->stack;
	c->stack_tid = e->call.h.tid;
	put_call(d, &e->call, cpu);
	*c = now;
}

void drain_keep_slower(struct drain *d, uint64_t slower_ns)
{
	d->keep = keep_new(slower_ns, d->n_cpus, put_held, d);
}

/* The entry takes with it what came before it. */
static void hold(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct drain_cpu *c = &d->cpus[cpu];
	uint32_t function = call->h.head & WIRE_ID_MASK;
	struct keep_entry e = { .call = *call };

	if (function < d->n_functions)
		e.cost = d->costs[function];

	if (c->stack && c->stack_tid == call->h.tid) {
		e.stack = c->stack;
		c->stack = 0;
	}
	if (c->args.h.tid == call->h.tid) {
		e.args = c->args;
		c->args.h.tid = 0;
	}
	keep_enter(d->keep, cpu, &e);
}

static void leave(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct keep_inside inside = keep_leave(d->keep, cpu, call);
	struct record r = drain_record(&call->h, cpu, REC_INSIDE);
	const uint64_t values[] = { inside.calls, inside.ns, inside.cost_ns, inside.beside_ns };
	struct wire_args *result = &d->cpus[cpu].result;

	r.values = values;
	r.n_values = sizeof(values) / sizeof(*values);
	if (inside.write && inside.calls)
		drain_put(d, &r);
	if (inside.write && result->h.tid == call->h.tid)
		put_return(d, result, cpu);
	result->h.tid = 0;
	if (inside.write)
		put_call(d, call, cpu);
	d->cpus[cpu].exit_stack = 0;
}

void drain_on_call(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	bool entry = (call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK) == WIRE_ENTRY;

	d->calls++;
	count_entry(d, call, entry);
	if (!d->keep || (call->h.head & WIRE_ID_MASK) >= WIRE_SELFCOST_FIRST)
		put_call(d, call, cpu);
	else if (entry)
		hold(d, call, cpu);
	else
		leave(d, call, cpu);
}

void drain_on_return(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	if (d->keep)
		memcpy(&d->cpus[cpu].result, w, WIRE_ARGS_BYTES(1));
	else
		put_return(d, w, cpu);
}

static void put_rest(void *ctx, const struct keep_rest *rest)
{
	struct drain *d = ctx;
	uint64_t values[BRIEF_FIXED + BRIEF_OCTAVES + 1] = {
		rest->id,     rest->calls,  rest->outer,      rest->sum_ns, rest->min_ns,
		rest->inside, rest->own_ns, rest->own_min_ns, rest->top_ns,
	};
	struct record r = { .time_ns = d->finished_ns,
			    .kind = REC_BRIEF,
			    .cpu = d->first_cpu,
			    .tid = rest->tid,
			    .tgid = rest->tgid };

	memcpy(values + BRIEF_FIXED, rest->octaves, sizeof(rest->octaves));
	r.values = values;
	values[BRIEF_FIXED + BRIEF_OCTAVES] = rest->cost_ns;
	r.n_values = BRIEF_FIXED + BRIEF_OCTAVES + 1;
	while (r.n_values > BRIEF_FIXED && !values[r.n_values - 1])
		r.n_values--;
	drain_put(d, &r);
}

void drain_on_thread_end(struct drain *d, const struct wire_task *w, uint32_t cpu)
{
	if (!d->keep)
		return;
	d->finished_ns = w->h.time_ns;
	d->first_cpu = cpu;
	keep_end_thread(d->keep, w->h.tid, put_rest, d);
}

void drain_put_rest_of_calls(struct drain *d, const struct ringbufs *rings, uint64_t now_ns)
{
	if (!d->keep)
		return;
	keep_release_all(d->keep);
	d->finished_ns = now_ns;
	d->first_cpu = rings->n ? rings->rings[0].cpu : 0;
	keep_each(d->keep, put_rest, d);
}
