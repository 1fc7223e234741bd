// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/drain.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/drain/keep.h"
#include "probes/inproc/lines.h"
#include "probes/inproc/lock.h"
#include "probes/inproc/names.h"
#include "probes/inproc/records.h"
#include "probes/inproc/ringmemory.h"
#include "probes/inproc/region.h"
#include "probes/inproc/stamped.h"
#include "probes/inproc/whose.h"
#include "probes/process/target.h"
#include "probes/select/arguments.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define SP_TOP		 0x7fff00000000ull /* stack pointer that stands for depth 0 */
#define SP_FRAME	 64
#define RUN_RECORDS_MAX	 (4u << 20) /* about a second's work, in which nothing else is done */
#define SEARCHES_MAX	 64 /* searches: each takes milliseconds, and programs decide how many */
#define MAPS_NS_MAX	 1000000000ull /* for mappings; those of a Java machine take a millisecond */
#define THREAD_READS_MAX (64u << 10)   /* half a second of reading */
#define NAMES_BYTES_MAX	 (512ull << 20)
#define RINGS_MAX	 (64u << 10) /* for a user's threads: ispot keeps 50 MiB of them */
#define UNIT_NS		 256	     /* unit of times in records */

void inproc_drain_init(struct inproc_drain *d, const char *directory, uint64_t ring_bytes,
		       struct trace_writer *w)
{
	*d = (struct inproc_drain){ .directory = directory,
				    .ring_bytes = ring_bytes,
				    .writer = w,
				    .run_records = RUN_RECORDS_MAX,
				    .quota_most = { .left = SEARCHES_MAX,
						    .maps_ns = MAPS_NS_MAX,
						    .threads_left = THREAD_READS_MAX,
						    .regions_left = INPROC_REGIONS_MAX,
						    .rings_left = RINGS_MAX },
				    .names_bytes_max = NAMES_BYTES_MAX };
}

void inproc_drain_count_functions(struct inproc_drain *d, uint32_t n_functions)
{
	d->calls_of = xcalloc(n_functions + 1, sizeof(*d->calls_of));
	d->last_of_ns = xcalloc(n_functions + 1, sizeof(*d->last_of_ns));
	d->arguments = xcalloc(n_functions + 1, sizeof(*d->arguments));
	d->n_calls_of = n_functions;
}

void inproc_drain_release(struct inproc_drain *d)
{
	free(d->calls_of);
	free(d->last_of_ns);
	free(d->arguments);
	vec_for_each (&d->regions, struct inproc_region, g)
		inproc_region_release(g);
	vec_release(&d->regions);
	vec_release(&d->quotas);
	vec_release(&d->heap);
	vec_release(&d->slice);
	vec_release(&d->values);
	vec_for_each (&d->left, struct inproc_left, l)
		free(l->first);
	vec_release(&d->left);
	strtab_release(&d->functions);
	strtab_release(&d->frames);
	strtab_release(&d->left_reasons);
	keep_free(d->keep);
}

struct inproc_quota *inproc_quota_of(struct inproc_drain *d, uid_t owner)
{
	struct inproc_quota *l;

	vec_for_each (&d->quotas, struct inproc_quota, known)
		if (known->owner == owner)
			return known;
	l = vec_add(&d->quotas);
	*l = d->quota_most;
	l->owner = owner;
	return l;
}

/* ---- one record ---- */

/* A loss is only of the thread whose ring it was: the records of other threads are complete. */
static void write_record_of(struct inproc_drain *d, uint32_t tgid, uint32_t tid, uint32_t kind,
			    uint64_t time_ns, uint64_t a, uint64_t b)
{
	const uint64_t values[RECORD_VALUES_MIN] = { a, b, kind == REC_LOST };
	const struct wire_head h = { .time_ns = time_ns, .tid = tid, .tgid = tgid };

	inproc_write_record(d, &h, kind, values, record_shape_values(record_shape(kind)));
}

static void write_record(struct inproc_drain *d, const struct inproc_region *g, uint32_t tid,
			 uint32_t kind, uint64_t time_ns, uint64_t a, uint64_t b)
{
	write_record_of(d, (uint32_t)g->pid, tid, kind, time_ns, a, b);
}

