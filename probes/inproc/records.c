// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/records.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "probes/drain/addresses.h"
#include "probes/drain/keep.h"
#include "probes/drain/stacks.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/select/arguments.h"
#include "trace/record.h"
#include "trace/write/writer.h"

void inproc_note_error(struct inproc_drain *d, int ret)
{
	d->error = d->error ? d->error : ret;
}

void inproc_write_record(struct inproc_drain *d, const struct wire_head *h, uint32_t kind,
			 const uint64_t *values, uint32_t n_values)
{
	const struct record r = { .kind = kind,
				  .cpu = d->cpu,
				  .time_ns = h->time_ns,
				  .tid = h->tid,
				  .tgid = h->tgid,
				  .n_values = n_values,
				  .values = values };

	inproc_note_error(d, trace_writer_record(d->writer, &r));
}

void inproc_write_set(struct inproc_drain *d, bool on, uint64_t time_ns)
{
	const uint64_t values[RECORD_VALUES_MIN] = { 0 };

	inproc_write_record(d, &(struct wire_head){ .time_ns = time_ns },
			    on ? REC_SET_ON : REC_SET_OFF, values, 2);
}

static void write_call(struct inproc_drain *d, uint32_t kind, const struct wire_call *call)
{
	const bool is_of_site =
		kind == REC_ENTRY && d->sites && call->caller > INPROC_UNKNOWN_CALLER;

	d->records++;
	inproc_note_error(
		d, trace_writer_call(
			   d->writer, d->cpu, kind, call->h.time_ns, call->h.tid, call->h.tgid,
			   is_of_site ? drain_site(d->sites, call) : call->h.head, call->sp));
}

const struct arguments *inproc_arguments_of(const struct inproc_drain *d, uint32_t function)
{
	return d->arguments && function < d->n_calls_of ? d->arguments[function] : NULL;
}

/* Writes the recorded arguments of a call that a stub has timed. */
static void write_arguments(struct inproc_drain *d, const struct arguments *a,
			    const struct keep_entry *e)
{
	uint64_t values[WIRE_ARGS_MAX + 1];
	const uint32_t n = arguments_values(a, &e->args, values);

	if (!n)
		return;
	if (d->addresses)
		drain_addresses_of_call(d->addresses, (pid_t)e->call.h.tgid, a, values[0],
					&e->args);
	inproc_write_record(d, &e->call.h, REC_ARGS, values, n);
}

/* Writes the entry and, if the call waits for a lock, the stack of the wait and the lock. The stack
 * of the wait has the next id after e->stack (names.c). */
static void write_entry(struct inproc_drain *d, const struct keep_entry *e)
{
	const uint64_t stack[RECORD_VALUES_MIN] = { e->stack + 1 };
	const struct arguments *a = inproc_arguments_of(d, e->call.h.head);
	const uint64_t args[RECORD_VALUES_MIN] = {
		1u << ARG_FIRST | (e->stack ? 1u << ARG_CALLER : 0), e->args.values[0], e->stack
	};

	write_call(d, REC_ENTRY, &e->call);
	if (e->stack)
		inproc_write_record(d, &e->call.h, REC_STACK, stack, 1);
	if (e->args.h.tid && a)
		write_arguments(d, a, e);
	else if (e->args.h.tid)
		inproc_write_record(d, &e->call.h, REC_ARGS, args, e->stack ? 3 : 2);
}

static void write_kept(void *ctx, uint32_t cpu, const struct keep_entry *e)
{
	(void)cpu;
	write_entry(ctx, e);
}

void inproc_drain_keep_slower(struct inproc_drain *d, uint64_t slower_ns)
{
	d->keep = keep_new(slower_ns, 1, write_kept, d);
	d->slower_ns = slower_ns;
}

void inproc_sum_up_shorter(struct inproc_drain *d, uint64_t ns)
{
	char words[160], time[TEXT_NUMBER];

	inproc_drain_keep_slower(d, ns);
	snprintf(words, sizeof(words),
		 "calls shorter than %s left no records, only sums and a histogram",
		 text_time(time, ns));
	inproc_write_notice(d->writer, "keep-slower", words);
}

void inproc_enter(struct inproc_drain *d, const struct wire_call *call,
		  const struct keep_entry *beside)
{
	if (d->keep)
		keep_enter(d->keep, 0, beside ? beside : &(struct keep_entry){ .call = *call });
	else if (beside)
		write_entry(d, beside);
	else
		write_call(d, REC_ENTRY, call);
}

static void write_returned(struct inproc_drain *d, const struct wire_call *call, uint64_t raw)
{
	const struct arguments *a = inproc_arguments_of(d, call->h.head);
	const uint64_t values[RECORD_VALUES_MIN] = { 1u << ARG_RETURN,
						     argument_value(a, ARG_RETURN, raw) };

	inproc_write_record(d, &call->h, REC_ARGS, values, 2);
}

void inproc_leave(struct inproc_drain *d, const struct wire_call *call, uint32_t stack,
		  const uint64_t *returned)
{
	const struct keep_inside inside =
		d->keep ? keep_leave(d->keep, 0, call) : (struct keep_inside){ .write = true };
	const uint64_t left_out[] = { inside.calls, inside.ns, inside.cost_ns, inside.beside_ns },
		       of[RECORD_VALUES_MIN] = { stack };

	if (!inside.write)
		return;
	if (inside.calls)
		inproc_write_record(d, &call->h, REC_INSIDE, left_out,
				    sizeof(left_out) / sizeof(*left_out));
	if (stack)
		inproc_write_record(d, &call->h, REC_EXIT_STACK, of, 1);
	if (returned)
		write_returned(d, call, *returned);
	write_call(d, REC_EXIT, call);
}

static void write_rest(void *ctx, const struct keep_rest *rest)
{
	struct inproc_drain *d = ctx;
	const struct wire_head h = { .time_ns = d->rest_ns, .tid = rest->tid, .tgid = rest->tgid };
	uint64_t values[BRIEF_FIXED + BRIEF_OCTAVES] = {
		rest->id,     rest->calls,  rest->outer,      rest->sum_ns, rest->min_ns,
		rest->inside, rest->own_ns, rest->own_min_ns, rest->top_ns,
	};
	uint32_t n = BRIEF_FIXED + BRIEF_OCTAVES;

	memcpy(values + BRIEF_FIXED, rest->octaves, sizeof(rest->octaves));
	while (n > BRIEF_FIXED && !values[n - 1])
		n--;
	inproc_write_record(d, &h, REC_BRIEF, values, n);
}

void inproc_end_thread(struct inproc_drain *d, uint32_t tid, uint64_t time_ns)
{
	d->rest_ns = time_ns;
	if (d->keep)
		keep_end_thread(d->keep, tid, write_rest, d);
}

void inproc_end_all(struct inproc_drain *d, uint64_t time_ns)
{
	d->rest_ns = time_ns;
	if (!d->keep)
		return;
	keep_release_all(d->keep);
	keep_each(d->keep, write_rest, d);
}

uint64_t inproc_drain_left_out(const struct inproc_drain *d)
{
	return 2 * keep_calls(d->keep);
}
