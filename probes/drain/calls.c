/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the entries and exits of calls with their stacks, arguments and counters. With
 * --keep-slower, an entry waits until its call proves long enough to be written.
 */
#include <string.h>

#include "probes/drain/internal.h"
#include "probes/drain/keep.h"
#include "probes/ring/ringbuf.h"
#include "probes/select/arguments.h"
#include "trace/record.h"
#include "trace/write/writer.h"

/* A probe's program can be preempted. So records of other threads may lie between a call's record
 * and the stack or arguments that come ahead of it. */
static struct drain_ahead *find_ahead(struct drain_cpu *c, uint32_t tid)
{
	for (uint32_t i = 0; i < c->n_ahead; i++)
		if (c->ahead[i].tid == tid)
			return &c->ahead[i];
	return NULL;
}

static struct drain_ahead *ahead_of(struct drain *d, uint32_t cpu, uint32_t tid)
{
	struct drain_cpu *c = &d->cpus[cpu];
	struct drain_ahead *ahead = find_ahead(c, tid);

	if (ahead)
		return ahead;
	if (c->n_ahead == DRAIN_AHEAD_MAX) {
		c->n_ahead--;
		d->aheads_dropped++;
	}
	ahead = &c->ahead[c->n_ahead++];
	*ahead = (struct drain_ahead){ .tid = tid };
	return ahead;
}

/* Takes what came ahead of this record of a call, and forgets it even if the call has no use for
 * it. */
static const struct drain_ahead *pop_ahead(struct drain_cpu *c, uint32_t tid,
					   struct drain_ahead *taken)
{
	static const struct drain_ahead nothing;
	struct drain_ahead *ahead = c->n_ahead ? find_ahead(c, tid) : NULL;

	if (!ahead)
		return &nothing;
	*taken = *ahead;
	*ahead = c->ahead[--c->n_ahead];
	return taken;
}

void drain_on_stack(struct drain *d, const struct wire_stack *w, uint32_t cpu)
{
	ahead_of(d, cpu, w->h.tid)->stack = drain_call_stack(&d->stacks, w);
}

void drain_on_copy(struct drain *d, const struct wire_copy *w, uint32_t cpu)
{
	ahead_of(d, cpu, w->h.tid)->stack = drain_call_copy(&d->stacks, w);
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

static void write_return(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, w->h.head & WIRE_ID_MASK);
	struct record r = drain_record(&w->h, cpu, REC_ARGS);

	if (a)
		drain_write_values(d, &r, 2, 1u << ARG_RETURN,
				   argument_value(a, ARG_RETURN, w->values[0]), 0);
}

/* Arguments come before their entry, as stacks do. */
static void write_arguments(struct drain *d, const struct wire_call *call,
			    const struct wire_args *w, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, call->h.head & WIRE_ID_MASK);
	struct record r = drain_record(&call->h, cpu, REC_ARGS);
	uint64_t values[WIRE_ARGS_MAX + 1];

	r.n_values = a ? arguments_values(a, w, values) : 0;
	r.values = values;
	if (!r.n_values)
		return;
	drain_addresses_of_call(&d->addresses, (pid_t)call->h.tgid, a, values[0], w);
	drain_write(d, &r);
}

void drain_on_args(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	const struct arguments *a = arguments_of(d, w->h.head & WIRE_ID_MASK);
	struct wire_args *args;

	if (!a)
		return;
	args = &ahead_of(d, cpu, w->h.tid)->args;
	args->h = w->h;
	memcpy(args->values, w->values,
	       (a->registers >> WIRE_ARGS_FEW ? WIRE_ARGS_MAX : WIRE_ARGS_FEW) *
		       sizeof(*w->values));
}

static void write_inner(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	struct record r = drain_record(&call->h, cpu, REC_INNER);

	drain_write_values(d, &r, 0, 0, 0, 0);
}

static void count_entry(struct drain *d, const struct wire_call *call, bool entry)
{
	uint32_t function = call->h.head & WIRE_ID_MASK;

	d->entries += entry;
	if (entry && function < d->n_functions)
		d->calls_of[function]++;
}

static void write_stack(struct drain *d, const struct wire_call *call, uint32_t cpu, uint32_t kind,
			uint32_t stack)
{
	struct record r;

	if (!stack)
		return;
	r = drain_record(&call->h, cpu, kind);
	drain_write_values(d, &r, 1, stack, 0, 0);
}