static uint32_t tgid_of(const struct inproc_region *g, const struct inproc_seen *seen)
{
	return seen->tgid ? seen->tgid : (uint32_t)g->pid;
}

/* Counters are 44 bits wide in a ring. */
static void update_count(struct inproc_drain *d, struct inproc_seen *seen,
			 const struct inproc_record *r)
{
	const uint64_t mask = (1ull << (48 - INPROC_COUNT_BITS)) - 1;
	uint32_t i = r->depth & ((1u << INPROC_COUNT_BITS) - 1);
	uint64_t value = (uint64_t)(r->depth >> INPROC_COUNT_BITS) << 32 | r->value;

	if (i >= d->n_counts)
		return;
	seen->counts[i] += (value - seen->counts[i]) & mask;
	seen->counted |= 1u << i;
}

static void write_counts(struct inproc_drain *d, const struct inproc_region *g,
			 struct inproc_seen *seen, uint64_t time_ns)
{
	uint64_t values[INPROC_COUNTS_MAX + 1 + RECORD_VALUES_MIN] = { seen->counted };
	const struct wire_head h = { .time_ns = time_ns,
				     .tid = seen->tid,
				     .tgid = (uint32_t)g->pid };
	uint32_t n = 1;

	for (uint32_t i = 0; i < d->n_counts; i++)
		if (seen->counted & 1u << i)
			values[n++] = seen->counts[i];
	seen->counted = 0;
	inproc_write_record(d, &h, REC_COUNTERS, values, n);
}

/* Writes a call to the file, or with --keep-slower keeps it until it is known to be long. */
static void add_call(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		     const struct inproc_record *r)
{
	uint32_t id = r->value < g->ids.n ? g->ids.data[r->value] : MAP_NONE;
	struct wire_call call = {
		.h = { .head = id,
		       .time_ns = r->time_ns,
		       .tid = seen->tid,
		       .tgid = (uint32_t)g->pid },
		.sp = SP_TOP - (uint64_t)r->depth * SP_FRAME,
		.caller = INPROC_UNKNOWN_CALLER,
	};

	g->records++;
	seen->depth = r->depth + (r->kind == INPROC_ENTRY);
	if (id >= WIRE_SELFCOST_FIRST) {
		d->lost_records++;
		write_record(d, g, seen->tid, REC_LOST, r->time_ns, 1, r->time_ns);
		return;
	}
	d->calls += r->kind == INPROC_ENTRY;
	/* an exit above its frame: readers drop this call and those inside it */
	if (r->kind == INPROC_GONE)
		call.sp += SP_FRAME / 2;
	if (r->kind == INPROC_ENTRY)
		inproc_enter(d, &call, NULL);
	else
		inproc_leave(d, &call, seen->stack, NULL);
	seen->stack = 0;
	if (seen->counted)
		write_counts(d, g, seen, r->time_ns);
}

static uint32_t stack_of(const struct inproc_region *g, uint32_t id)
{
	return id && id <= g->stacks.n ? g->stacks.data[id - 1] : 0;
}

/* A wait for a lock is a call of its own inside of the open calls. */
static void add_wait(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		     const struct inproc_record *r)
{
	struct keep_entry e = {
		.call = { .h = { .head = inproc_lock_function(d, g),
				 .time_ns = r->time_ns,
				 .tid = seen->tid,
				 .tgid = (uint32_t)g->pid },
			  .sp = SP_TOP - (uint64_t)seen->depth * SP_FRAME,
			  .caller = INPROC_UNKNOWN_CALLER },
	};

	if (r->kind == INPROC_TOOK) {
		inproc_leave(d, &e.call, 0, NULL);
		return;
	}
	e.args.h.tid = seen->tid;
	e.args.values[0] = inproc_lock_value(d, g, r->depth);
	e.stack = stack_of(g, r->value);
	inproc_enter(d, &e.call, &e);
}

static void write_hold(struct inproc_drain *d, const struct inproc_region *g,
		       const struct inproc_seen *seen, const struct inproc_record *r)
{
	uint64_t ns = (uint64_t)r->value * UNIT_NS;

	if (ns >= d->slower_ns)
		write_record(d, g, seen->tid, REC_HELD, r->time_ns,
			     inproc_lock_value(d, g, r->depth), ns);
}

