// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "import/internal.h"
#include "import/perfdata_sample.h"
#include "trace/format.h"

#define CPUS_MAX     4096u
#define SWITCH_CPU   15 /* PERF_RECORD_SWITCH_CPU_WIDE */
#define LOST_SAMPLES 13

static bool is_exec(const struct perf_event_header *h, const struct perfdata_sample *s)
{
	return h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC && s->time_ns;
}

int import_scan(void *ctx, const struct perf_event_header *h)
{
	struct import *im = ctx;
	struct perfdata_sample s;
	uint32_t pid;

	if (h->type >= PERFDATA_ATTR || !perfdata_sample(&im->perf, h, &s))
		return 0;
	if (h->type == PERF_RECORD_COMM && h->size >= sizeof(*h) + 8) {
		memcpy(&pid, h + 1, sizeof(pid));
		im->wide |= pid == 1 || pid == 2;
	}
	im->switches |= h->type == PERF_RECORD_SWITCH || h->type == SWITCH_CPU;
	if (s.cpu < CPUS_MAX && s.cpu >= im->n_cpus)
		im->n_cpus = s.cpu + 1;
	im->sps |= s.has_sp;
	if (s.time_ns && (!im->first_ns || s.time_ns < im->first_ns))
		im->first_ns = s.time_ns;
	if (is_exec(h, &s) && (!im->exec_ns || s.time_ns < im->exec_ns))
		im->exec_ns = s.time_ns;
	if (h->type == PERF_RECORD_SAMPLE && s.time_ns > im->last_ns)
		im->last_ns = s.time_ns;
	return 0;
}

/* ---- in: records of the file ---- */

static uint64_t u64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t u32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static struct happening *add(struct import *im, uint32_t kind, const struct perfdata_sample *s)
{
	struct happening *h = order_add(&im->order);

	h->kind = kind;
	h->time_ns = s->time_ns;
	h->cpu = s->cpu < im->n_cpus ? s->cpu : im->n_cpus - 1;
	h->pid = s->pid;
	h->tid = s->tid;
	return h;
}

static bool read_field(const struct perfdata_sample *s, const struct format_field *field,
		       uint64_t *value)
{
	return format_read(field, s->raw, s->raw_bytes, value);
}

/*
 * Uses only the state bits that every kernel since 2.6 has. If none is set, the thread was
 * runnable.
 */
static uint64_t switch_state(uint64_t prev_state)
{
	return !(prev_state & 0xff) ? SWITCH_PREEMPTED
	       : prev_state & 1	    ? SWITCH_SLEEPING
	       : prev_state & 2	    ? SWITCH_BLOCKED
				    : SWITCH_OTHER;
}

static void sched_switch(struct import *im, const struct perfdata_sample *s,
			 const struct event_layout *l)
{
	struct happening *h;
	uint64_t state, next;

	if (!read_field(s, &l->prev_state, &state) || !read_field(s, &l->next_pid, &next))
		return;
	h = add(im, HAPPENED_OUT, s);
	h->a = switch_state(state);
	h->b = next;
	if (next) {
		uint32_t i = map_get(&im->by_tid, next);

		h = add(im, HAPPENED_IN, s);
		h->tid = (uint32_t)next;
		h->pid = i == MAP_NONE ? (uint32_t)next : im->threads.data[i].pid;
	}
}

static void read_arguments(struct happening *h, const struct perfdata_sample *s,
			   const struct event_layout *l)
{
	if (!l->n_arguments)
		return;
	h->values = xcalloc(l->n_arguments, sizeof(*h->values));
	for (uint32_t i = 0; i < l->n_arguments; i++)
		if (read_field(s, &l->arguments[i], &h->values[i]))
			h->has |= 1u << i;
}

/*
 * Returns the bytes by which a return probe's stack pointer is above the entry's: on x86 those of
 * the return address.
 */
static uint64_t return_address_bytes(const struct import *im, const struct event_layout *l)
{
	const char *machine = im->perf.machine;

	if (machine && (!strcmp(machine, "aarch64") || !strncmp(machine, "arm", 3)))
		return 0;
	return l->returns_to.bytes;
}

/*
 * Traces store stack pointers in units of 8 bytes, so those of programs with words of 4 bytes are
 * doubled.
 */
static uint64_t stack_pointer(uint64_t sp, const struct format_field *word)
{
	return sp * (word->bytes == 4 ? 2 : 1);
}

static void add_call(struct import *im, const struct perfdata_sample *s, uint32_t event,
		     enum happening_kind kind, uint64_t function, uint64_t sp)
{
	struct happening *h = add(im, kind, s);

	h->a = function;
	h->event = event;
	h->sp = sp;
	read_arguments(h, s, &im->layouts.of.data[event]);
}

