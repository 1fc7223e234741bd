// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/stamped.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probes/inproc/drain.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define TAKEN_MOST   (4u << 20)	    /* records of a run: about a second's work */
#define LOOK_NS	     100000000ull   /* between two looks which threads live */
#define MISSING_NS   1000000000ull  /* a record that is reserved may take as long to come */
#define AHEAD_CYCLES (1ull << 36)   /* more than that the clock was never ahead: no stamp */
#define BEHIND_NS    10000000000ull /* nor a record that late */

_Static_assert(sizeof(struct inproc_stamp) == sizeof(struct inproc_record), "rings are the same");

/* As is_sound() wants it; of what is in memory nothing is read again but the slots and rings. */
static void fill_header(struct inproc_region *g, uint64_t ring_bytes)
{
	char *p = g->memory->start;

	g->header = (struct inproc_header){ .magic = INPROC_MAGIC,
					    .version = INPROC_VERSION,
					    .pid = (uint32_t)g->pid,
					    .slots = INPROC_SLOTS,
					    .ring_bytes = ring_bytes,
					    .producer = "in-process",
					    .recording = 1,
					    .clock = INPROC_CYCLES };
	g->header.names_at = INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot);
	g->header.names_bytes = INPROC_NAMES;
	g->header.rings_at = g->header.names_at + INPROC_NAMES;
	memcpy(p, &g->header, sizeof(g->header));
	g->shared = (struct inproc_header *)p;
	g->slots = (struct inproc_slot *)(p + INPROC_PAGE);
	g->names = p + g->header.names_at;
	g->rings = p + g->header.rings_at;
}

int inproc_drain_add_stamped(struct inproc_drain *d, int fd, pid_t pid, uint64_t ring_bytes,
			     uint32_t n_functions, bool is_sampled)
{
	struct inproc_region *g = vec_add(&d->regions);
	struct stat st;

	g->pid = g->named = pid;
	g->is_checked = g->is_stamped = true;
	g->lock_function = MAP_NONE;
	g->n_functions = n_functions;
	if (fstat(fd, &st))
		return -errno;
	g->memory = xcalloc(1, sizeof(*g->memory));
	g->seen = xcalloc(INPROC_SLOTS, sizeof(*g->seen));
	if (guarded_map(g->memory, fd, (size_t)st.st_size))
		return -ENOMEM;
	fill_header(g, ring_bytes);
	if (is_sampled)
		g->rows = (char *)g->memory->start + g->header.rings_at + INPROC_SLOTS * ring_bytes;
	d->first = d->last = clock_pair_now();
	return 0;
}

static bool has_stamped(const struct inproc_drain *d)
{
	vec_for_each (&d->regions, const struct inproc_region, g)
		if (g->is_stamped)
			return true;
	return false;
}

/* Only what is older than the new pair is read: between two pairs the line through them is exact.
 */
void inproc_stamped_begin(struct inproc_drain *d)
{
	double rate;

	if (!has_stamped(d))
		return;
	d->taken.n = 0;
	d->before = d->last;
	d->last = clock_pair_now();
	rate = clock_pair_rate(&d->before, &d->last);
	if (rate > 0)
		d->ns_per_cycle = 1 / rate;
	else
		d->last = d->before;
}

static uint64_t time_of(const struct inproc_drain *d, uint64_t cycles)
{
	int64_t since = (int64_t)(cycles - d->before.cycles);

	return d->before.ns + (uint64_t)(int64_t)((double)since * d->ns_per_cycle);
}

static struct inproc_stamp *stamp_at(const struct inproc_region *g, uint32_t slot, uint64_t i)
{
	uint64_t n = g->header.ring_bytes / sizeof(struct inproc_stamp);
	char *ring = (char *)g->rings + slot * g->header.ring_bytes;

	return (struct inproc_stamp *)ring + i % n;
}

static uint64_t cycles_at(const struct inproc_region *g, uint32_t slot, uint64_t i)
{
	return __atomic_load_n(&stamp_at(g, slot, i)->cycles, __ATOMIC_ACQUIRE);
}