void inproc_write_lost(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		       uint64_t n, uint64_t time_ns)
{
	d->lost_records += n;
	g->records += n;
	seen->lost += n;
	if (d->keep)
		keep_release_all(d->keep);
	write_record_of(d, tgid_of(g, seen), seen->tid, REC_LOST, time_ns, n, seen->last_ns);
}

static void write_pause(struct inproc_drain *d, struct inproc_region *g, uint32_t tid,
			uint64_t time_ns)
{
	uint64_t ns = g->paused_ns && time_ns > g->paused_ns ? time_ns - g->paused_ns : 0;

	g->paused_ns = 0;
	if (!ns)
		return;
	d->pauses++;
	d->pause_ns += ns;
	g->collections[g->n_collections++ % INPROC_COLLECTIONS] =
		(struct inproc_pause){ time_ns - ns, time_ns };
	write_record(d, g, tid, REC_PAUSE, time_ns, ns, PAUSE_COLLECTION);
}

/* Returns whether there was a collection at that time, or one goes on. */
static bool is_collection(const struct inproc_region *g, uint64_t start_ns, uint64_t end_ns)
{
	if (g->paused_ns && g->paused_ns < end_ns)
		return true;
	for (uint32_t i = 0; i < INPROC_COLLECTIONS && i < g->n_collections; i++)
		if (g->collections[i].start_ns < end_ns && g->collections[i].end_ns > start_ns)
			return true;
	return false;
}

void inproc_drain_safepoint(struct inproc_drain *d, pid_t pid, uint64_t end_ns, uint64_t ns)
{
	vec_for_each (&d->regions, struct inproc_region, g) {
		if (g->pid != pid || !ns || is_collection(g, end_ns - ns, end_ns))
			continue;
		d->pauses++;
		d->pause_ns += ns;
		write_record(d, g, (uint32_t)pid, REC_PAUSE, end_ns, ns, PAUSE_SAFEPOINT);
	}
}

static void add_record(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		       const struct inproc_record *r)
{
	if (!seen->last_ns)
		seen->last_ns = r->time_ns;
	switch (r->kind) {
	case INPROC_ENTRY:
	case INPROC_EXIT:
	case INPROC_GONE:
		add_call(d, g, seen, r);
		break;
	case INPROC_WAITED:
		d->waited++;
		write_record(d, g, seen->tid, REC_CONTENDED, r->time_ns,
			     (uint64_t)r->value * UNIT_NS, 0);
		break;
	case INPROC_STACK:
		seen->stack = stack_of(g, r->value);
		break;
	case INPROC_AWAITS:
	case INPROC_TOOK:
		add_wait(d, g, seen, r);
		break;
	case INPROC_HELD:
		write_hold(d, g, seen, r);
		break;
	case INPROC_COUNT:
		update_count(d, seen, r);
		break;
	case INPROC_PAUSE:
		g->paused_ns = r->time_ns;
		break;
	case INPROC_RESUMED:
		write_pause(d, g, seen->tid, r->time_ns);
		break;
	case INPROC_LOST:
		inproc_write_lost(d, g, seen, r->value, r->time_ns);
		break;
	}
	seen->last_ns = r->time_ns;
}

/* The program may have written anything: values that were not asked for are no values. */
static const struct inproc_values *values_of(struct inproc_drain *d,
					     const struct inproc_stamped_record *t, uint32_t id)
{
	const struct arguments *a = inproc_arguments_of(d, id);
	const uint32_t wanted = !a ? 0
				: t->what & 1
					? (a->returns ? 1u << INPROC_RETURNED : 0)
					: a->registers | (a->caller ? 1u << INPROC_CALLER : 0);

	if (!t->values || !wanted || d->values.data[t->values - 1].mask != wanted) {
		d->without_values += wanted && (t->what & 1 || !a->occasional);
		return NULL;
	}
	return &d->values.data[t->values - 1];
}

