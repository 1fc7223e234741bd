// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/internal.h"
#include "trace/format.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define SP_MADE	 0x7fff00000000ull /* base of made-up stack pointers, if none were recorded */
#define SP_FRAME 64

static void note_error(struct import *im, int ret)
{
	im->failed = im->failed ? im->failed : ret;
}

static void write_record(struct import *im, const struct happening *h, uint32_t kind, uint32_t n,
			 const uint64_t *values)
{
	struct record r = { .time_ns = h->time_ns,
			    .kind = kind,
			    .cpu = h->cpu,
			    .tid = h->tid,
			    .tgid = h->pid,
			    .n_values = n,
			    .values = values };

	note_error(im, trace_writer_record(im->writer, &r));
}

static void write_text(struct import *im, const struct happening *h, uint32_t kind,
		       const char *text)
{
	struct record r = { .time_ns = h->time_ns,
			    .kind = kind,
			    .cpu = h->cpu,
			    .tid = h->tid,
			    .tgid = h->pid,
			    .bytes = text,
			    .n_bytes = (uint32_t)strlen(text) };

	note_error(im, trace_writer_record(im->writer, &r));
}

static struct import_thread *thread_of(struct import *im, uint32_t tid, uint32_t pid)
{
	uint32_t i = map_add(&im->by_tid, tid, (uint32_t)im->threads.n);

	if (i == im->threads.n)
		*vec_add(&im->threads) = (struct import_thread){ .tid = tid, .pid = pid };
	return &im->threads.data[i];
}

static struct import_thread *caller(struct import *im, const struct happening *h)
{
	struct import_thread *t = thread_of(im, h->tid, h->pid);

	if (!t->seen && im->wide && t->comm)
		write_text(im, h, REC_COMM, t->comm);
	t->seen = true;
	if (!im->first_pid)
		im->first_pid = h->pid;
	if (t->is_off) {
		write_record(im, h, REC_SWITCH_IN, 0, NULL);
		t->is_off = false;
	}
	return t;
}

/* Writes the values that the probe fetched, behind an entry or in front of an exit. */
static void write_arguments(struct import *im, const struct happening *h, uint32_t id,
			    bool is_returned)
{
	const struct event_layout *l = &im->layouts.of.data[h->event];
	uint64_t by_bit[ARG_BITS], values[1 + ARG_BITS] = { 0 };
	uint32_t n = 1;

	for (uint32_t i = 0; i < l->n_arguments; i++) {
		uint32_t bit = MAP_NONE;

		if (h->has >> i & 1)
			bit = names_argument(&im->names, id, &l->arguments[i], is_returned);
		if (bit == MAP_NONE)
			continue;
		by_bit[bit] = h->values[i];
		values[0] |= 1u << bit;
	}
	for (uint32_t bit = 0; bit < ARG_BITS; bit++)
		if (values[0] >> bit & 1)
			values[n++] = by_bit[bit];
	if (n > 1)
		write_record(im, h, REC_ARGS, n, values);
}

static void entry(struct import *im, const struct happening *h)
{
	struct import_thread *t = caller(im, h);
	uint32_t id = names_function(&im->names, h->pid, h->a, h->event);
	uint64_t sp = im->sps ? h->sp : SP_MADE - SP_FRAME * t->open.n;

	if (!im->sps)
		*vec_add(&t->open) = (struct open_call){ .function = id, .sp = sp };
	im->result.entries++;
	note_error(im, trace_writer_call(im->writer, h->cpu, REC_ENTRY, h->time_ns, h->tid, h->pid,
					 id, sp));
	write_arguments(im, h, id, false);
}

/* Ends the function's innermost call. Calls inside of it have ended by unwinding or longjmp(). */
static uint64_t close_call(struct import_thread *t, uint32_t id)
{
	for (size_t i = t->open.n; i-- > 0;)
		if (t->open.data[i].function == id) {
			t->open.n = i;
			return t->open.data[i].sp;
		}
	return SP_MADE + SP_FRAME;
}

static void end_of_call(struct import *im, const struct happening *h)
{
	struct import_thread *t = caller(im, h);
	uint32_t id = names_function(&im->names, h->pid, h->a, h->event);
	uint64_t sp = im->sps ? h->sp : close_call(t, id);

	im->names.functions.data[id].exits = true;
	im->result.exits++;
	write_arguments(im, h, id, true);
	note_error(im, trace_writer_call(im->writer, h->cpu, REC_EXIT, h->time_ns, h->tid, h->pid,
					 id, sp));
}