/* Where no format says which it is: the address of the sample is in the fields, too. */
static void call(struct import *im, const struct perfdata_sample *s, uint32_t event)
{
	const struct event_layout *l = &im->layouts.of.data[event];
	bool is_exit = im->names.roles.data[event].is_exit;
	uint64_t function, at;

	if (s->event->attr.type != PERF_TYPE_TRACEPOINT)
		return;
	if (read_field(s, &l->address, &at) && (l->is_known || at == s->ip))
		add_call(im, s, event, is_exit ? HAPPENED_EXIT : HAPPENED_ENTRY, at,
			 stack_pointer(s->sp, &l->address));
	else if (read_field(s, &l->function, &function) && read_field(s, &l->returns_to, &at) &&
		 (l->is_known || at == s->ip))
		add_call(im, s, event, HAPPENED_EXIT, function,
			 stack_pointer(s->sp - return_address_bytes(im, l), &l->returns_to));
}

static void sample(struct import *im, const struct perfdata_sample *s)
{
	uint32_t event = (uint32_t)(s->event - im->perf.events.data);
	const struct event_role *r;
	const struct event_layout *l;
	uint64_t woken;

	if (event >= im->layouts.of.n)
		return;
	names_roles(&im->names, &im->perf);
	r = &im->names.roles.data[event];
	l = &im->layouts.of.data[event];
	if (r->is_switch) {
		if (im->wide && !im->switches)
			sched_switch(im, s, l);
		else if (!im->switches)
			im->n_halves++;
	} else if (r->is_waking) {
		if (read_field(s, &l->woken_pid, &woken))
			add(im, HAPPENED_WAKING, s)->a = woken;
	} else {
		call(im, s, event);
	}
}

/* pid, ppid, tid, ptid, time */
static void task(struct import *im, const struct perf_event_header *h,
		 const struct perfdata_sample *s)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	struct happening *at;

	if (h->size < sizeof(*h) + 24)
		return;
	if (h->type == PERF_RECORD_EXIT) {
		at = add(im, HAPPENED_END, s);
		at->pid = u32_at(body);
		at->tid = u32_at(body + 8);
		return;
	}
	at = add(im, HAPPENED_FORK, s);
	at->a = u32_at(body + 8);
	at->b = u32_at(body);
	at->pid = u32_at(body + 4);
	at->tid = u32_at(body + 12);
}

/* pid, tid, name */
static void comm(struct import *im, const struct perf_event_header *h,
		 const struct perfdata_sample *s)
{
	const char *body = (const char *)(h + 1);
	struct happening *at = add(im, HAPPENED_COMM, s);

	at->pid = u32_at((const uint8_t *)body);
	at->tid = u32_at((const uint8_t *)body + 4);
	at->a = is_exec(h, s);
	at->text = xstrndup(body + 8, strnlen(body + 8, h->size - sizeof(*h) - 8));
}

/* pid, tid, start, length, offset in the file; MMAP2: and what it is; path */
static void mapping(struct import *im, const struct perf_event_header *h,
		    const struct perfdata_sample *s)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	size_t path = h->type == PERF_RECORD_MMAP2 ? 64 : 32, n = h->size - sizeof(*h);
	struct happening *at;

	if (n <= path || h->misc & PERF_RECORD_MISC_MMAP_DATA)
		return;
	at = add(im, HAPPENED_MAP, s);
	at->pid = u32_at(body);
	at->tid = u32_at(body + 4);
	at->a = u64_at(body + 8);
	at->b = at->a + u64_at(body + 16);
	at->sp = u64_at(body + 24);
	at->text =
		xstrndup((const char *)body + path, strnlen((const char *)body + path, n - path));
}

static void context_switch(struct import *im, const struct perf_event_header *h,
			   const struct perfdata_sample *s)
{
	bool out = h->misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct happening *at = add(im, out ? HAPPENED_OUT : HAPPENED_IN, s);

	at->a = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED : SWITCH_SLEEPING;
	if (out && h->type == SWITCH_CPU && h->size >= sizeof(*h) + 8)
		at->b = u32_at((const uint8_t *)(h + 1) + 4);
}

int import_read(void *ctx, const struct perf_event_header *h)
{
	struct import *im = ctx;
	struct perfdata_sample s;
	size_t n = h->size - sizeof(*h);

	if (h->type == PERFDATA_ROUND)
		order_round(&im->order, false, import_happened, im);
	if (h->type >= PERFDATA_ATTR || !perfdata_sample(&im->perf, h, &s))
		return im->failed;
	if (h->type == PERF_RECORD_SAMPLE)
		sample(im, &s);
	else if (h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT)
		task(im, h, &s);
	else if (h->type == PERF_RECORD_COMM && n > 8)
		comm(im, h, &s);
	else if (h->type == PERF_RECORD_MMAP || h->type == PERF_RECORD_MMAP2)
		mapping(im, h, &s);
	else if (h->type == PERF_RECORD_SWITCH || h->type == SWITCH_CPU)
		context_switch(im, h, &s);
	else if (h->type == PERF_RECORD_LOST && n >= 16)
		add(im, HAPPENED_LOST, &s)->a = u64_at((const uint8_t *)(h + 1) + 8);
	else if (h->type == LOST_SAMPLES && n >= 8)
		im->counted_lost += u64_at((const uint8_t *)(h + 1));
	return im->failed;
}