/* The program may have written anything: a time that none of its records can have is none. */
static bool is_time(const struct inproc_drain *d, uint64_t cycles)
{
	return cycles >= d->first.cycles && cycles <= d->last.cycles + AHEAD_CYCLES &&
	       time_of(d, cycles) + BEHIND_NS > d->before.ns;
}

static void clear(const struct inproc_region *g, uint32_t slot, uint64_t i)
{
	__atomic_store_n(&stamp_at(g, slot, i)->cycles, 0, __ATOMIC_RELAXED);
}

/* One that was reserved and never written, as a signal handler has jumped out of its function: its
 * place is given up once that is certain, or the ring is full behind it. */
static bool is_never_coming(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	struct inproc_seen *seen = &g->seen[slot];
	uint64_t n = g->header.ring_bytes / sizeof(struct inproc_stamp);

	if (!cycles_at(g, slot, seen->at + 1)) {
		seen->missing_since_ns = 0;
		return false;
	}
	if (!seen->missing_since_ns)
		seen->missing_since_ns = d->last.ns;
	return d->last.ns - seen->missing_since_ns > MISSING_NS ||
	       cycles_at(g, slot, seen->at + n - 1);
}

/* The next record, if there is one; *lost: it was none. */
static bool take(struct inproc_drain *d, struct inproc_region *g, uint32_t slot, uint64_t *lost)
{
	struct inproc_seen *seen = &g->seen[slot];
	const struct inproc_stamp *s = stamp_at(g, slot, seen->at);
	uint64_t cycles = cycles_at(g, slot, seen->at);
	struct inproc_taken *t;

	if (cycles > d->last.cycles && is_time(d, cycles))
		return false;
	if (!cycles && !is_never_coming(d, g, slot))
		return false;
	seen->missing_since_ns = 0;
	if (!cycles || !is_time(d, cycles)) {
		++*lost;
	} else {
		t = vec_add(&d->taken);
		t->time_ns = time_of(d, cycles);
		t->what = __atomic_load_n(&s->what, __ATOMIC_RELAXED);
		t->sp = __atomic_load_n(&s->sp, __ATOMIC_RELAXED);
		t->order = (uint32_t)seen->at;
	}
	clear(g, slot, seen->at++);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct inproc_taken *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int32_t)(x->order - y->order);
}

/* A handler's records lie behind one that was reserved before, and stamped after them. */
static void sort(struct inproc_taken *t, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (t[i].time_ns < t[i - 1].time_ns) {
			qsort(t, n, sizeof(*t), by_time);
			return;
		}
}

/*
 * What was lost lies where the ring was full: between what the last run has read and what this one
 * finds, or, if it is full now, behind that.
 */
static void tell_lost(struct inproc_drain *d, struct inproc_region *g, uint32_t slot, size_t first,
		      uint64_t lost, bool is_full)
{
	struct inproc_seen *seen = &g->seen[slot];
	uint64_t before = seen->last_ns, n = d->taken.n;

	if (lost <= seen->lost)
		return;
	if (is_full && n > first) {
		seen->last_ns = d->taken.data[n - 1].time_ns;
		inproc_put_lost(d, g, seen, lost - seen->lost, d->last.ns);
		seen->last_ns = before;
	} else {
		inproc_put_lost(d, g, seen, lost - seen->lost,
				n > first ? d->taken.data[first].time_ns : d->last.ns);
	}
}

static void tell_none(struct inproc_drain *d, struct inproc_region *g, uint32_t slot, uint64_t n)
{
	struct inproc_seen *seen = &g->seen[slot];

	if (!n)
		return;
	inproc_put_lost(d, g, seen, n, d->last.ns);
	seen->lost -= n; /* the thread has not counted these */
}