/* In the file, the arguments and the stack follow an entry, but precede an exit. */
static void write_call(struct drain *d, const struct wire_call *call,
		       const struct drain_ahead *ahead, uint32_t cpu)
{
	bool entry = (call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK) == WIRE_ENTRY;
	const uint64_t sp = d->narrow_sp ? (uint32_t)call->sp : call->sp;
	uint32_t function = call->h.head & WIRE_ID_MASK;
	int ret;

	if (call->h.head >> WIRE_ID_BITS & WIRE_INNER)
		write_inner(d, call, cpu);
	if (!entry)
		write_stack(d, call, cpu, REC_EXIT_STACK, ahead->stack);
	ret = trace_writer_call(d->writer, cpu, entry ? REC_ENTRY : REC_EXIT, call->h.time_ns,
				call->h.tid, call->h.tgid,
				entry ? drain_site(&d->stacks, call) : function, sp);

	if (ret)
		d->error = ret;
	if (!entry)
		return;
	write_stack(d, call, cpu, REC_STACK, ahead->stack);
	if (ahead->args.h.tid)
		write_arguments(d, call, &ahead->args, cpu);
}

/* ---- --keep-slower ---- */

void drain_write_held(void *ctx, uint32_t cpu, const struct keep_entry *e)
{
	const struct drain_ahead ahead = { .stack = e->stack, .args = e->args };

	write_call(ctx, &e->call, &ahead, cpu);
}

/* Stores the entry together with the stack and arguments that came ahead of it. */
static void store_entry(struct drain *d, const struct wire_call *call,
			const struct drain_ahead *ahead, uint32_t cpu)
{
	uint32_t function = call->h.head & WIRE_ID_MASK;
	struct keep_entry e = { .call = *call, .stack = ahead->stack, .args = ahead->args };

	if (function < d->n_functions)
		e.cost = d->costs[function];
	keep_enter(d->keep, cpu, &e);
}

static void leave(struct drain *d, const struct wire_call *call, const struct drain_ahead *ahead,
		  uint32_t cpu)
{
	struct keep_inside inside = keep_leave(d->keep, cpu, call);
	struct record r = drain_record(&call->h, cpu, REC_INSIDE);
	const uint64_t values[] = { inside.calls, inside.ns, inside.cost_ns, inside.beside_ns };

	if (!inside.write)
		return;
	r.values = values;
	r.n_values = sizeof(values) / sizeof(*values);
	if (inside.calls)
		drain_write(d, &r);
	if (ahead->args.h.tid)
		write_return(d, &ahead->args, cpu);
	write_call(d, call, ahead, cpu);
}

void drain_on_call(struct drain *d, const struct wire_call *call, uint32_t cpu)
{
	bool entry = (call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK) == WIRE_ENTRY;
	struct drain_ahead taken;
	const struct drain_ahead *ahead = pop_ahead(&d->cpus[cpu], call->h.tid, &taken);

	d->calls++;
	count_entry(d, call, entry);
	if (!d->keep || (call->h.head & WIRE_ID_MASK) >= WIRE_SELFCOST_FIRST)
		write_call(d, call, ahead, cpu);
	else if (entry)
		store_entry(d, call, ahead, cpu);
	else
		leave(d, call, ahead, cpu);
}

void drain_on_return(struct drain *d, const struct wire_args *w, uint32_t cpu)
{
	if (d->keep)
		memcpy(&ahead_of(d, cpu, w->h.tid)->args, w, WIRE_ARGS_BYTES(1));
	else
		write_return(d, w, cpu);
}

static void write_rest(void *ctx, const struct keep_rest *rest)
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
	drain_write(d, &r);
}

void drain_on_thread_end(struct drain *d, const struct wire_task *w, uint32_t cpu)
{
	if (!d->keep)
		return;
	d->finished_ns = w->h.time_ns;
	d->first_cpu = cpu;
	keep_end_thread(d->keep, w->h.tid, write_rest, d);
}

void drain_write_rest_of_calls(struct drain *d, const struct ringbufs *rings, uint64_t now_ns)
{
	if (!d->keep)
		return;
	keep_release_all(d->keep);
	d->finished_ns = now_ns;
	d->first_cpu = rings->n ? rings->rings[0].cpu : 0;
	keep_each(d->keep, write_rest, d);
}