static void enter_with(struct inproc_drain *d, const struct wire_call *call,
		       const struct inproc_values *values)
{
	struct keep_entry e = { .call = *call, .args = { .h = call->h } };

	if (values->mask & 1u << INPROC_CALLER)
		e.call.caller = values->all[INPROC_CALLER] & WIRE_SIGNED_ADDRESS;
	if (e.call.caller < INPROC_UNKNOWN_CALLER)
		e.call.caller = INPROC_UNKNOWN_CALLER;
	for (uint32_t i = 0; i < INPROC_RETURNED; i++)
		e.args.values[i] = values->all[i];
	inproc_enter(d, &e.call, &e);
}

/* An exit has the stack pointer of the entry. */
static void add_stamped(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
			const struct inproc_stamped_record *t)
{
	struct wire_call call = {
		.h = { .head = (t->what & ~INPROC_INNER) >> 1,
		       .time_ns = t->time_ns,
		       .tid = seen->tid,
		       .tgid = seen->tgid },
		.sp = t->sp,
		.caller = INPROC_UNKNOWN_CALLER,
	};
	const struct inproc_values *values = values_of(d, t, call.h.head);

	if (!seen->last_ns)
		seen->last_ns = t->time_ns;
	if (call.h.head >= g->n_functions) {
		inproc_write_lost(d, g, seen, 1, t->time_ns);
		seen->lost--; /* the thread has not counted this loss */
		return;
	}
	g->records++;
	g->valued += values ? (uint64_t)__builtin_popcount(values->mask) : 0;
	d->calls += !(t->what & 1);
	if (call.h.head < d->n_calls_of) {
		d->calls_of[call.h.head] += !(t->what & 1);
		d->last_of_ns[call.h.head] = t->time_ns;
	}
	if (!(t->what & 1) && t->what & INPROC_INNER)
		write_record_of(d, seen->tgid, seen->tid, REC_INNER, t->time_ns, 0, 0);
	if (t->what & 1)
		inproc_leave(d, &call, 0, values ? &values->all[INPROC_RETURNED] : NULL);
	else if (values)
		enter_with(d, &call, values);
	else
		inproc_enter(d, &call, NULL);
	seen->last_ns = t->time_ns;
}

/* ---- threads ---- */

/* Sets the thread whose records come next, and writes its name. */
static void begin_thread(struct inproc_drain *d, const struct inproc_region *g,
			 struct inproc_slot *s, struct inproc_seen *seen, uint64_t time_ns)
{
	char comm[sizeof(s->comm) + 1] = "";
	struct record r = { .kind = REC_COMM, .cpu = d->cpu, .time_ns = time_ns, .bytes = comm };

	memcpy(comm, s->comm, sizeof(s->comm));
	seen->tid = s->tid;
	seen->tgid = g->is_stamped ? s->pid : (uint32_t)g->pid;
	if (g->is_stamped && target_comm((pid_t)seen->tgid, (pid_t)seen->tid, comm, sizeof(comm)))
		*comm = '\0';
	/* in a container threads have other numbers than in the kernel's records */
	if (d->kernel_has_ends && g->pid != g->named)
		seen->tid = (uint32_t)inproc_thread_of(g->pid, (pid_t)s->tid,
						       &inproc_quota_of(d, g->owner)->threads_left);
	r.tid = seen->tid;
	r.tgid = seen->tgid;
	r.n_bytes = (uint32_t)strlen(comm);
	inproc_note_error(d, trace_writer_record(d->writer, &r));
}

/* Writes the thread's losses that are not in the file yet. */
static void write_all_lost(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			   uint64_t time_ns)
{
	struct inproc_seen *seen = &g->seen[slot];
	uint64_t lost = atomic_load_explicit(&g->slots[slot].lost, memory_order_relaxed);

	seen->n_gaps = 0;
	seen->n_missing = 0;
	if (lost > seen->lost)
		inproc_write_lost(d, g, seen, lost - seen->lost, time_ns);
}