void inproc_stamped_take(struct inproc_drain *d, uint32_t region, uint32_t slot)
{
	struct inproc_region *g = &d->regions.data[region];
	struct inproc_slot *s = &g->slots[slot];
	struct inproc_seen *seen = &g->seen[slot];
	uint64_t room = g->header.ring_bytes / sizeof(struct inproc_stamp), none = 0;
	uint64_t lost = atomic_load_explicit(&s->lost, memory_order_relaxed), at = seen->at;
	size_t first = d->taken.n;

	while (seen->at - at < room && d->taken.n < TAKEN_MOST && take(d, g, slot, &none))
		;
	d->behind |= d->taken.n == TAKEN_MOST;
	d->busy |= d->behind || seen->at - at > room / 4;
	sort(d->taken.data + first, d->taken.n - first);
	tell_lost(d, g, slot, first, lost, seen->at - at == room);
	tell_none(d, g, slot, none);
	seen->is_read = seen->at == at;
	atomic_store_explicit(&s->tail, seen->at, memory_order_release);
	if (d->taken.n > first)
		*vec_add(&d->heap) =
			(struct inproc_cursor){ .region = region,
						.slot = slot,
						.at = first,
						.end = d->taken.n,
						.time_ns = d->taken.data[first].time_ns };
}

static void look_at(struct inproc_region *g, uint32_t slot)
{
	const struct inproc_slot *s = &g->slots[slot];
	struct inproc_seen *seen = &g->seen[slot];
	uint32_t tid = s->tid, pid = s->pid;

	if (seen->is_gone || s->state != INPROC_LIVE || !tid || !pid)
		return;
	seen->is_gone = syscall(SYS_tgkill, (pid_t)pid, (pid_t)tid, 0) &&
			(errno == ESRCH || errno == EINVAL);
	seen->is_read = false;
}

void inproc_stamped_look(struct inproc_drain *d)
{
	if (d->last.ns - d->looked_at_threads_ns < LOOK_NS)
		return;
	d->looked_at_threads_ns = d->last.ns;
	vec_for_each (&d->regions, struct inproc_region, g)
		for (uint32_t i = 0;
		     g->is_stamped && g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++)
			look_at(g, i);
}

static void put_calls(struct inproc_drain *d, uint32_t tgid, uint32_t tid, uint64_t time_ns,
		      const uint64_t values[3])
{
	const struct record r = { .kind = REC_CALL_COUNT,
				  .cpu = d->cpu,
				  .time_ns = time_ns,
				  .tid = tid,
				  .tgid = tgid,
				  .n_values = 3,
				  .values = values };

	inproc_note_error(d, trace_writer_record(d->writer, &r));
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static uint64_t taken_out(_Atomic uint64_t *n)
{
	return atomic_exchange_explicit(n, 0, memory_order_relaxed);
}

void inproc_stamped_tell_calls(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			       uint64_t time_ns)
{
	const struct inproc_seen *seen = &g->seen[slot];
	const uint32_t tid = seen->tid ? seen->tid : g->slots[slot].tid;
	const uint32_t tgid = seen->tgid ? seen->tgid : g->slots[slot].pid;
	struct inproc_row *rows;

	if (!g->rows || !tid)
		return;
	rows = (struct inproc_row *)(g->rows + slot * inproc_rows_bytes(g->n_functions));
	for (uint32_t id = 0; id < g->n_functions; id++) {
		uint64_t calls = taken_out(&rows[id].calls), inner = taken_out(&rows[id].inner);
		uint64_t recorded = taken_out(&rows[id].recorded);
		uint64_t inner_recorded = taken_out(&rows[id].inner_recorded);
		const uint64_t values[RECORD_VALUES_MIN] = { id, less(calls, recorded),
							     less(less(calls, inner),
								  less(recorded, inner_recorded)) };

		g->passed += values[1];
		if (values[1])
			put_calls(d, tgid, tid, time_ns, values);
	}
}

void inproc_stamped_seal(struct inproc_region *g)
{
	if (g->shared)
		atomic_store(&g->shared->recording, 2);
}

bool inproc_stamped_is_over(const struct inproc_region *g, uint32_t slot)
{
	return g->seen[slot].is_gone && g->seen[slot].is_read;
}
