// SPDX-License-Identifier: GPL-3.0-or-later
/* Calls of in-process producers, and those that --keep-slower leaves out. */
#include <stdlib.h>
#include <string.h>

#include "probes/drain/keep.h"
#include "probes/inproc/drain.h"
#include "trace/record.h"
#include "trace/write/writer.h"

void inproc_note_error(struct inproc_drain *d, int ret)
{
	d->error = d->error ? d->error : ret;
}

static void put(struct inproc_drain *d, const struct wire_head *h, uint32_t kind,
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

static void put_call(struct inproc_drain *d, uint32_t kind, const struct wire_call *call)
{
	d->records++;
	inproc_note_error(d, trace_writer_call(d->writer, d->cpu, kind, call->h.time_ns,
					       call->h.tid, call->h.tgid, call->h.head, call->sp));
}

/* What it waits for and where, if it waits for a lock (names.c: the stack of the wait follows). */
static void put_entry(struct inproc_drain *d, const struct keep_entry *e)
{
	const uint64_t stack[RECORD_VALUES_MIN] = { e->stack + 1 };
	const uint64_t args[RECORD_VALUES_MIN] = {
		1u << ARG_FIRST | (e->stack ? 1u << ARG_CALLER : 0), e->args.values[0], e->stack
	};

	put_call(d, REC_ENTRY, &e->call);
	if (e->stack)
		put(d, &e->call.h, REC_STACK, stack, 1);
	if (e->args.h.tid)
		put(d, &e->call.h, REC_ARGS, args, e->stack ? 3 : 2);
}

static void put_held(void *ctx, uint32_t cpu, const struct keep_entry *e)
{
	(void)cpu;
	put_entry(ctx, e);
}

void inproc_drain_keep_slower(struct inproc_drain *d, uint64_t slower_ns)
{
	d->keep = keep_new(slower_ns, 1, put_held, d);
	d->slower_ns = slower_ns;
}

void inproc_enter(struct inproc_drain *d, const struct wire_call *call,
		  const struct keep_entry *beside)
{
	if (d->keep)
		keep_enter(d->keep, 0, beside ? beside : &(struct keep_entry){ .call = *call });
	else if (beside)
		put_entry(d, beside);
	else
		put_call(d, REC_ENTRY, call);
}

void inproc_leave(struct inproc_drain *d, const struct wire_call *call, uint32_t stack)
{
	const struct keep_inside inside =
		d->keep ? keep_leave(d->keep, 0, call) : (struct keep_inside){ .write = true };
	const uint64_t left_out[] = { inside.calls, inside.ns, inside.cost_ns, inside.beside_ns },
		       of[RECORD_VALUES_MIN] = { stack };

	if (!inside.write)
		return;
	if (inside.calls)
		put(d, &call->h, REC_INSIDE, left_out, sizeof(left_out) / sizeof(*left_out));
	if (stack)
		put(d, &call->h, REC_EXIT_STACK, of, 1);
	put_call(d, REC_EXIT, call);
}

static void put_rest(void *ctx, const struct keep_rest *rest)
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
	put(d, &h, REC_BRIEF, values, n);
}

void inproc_end_thread(struct inproc_drain *d, uint32_t tid, uint64_t time_ns)
{
	d->rest_ns = time_ns;
	if (d->keep)
		keep_end_thread(d->keep, tid, put_rest, d);
}

void inproc_end_all(struct inproc_drain *d, uint64_t time_ns)
{
	d->rest_ns = time_ns;
	if (!d->keep)
		return;
	keep_release_all(d->keep);
	keep_each(d->keep, put_rest, d);
}

uint64_t inproc_drain_left_out(const struct inproc_drain *d)
{
	return 2 * keep_calls(d->keep);
}