/* Called once all records of the thread are read. */
static void end_thread(struct inproc_drain *d, struct inproc_region *g, uint32_t i)
{
	struct inproc_seen *seen = &g->seen[i];
	/* the thread may have lived on without calls */
	uint64_t end_ns = seen->alive_ns > seen->last_ns ? seen->alive_ns : seen->last_ns;

	write_all_lost(d, g, i, clock_now_ns());
	inproc_stamped_write_calls(d, g, i, seen->last_ns ? seen->last_ns : d->last.ns);
	if (seen->tid)
		inproc_end_thread(d, seen->tid, end_ns);
	if (seen->tid && !d->kernel_has_ends)
		write_record_of(d, tgid_of(g, seen), seen->tid, REC_TASK_EXIT, end_ns, 0, 0);
	seen->tid = seen->depth = seen->counted = 0;
	memset(seen->counts, 0, sizeof(seen->counts));
	seen->is_gone = seen->is_read = false;
	seen->last_ns = g->is_stamped ? 0 : seen->last_ns;
	seen->alive_ns = 0;
	if (g->is_stamped)
		ringmemory_end_thread(d, g, i);
	atomic_store_explicit(&g->slots[i].state, INPROC_FREE, memory_order_release);
}

/* ---- merging ---- */

static const struct inproc_record *record_at(const struct inproc_region *g, uint32_t slot,
					     uint64_t i)
{
	uint64_t n = g->header.ring_bytes / sizeof(struct inproc_record);

	return (const struct inproc_record *)(g->rings + slot * g->header.ring_bytes) + i % n;
}

static void sift_down(struct inproc_drain *d, size_t i)
{
	struct inproc_cursor *h = d->heap.data;

	for (size_t child; (child = 2 * i + 1) < d->heap.n; i = child) {
		struct inproc_cursor c = h[i];

		child += child + 1 < d->heap.n && h[child + 1].time_ns < h[child].time_ns;
		if (h[child].time_ns >= c.time_ns)
			return;
		h[i] = h[child];
		h[child] = c;
	}
}

/* Adds the records that a ring has now. */
static void add_cursor(struct inproc_drain *d, uint32_t region, uint32_t slot)
{
	struct inproc_region *g = &d->regions.data[region];
	struct inproc_slot *s = &g->slots[slot];
	uint64_t n = g->header.ring_bytes / sizeof(struct inproc_record);
	uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	if (head - tail > n || head == tail)
		return;
	d->busy |= head - tail > n / 4;
	*vec_add(&d->heap) = (struct inproc_cursor){ .region = region,
						     .slot = slot,
						     .at = tail,
						     .end = head,
						     .time_ns = record_at(g, slot, tail)->time_ns };
}

static void step_stamped(struct inproc_drain *d, struct inproc_region *g, struct inproc_cursor *c)
{
	struct inproc_seen *seen = &g->seen[c->slot];

	if (!seen->tid)
		begin_thread(d, g, &g->slots[c->slot], seen, c->time_ns);
	add_stamped(d, g, seen, &d->slice.data[c->at]);
	if (++c->at < c->end)
		c->time_ns = d->slice.data[c->at].time_ns;
}

static void step(struct inproc_drain *d, struct inproc_cursor *c)
{
	struct inproc_region *g = &d->regions.data[c->region];
	struct inproc_record r = *record_at(g, c->slot, c->at);
	struct inproc_seen *seen = &g->seen[c->slot];

	if (!seen->tid)
		begin_thread(d, g, &g->slots[c->slot], seen, r.time_ns);
	add_record(d, g, seen, &r);
	if (++c->at < c->end)
		c->time_ns = record_at(g, c->slot, c->at)->time_ns;
	else
		atomic_store_explicit(&g->slots[c->slot].tail, c->end, memory_order_release);
}

/* Leaves the rest to the next run, as programs decide how many rings they fill. All records that
 * are left are later than those that were read. */
static void postpone_rest(struct inproc_drain *d)
{
	d->behind |= d->heap.n > 0;
	d->busy |= d->behind;
	vec_for_each (&d->heap, const struct inproc_cursor, c)
		atomic_store_explicit(&d->regions.data[c->region].slots[c->slot].tail, c->at,
				      memory_order_release);
	d->heap.n = 0;
}

static void merge(struct inproc_drain *d)
{
	for (size_t i = d->heap.n / 2; i--;)
		sift_down(d, i);
	for (uint64_t left = d->run_records; d->heap.n && left; left--) {
		struct inproc_cursor *top = d->heap.data;

		if (d->regions.data[top->region].is_stamped)
			step_stamped(d, &d->regions.data[top->region], top);
		else
			step(d, top);
		if (top->at == top->end)
			*top = d->heap.data[--d->heap.n];
		sift_down(d, 0);
	}
	postpone_rest(d);
}