/* After a loss: any open call of any thread may have ended unnoticed. */
static void lost(struct import *im, const struct happening *h)
{
	uint64_t values[2] = { h->a, im->last_of_cpu[h->cpu] };

	vec_for_each (&im->threads, struct import_thread, t)
		t->open.n = 0;
	im->result.lost += h->a;
	if (values[1] < im->first_ns)
		values[1] = im->first_ns;
	write_record(im, h, REC_LOST, 2, values);
}

static void named(struct import *im, const struct happening *h)
{
	struct import_thread *t = thread_of(im, h->tid, h->pid);

	free(t->comm);
	t->comm = xstrdup(h->text);
	t->pid = h->pid;
	t->was_there |= h->time_ns < im->first_ns;
	if (h->a) {
		names_exec(&im->names, h->pid);
		t->open.n = 0;
	}
	if (h->time_ns < im->first_ns || !import_is_target(im, t))
		return;
	if (h->a)
		write_text(im, h, REC_EXEC, h->text);
	write_text(im, h, REC_COMM, h->text);
}

static void forked(struct import *im, const struct happening *h)
{
	uint64_t values[2] = { h->a, h->b };
	struct import_thread *child, *parent;

	thread_of(im, (uint32_t)h->a, (uint32_t)h->b); /* may be new and move the others */
	parent = thread_of(im, h->tid, h->pid);
	child = thread_of(im, (uint32_t)h->a, (uint32_t)h->b);
	child->pid = (uint32_t)h->b;
	child->open.n = 0;
	child->was_there = h->time_ns < im->first_ns;
	child->is_off = false;
	if (!child->comm && parent->comm)
		child->comm = xstrdup(parent->comm);
	if (h->b != h->pid)
		names_fork(&im->names, h->pid, (uint32_t)h->b);
	if (h->time_ns >= im->first_ns && import_is_target(im, parent)) {
		child->seen |= parent->seen;
		write_record(im, h, REC_FORK, 2, values);
	}
}

static void switched(struct import *im, const struct happening *h)
{
	struct import_thread *t = thread_of(im, h->tid, h->pid);
	uint64_t values[3] = { h->a, h->b, 0 };
	bool out = h->kind == HAPPENED_OUT;

	if (!h->tid || h->time_ns < im->first_ns || !import_is_target(im, t) || t->is_off == out)
		return;
	t->is_off = out;
	im->n_switches++;
	if (out)
		write_record(im, h, REC_SWITCH_OUT, 3, values);
	else
		write_record(im, h, REC_SWITCH_IN, 0, NULL);
}

static void woken(struct import *im, const struct happening *h)
{
	uint64_t values[2] = { h->a, 0 };
	uint32_t i = map_get(&im->by_tid, h->a);

	if (i != MAP_NONE && import_is_target(im, &im->threads.data[i]))
		write_record(im, h, REC_WAKING, 2, values);
}

static void ended(struct import *im, const struct happening *h)
{
	struct import_thread *t = thread_of(im, h->tid, h->pid);

	if (import_is_target(im, t))
		write_record(im, h, REC_TASK_EXIT, 0, NULL);
	t->open.n = 0;
	t->seen = t->seen && !im->wide;
}

void import_happened(void *ctx, const struct happening *h)
{
	static void (*const of[])(struct import *, const struct happening *) = {
		[HAPPENED_ENTRY] = entry, [HAPPENED_EXIT] = end_of_call, [HAPPENED_OUT] = switched,
		[HAPPENED_IN] = switched, [HAPPENED_FORK] = forked,	 [HAPPENED_END] = ended,
		[HAPPENED_COMM] = named,  [HAPPENED_LOST] = lost,	 [HAPPENED_WAKING] = woken,
	};
	struct import *im = ctx;

	if (h->kind == HAPPENED_MAP)
		names_map(&im->names, h);
	else
		of[h->kind](im, h);
	if (h->time_ns > im->last_of_cpu[h->cpu])
		im->last_of_cpu[h->cpu] = h->time_ns;
	if (h->time_ns > im->last_ns && h->kind != HAPPENED_MAP)
		im->last_ns = h->time_ns;
}