/* Returns whether no thread has used this ring. Then none has used those after it, either, as
 * threads claim rings from the first one on. */
static bool is_unused(const struct inproc_slot *s)
{
	return atomic_load_explicit(&s->state, memory_order_acquire) == INPROC_FREE && !s->tid;
}

/* Programs decide how many rings they have, and users how many programs, so their rings are
 * limited. */
static bool begin_ring(struct inproc_drain *d, struct inproc_region *g)
{
	struct inproc_quota *l = inproc_quota_of(d, g->owner);
	uint32_t room = g->n_rings;

	if (!l->rings_left)
		return false;
	l->rings_left--;
	if (!(room & (room - 1))) { /* the array is full: its room is a power of two */
		room = room ? 2 * room : 1;
		g->seen = xrealloc(g->seen, room * sizeof(*g->seen));
		memset(g->seen + g->n_rings, 0, (room - g->n_rings) * sizeof(*g->seen));
	}
	g->n_rings++;
	return true;
}

/* Returns whether a thread has used this ring, and it is read. Asked for rings from the first one
 * on. */
static bool is_read(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	return slot < INPROC_SLOTS && !is_unused(&g->slots[slot]) &&
	       (slot < g->n_rings || begin_ring(d, g));
}

/* Frees the slots of threads that had ended before their rings were read, if these are empty. */
static void free_slots(struct inproc_drain *d, struct inproc_region *g)
{
	for (uint32_t i = 0; i < g->n_rings && !is_unused(&g->slots[i]); i++) {
		struct inproc_slot *s = &g->slots[i];

		if (g->is_stamped ? inproc_stamped_is_over(g, i)
				  : atomic_load_explicit(&s->state, memory_order_acquire) ==
						    INPROC_ENDED &&
					    s->head == s->tail)
			end_thread(d, g, i);
	}
}

static void add_cursors(struct inproc_drain *d, uint32_t region)
{
	const struct inproc_slot *slots = d->regions.data[region].slots;
	bool is_stamped = d->regions.data[region].is_stamped;

	for (uint32_t i = 0; is_read(d, &d->regions.data[region], i); i++) {
		uint32_t state = slots[i].state;

		if (is_stamped && state != INPROC_FREE && state != INPROC_TAKEN)
			inproc_stamped_read(d, region, i);
		else if (state == INPROC_LIVE || state == INPROC_ENDED)
			add_cursor(d, region, i);
	}
}

/* Stops reading regions that their process has cut. The records that were read before are valid,
 * but the zeros that follow would look like records. */
static void give_up_torn(struct inproc_drain *d)
{
	vec_for_each (&d->regions, struct inproc_region, g) {
		if (!g->shared || !g->memory->torn)
			continue;
		d->torn_regions++;
		d->lost_records++;
		if (g->is_stamped)
			ringmemory_forget(d, g);
		write_record(d, g, 0, REC_LOST, clock_now_ns(), 0, 0);
		g->shared = NULL;
	}
}

static void read_rings(struct inproc_drain *d)
{
	for (uint32_t k = 0; k < d->regions.n; k++) {
		if (!d->regions.data[k].shared)
			continue;
		add_cursors(d, k);
		/* after the heads: the names to which the records refer are then complete */
		if (!d->regions.data[k].is_stamped)
			inproc_read_names(d, &d->regions.data[k]);
	}
	merge(d);
}

int inproc_drain_run(struct inproc_drain *d)
{
	uint64_t since_ns = clock_now_ns();

	d->busy = d->behind = false;
	inproc_stamped_begin(d);
	inproc_find_regions(d);
	do
		read_rings(d);
	while (inproc_stamped_goes_on(d));
	/* all calls that had ended before this run are read */
	if (d->keep)
		keep_pass(d->keep, 0, since_ns);
	inproc_stamped_check_threads(d);
	vec_for_each (&d->regions, struct inproc_region, g)
		if (g->shared)
			free_slots(d, g);
	give_up_torn(d);
	return d->error;
}

void inproc_drain_stop(struct inproc_drain *d)
{
	vec_for_each (&d->regions, struct inproc_region, g)
		if (g->shared)
			atomic_store(&g->shared->recording, 0);
}

/* Returns the number of records in rings that are not read, as their threads have counted them. */
static uint64_t count_unread(struct inproc_drain *d, const struct inproc_region *g)
{
	uint64_t n = 0;

	for (uint32_t i = g->n_rings; i < INPROC_SLOTS && !is_unused(&g->slots[i]); i++) {
		const struct inproc_slot *s = &g->slots[i];

		d->unread_rings++;
		n += atomic_load_explicit(&s->head, memory_order_relaxed) +
		     atomic_load_explicit(&s->lost, memory_order_relaxed);
	}
	return n;
}

static void finish_region(struct inproc_drain *d, struct inproc_region *g, uint64_t now_ns)
{
	uint64_t without_ring;

	for (uint32_t i = 0; i < g->n_rings; i++) {
		write_all_lost(d, g, i, now_ns);
		inproc_stamped_write_left(d, g, i);
		inproc_stamped_write_calls(d, g, i, now_ns);
	}
	without_ring = g->shared->without_ring + count_unread(d, g);
	if (!without_ring)
		return;
	d->lost_records += without_ring;
	write_record(d, g, 0, REC_LOST, now_ns, without_ring, 0);
}

/* The ring had room for the call, but not for the values as well. */
static void report_without_values(const struct inproc_drain *d)
{
	char times[TEXT_COUNTED], words[TEXT_COUNTED + 128];

	if (!d->without_values)
		return;
	snprintf(words, sizeof(words),
		 "the ring had no room for arguments or returned values %s; give larger rings (-m)",
		 text_counted(times, d->without_values, "time"));
	log_notice("%s", words);
	inproc_write_notice(d->writer, "in-process-values", words);
}

void inproc_drain_finish(struct inproc_drain *d, uint64_t now_ns)
{
	vec_for_each (&d->regions, struct inproc_region, g)
		if (g->shared)
			finish_region(d, g, now_ns);
	report_without_values(d);
	inproc_end_all(d, now_ns);
}

uint64_t inproc_drain_lost(const struct inproc_drain *d)
{
	uint64_t n = d->lost_records;

	vec_for_each (&d->regions, const struct inproc_region, g)
		for (uint32_t i = 0; g->shared && i < g->n_rings && g->slots[i].tid; i++)
			n += g->seen[i].n_missing;
	return n;
}

bool inproc_drain_lost_most(const struct inproc_drain *d)
{
	vec_for_each (&d->regions, const struct inproc_region, g)
		if (g->is_stamped)
			return d->lost_records > d->records + inproc_drain_left_out(d);
	return false;
}

static double pages_ns(const struct inproc_region *g)
{
	return (double)(g->first_records * sizeof(struct inproc_stamp) / INPROC_PAGE) * g->page_ns;
}

double inproc_drain_pages_ns(const struct inproc_drain *d)
{
	double sum = 0;

	vec_for_each (&d->regions, const struct inproc_region, g)
		sum += pages_ns(g);
	return sum;
}

uint64_t inproc_drain_cost_ns(const struct inproc_drain *d)
{
	uint64_t sum = 0;

	vec_for_each (&d->regions, const struct inproc_region, g) {
		uint32_t pair_ns = g->is_stamped ? g->pair_ns : g->shared ? g->shared->pair_ns : 0;

		if (g->records && !pair_ns)
			return UINT64_MAX;
		sum += g->records / 2 * pair_ns +
		       (uint64_t)((double)g->passed * g->passed_ns +
				  (double)g->valued * g->values_ns + pages_ns(g)) +
		       (g->shared && !g->is_stamped ? g->shared->more_ns : 0);
	}
	return d->regions.n ? sum : UINT64_MAX;
}

uint64_t inproc_drain_unnamed(const struct inproc_drain *d)
{
	uint64_t n = 0;

	vec_for_each (&d->regions, const struct inproc_region, g)
		n += g->shared ? g->shared->unnamed : 0;
	return n;
}
