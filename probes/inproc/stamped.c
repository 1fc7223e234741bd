// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/stamped.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probes/drain/keep.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/records.h"
#include "probes/inproc/ringmemory.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define SLICE_MOST (4u << 20) /* records of a slice, at most: about a second's work */
/* The records of a slice of time. So many of them are in the second-level cache, with their
 * rings. */
#define SLICE_RECORDS	   8192u
#define SLICE_CYCLES	   (1ull << 20) /* the first slice */
#define SLICE_CYCLES_LEAST (1ull << 14)
#define SLICE_CYCLES_MOST  (1ull << 36)
#define FULL		   0.25 /* part of a ring; a ring that is fuller is read again at once */
#define CHECK_NS	   100000000ull	 /* between two checks of which threads live */
#define MISSING_NS	   1000000000ull /* how long a reserved record may remain unwritten */
/* Consecutive records that may remain unwritten: of handlers in handlers, each with its values. */
#define MISSING_MOST (4 * (1 + INPROC_VALUES))
#define AHEAD_CYCLES (1ull << 36)   /* a stamp further ahead of the clock is invalid */
#define BEHIND_NS    10000000000ull /* a stamp further behind is invalid */

_Static_assert(sizeof(struct inproc_stamp) == sizeof(struct inproc_record), "rings are the same");

/* Fills in a header as the check of other regions requires. After this only the slots and rings are
 * read from shared memory. */
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
	g->n_rings = INPROC_SLOTS; /* no limit: the program has ispot's own rights */
	g->seen = xcalloc(INPROC_SLOTS, sizeof(*g->seen));
	if (guarded_map(g->memory, fd, (size_t)st.st_size))
		return -ENOMEM;
	fill_header(g, ring_bytes);
	g->large_rings = inproc_large_rings(d->ring_memory_most, ring_bytes);
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

/*
 * A run is read in slices, each of them the records that all threads wrote in a slice of time. They
 * are then still in the cache when they are written to the file, and threads have room again early.
 */
static void begin_slice(struct inproc_drain *d)
{
	const uint64_t left = d->last.cycles - d->until_cycles;

	if (!d->slice_cycles)
		d->slice_cycles = SLICE_CYCLES;
	d->until_cycles += d->slice_cycles < left ? d->slice_cycles : left;
	d->slice.n = d->values.n = 0;
}

static void adapt_slice(struct inproc_drain *d)
{
	const uint64_t n = d->slice.n;

	if (n > 2 * SLICE_RECORDS)
		d->slice_cycles = d->slice_cycles * SLICE_RECORDS / n;
	else if (n < SLICE_RECORDS / 2)
		d->slice_cycles *= 2;
	if (d->slice_cycles < SLICE_CYCLES_LEAST)
		d->slice_cycles = SLICE_CYCLES_LEAST;
	if (d->slice_cycles > SLICE_CYCLES_MOST)
		d->slice_cycles = SLICE_CYCLES_MOST;
}

/* Returns how many records the ring's thread may write that are not read. */
static uint64_t room_of(const struct inproc_region *g, uint32_t slot)
{
	const uint64_t bytes = slot < g->large_rings ? g->header.ring_bytes
						     : inproc_small_bytes(g->header.ring_bytes);

	return bytes / sizeof(struct inproc_stamp);
}

/* Returns how full the fullest ring would be now without this run. */
static double fill_of(const struct inproc_drain *d)
{
	double most = 0;

	vec_for_each (&d->regions, const struct inproc_region, g) {
		for (uint32_t i = 0; g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++)
			most = fmax(most, (double)(g->seen[i].at - g->seen[i].run_at) /
						  (double)room_of(g, i));
	}
	return most;
}

static void end_run(struct inproc_drain *d)
{
	const double fill = fill_of(d), ns = (double)(d->last.ns - d->before.ns);

	d->turn_ns = fill > FULL ? 0
		     : fill > 0	 ? (uint64_t)(fmin(ns / fill, 1e10) * FULL / 2)
				 : UINT64_MAX;
	d->busy |= d->behind || fill > FULL;
}

static uint64_t time_of(const struct inproc_drain *d, uint64_t cycles)
{
	int64_t since = (int64_t)(cycles - d->before.cycles);

	return d->before.ns + (uint64_t)(int64_t)((double)since * d->ns_per_cycle);
}

bool inproc_stamped_goes_on(struct inproc_drain *d)
{
	if (!has_stamped(d))
		return false;
	d->run_read += d->slice.n;
	adapt_slice(d);
	if (d->until_cycles < d->last.cycles && d->run_read < d->run_records) {
		begin_slice(d);
		return true;
	}
	d->behind |= d->until_cycles < d->last.cycles;
	end_run(d);
	/* the next run continues there */
	d->last.ns = time_of(d, d->until_cycles);
	d->last.cycles = d->until_cycles;
	return false;
}

/* Between two pairs of clocks the line through them is exact, so only records older than the new
 * pair are read. */
void inproc_stamped_begin(struct inproc_drain *d)
{
	double rate;

	if (!has_stamped(d))
		return;
	d->slice.n = d->values.n = d->run_read = 0;
	d->before = d->last;
	d->last = clock_pair_now();
	rate = clock_pair_rate(&d->before, &d->last);
	if (rate > 0)
		d->ns_per_cycle = 1 / rate;
	else
		d->last = d->before;
	d->until_cycles = d->before.cycles;
	begin_slice(d);
	vec_for_each (&d->regions, struct inproc_region, g)
		for (uint32_t i = 0; g->shared && i < INPROC_SLOTS && g->slots[i].tid; i++)
			g->seen[i].run_at = g->seen[i].at;
}

static struct inproc_stamp *stamp_at(const struct inproc_region *g, uint32_t slot, uint64_t i)
{
	const uint64_t bytes = g->header.ring_bytes; /* a power of two */
	char *ring = (char *)g->rings + slot * bytes;

	return (struct inproc_stamp *)(ring + (i * sizeof(struct inproc_stamp) & (bytes - 1)));
}

static uint64_t cycles_at(const struct inproc_region *g, uint32_t slot, uint64_t i)
{
	return __atomic_load_n(&stamp_at(g, slot, i)->cycles, __ATOMIC_ACQUIRE);
}

/* The program may have written anything. Returns whether a record can have this time. */
static bool is_time(const struct inproc_drain *d, uint64_t cycles)
{
	return cycles >= d->first.cycles && cycles <= d->last.cycles + AHEAD_CYCLES &&
	       time_of(d, cycles) + BEHIND_NS > d->before.ns;
}

/* Returns whether the ring has records that are not read yet. */
static bool has_records(const struct inproc_region *g, uint32_t slot)
{
	for (uint64_t i = 0; i <= MISSING_MOST; i++)
		if (cycles_at(g, slot, g->seen[slot].at + i))
			return true;
	return false;
}

/* A record may be reserved and never written, if a signal handler has jumped out of its function.
 * Returns whether that is certain, or the ring is full after it. */
static bool is_never_coming(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	struct inproc_seen *seen = &g->seen[slot];
	const uint64_t n = room_of(g, slot);

	if (!has_records(g, slot)) {
		seen->missing_since_ns = 0;
		return false;
	}
	if (!seen->missing_since_ns)
		seen->missing_since_ns = d->last.ns;
	return seen->is_gone || d->last.ns - seen->missing_since_ns > MISSING_NS ||
	       cycles_at(g, slot, seen->tail + n - 1);
}

static void write_gap(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		      uint64_t time_ns)
{
	const struct inproc_gap gap = seen->gaps[0];
	const uint64_t last_ns = seen->last_ns;

	seen->n_missing -= gap.n;
	memmove(seen->gaps, seen->gaps + 1, --seen->n_gaps * sizeof(gap));
	seen->last_ns = gap.since_ns;
	inproc_write_lost(d, g, seen, gap.n, time_ns);
	seen->last_ns = last_ns;
}

static uint64_t last_read_ns(const struct inproc_drain *d, const struct inproc_seen *seen,
			     size_t first)
{
	return d->slice.n > first ? d->slice.data[d->slice.n - 1].time_ns : seen->last_ns;
}

/* Called before the record of seen->at is read, which has this time. */
static void pass_gaps(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		      size_t first, uint64_t time_ns)
{
	const uint64_t before_ns = last_read_ns(d, seen, first);

	for (uint32_t i = 0; i < seen->n_gaps; i++)
		if (!seen->gaps[i].since_ns && seen->gaps[i].from <= seen->at)
			seen->gaps[i].since_ns = before_ns;
	while (seen->n_gaps && seen->gaps[0].to <= seen->at)
		write_gap(d, g, seen, time_ns);
}

/* The ring is empty, so the gaps are after everything that was read. */
static void write_gaps(struct inproc_drain *d, struct inproc_region *g, struct inproc_seen *seen,
		       size_t first)
{
	pass_gaps(d, g, seen, first, d->last.ns);
	while (seen->n_gaps) {
		if (!seen->gaps[0].since_ns)
			seen->gaps[0].since_ns = last_read_ns(d, seen, first);
		write_gap(d, g, seen, d->last.ns);
	}
}

/* A thread loses records once it has filled its ring up to the tail that it knows: the present one
 * or, if the thread read it before it was written, the one before. */
static void add_gap(struct inproc_seen *seen, uint64_t lost, uint64_t room)
{
	const uint64_t n = lost - seen->lost - seen->n_missing;
	struct inproc_gap *last = &seen->gaps[seen->n_gaps ? seen->n_gaps - 1 : 0];

	if (lost <= seen->lost + seen->n_missing)
		return;
	seen->n_missing += n;
	if (seen->n_gaps == INPROC_GAPS) {
		last->to = seen->tail + room;
		last->n += n;
		return;
	}
	seen->gaps[seen->n_gaps++] = (struct inproc_gap){ .from = seen->tail_before + room,
							  .to = seen->tail + room,
							  .n = n };
}

static bool is_value(uint32_t what)
{
	return what & INPROC_VALUE && !(what & INPROC_INNER);
}

static struct inproc_stamp load_stamp(struct inproc_stamp *s)
{
	return (struct inproc_stamp){ .cycles = __atomic_load_n(&s->cycles, __ATOMIC_ACQUIRE),
				      .what = __atomic_load_n(&s->what, __ATOMIC_RELAXED),
				      .sp = __atomic_load_n(&s->sp, __ATOMIC_RELAXED) };
}

/* Returns whether v is a value of the record t, and stores which one. */
static bool is_value_of(const struct inproc_stamp *v, const struct inproc_stamped_record *t,
			uint32_t *number)
{
	const uint32_t what = t->what & ~INPROC_INNER, below = (1u << INPROC_VALUE_SHIFT) - 1;

	*number = (v->what & ~INPROC_VALUE) >> INPROC_VALUE_SHIFT;
	return v->cycles && is_value(v->what) && (v->what & below) == what &&
	       (uint32_t)v->cycles == (t->sp | 1) && *number < INPROC_VALUES;
}

/* Reads the values that follow the record. They were committed before it was. */
static void read_values(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			struct inproc_stamped_record *t)
{
	struct inproc_seen *seen = &g->seen[slot];
	struct inproc_values values = { 0 };
	uint32_t number;

	for (uint32_t n = 0; n < INPROC_VALUES; n++) {
		struct inproc_stamp *s = stamp_at(g, slot, seen->at + 1), v = load_stamp(s);

		if (!is_value_of(&v, t, &number))
			break;
		values.mask |= 1u << number;
		values.all[number] = (uint64_t)v.sp << 32 | v.cycles >> 32;
		__atomic_store_n(&s->cycles, 0, __ATOMIC_RELAXED);
		seen->at++;
	}
	if (!values.mask)
		return;
	*vec_add(&d->values) = values;
	t->values = (uint32_t)d->values.n;
}

/* Reads the next record, if there is one. *none counts records that are invalid. */
static bool read_record(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			size_t first, uint64_t *none)
{
	struct inproc_seen *seen = &g->seen[slot];
	struct inproc_stamp *s = stamp_at(g, slot, seen->at), now = load_stamp(s);
	const bool is_one = now.cycles && is_value(now.what); /* whose record a signal separated */
	struct inproc_stamped_record t;

	if (!is_one && now.cycles > d->until_cycles && is_time(d, now.cycles))
		return false;
	if (!now.cycles && !is_never_coming(d, g, slot))
		return false;
	if (now.cycles) /* what is missing behind a record that never came does not come, either */
		seen->missing_since_ns = 0;
	if (is_one) {
		/* the call goes without it */
	} else if (!now.cycles || !is_time(d, now.cycles)) {
		++*none;
	} else {
		t = (struct inproc_stamped_record){ .time_ns = time_of(d, now.cycles),
						    .what = now.what,
						    .sp = now.sp,
						    .order = (uint32_t)seen->at };
		if (seen->n_gaps)
			pass_gaps(d, g, seen, first, t.time_ns);
		read_values(d, g, slot, &t);
		*vec_add(&d->slice) = t;
	}
	__atomic_store_n(&s->cycles, 0, __ATOMIC_RELAXED);
	seen->at++;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct inproc_stamped_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int32_t)(x->order - y->order);
}

/* If a signal handler interrupts a record that is reserved but not stamped, the handler's records
 * come after it, with earlier stamps. */
static void sort_by_time(struct inproc_stamped_record *t, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (t[i].time_ns < t[i - 1].time_ns) {
			qsort(t, n, sizeof(*t), by_time);
			return;
		}
}

static void write_invalid(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
			  uint64_t n)
{
	struct inproc_seen *seen = &g->seen[slot];

	if (!n)
		return;
	inproc_write_lost(d, g, seen, n, d->last.ns);
	seen->lost -= n; /* the thread has not counted these */
}

void inproc_stamped_read(struct inproc_drain *d, uint32_t region, uint32_t slot)
{
	struct inproc_region *g = &d->regions.data[region];
	struct inproc_slot *s = &g->slots[slot];
	struct inproc_seen *seen = &g->seen[slot];
	const uint64_t room = room_of(g, slot);
	uint64_t none = 0;
	uint64_t lost = atomic_load_explicit(&s->lost, memory_order_relaxed), at = seen->at;
	size_t first = d->slice.n;

	add_gap(seen, lost, room);
	while (seen->at - at < room && d->slice.n < SLICE_MOST &&
	       read_record(d, g, slot, first, &none))
		;
	d->behind |= d->slice.n == SLICE_MOST;
	if (seen->n_gaps && !cycles_at(g, slot, seen->at))
		write_gaps(d, g, seen, first);
	sort_by_time(d->slice.data + first, d->slice.n - first);
	write_invalid(d, g, slot, none);
	seen->is_read = seen->at == seen->run_at && !has_records(g, slot);
	seen->tail_before = seen->tail;
	seen->tail = ringmemory_after_read(d, g, slot, at);
	atomic_store_explicit(&s->tail, seen->tail, memory_order_release);
	if (d->slice.n > first)
		*vec_add(&d->heap) =
			(struct inproc_cursor){ .region = region,
						.slot = slot,
						.at = first,
						.end = d->slice.n,
						.time_ns = d->slice.data[first].time_ns };
}

static void check_thread(const struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	const struct inproc_slot *s = &g->slots[slot];
	struct inproc_seen *seen = &g->seen[slot];
	uint32_t tid = s->tid, pid = s->pid;

	if (seen->is_gone || s->state != INPROC_LIVE || !tid || !pid)
		return;
	seen->is_gone = syscall(SYS_tgkill, (pid_t)pid, (pid_t)tid, 0) &&
			(errno == ESRCH || errno == EINVAL);
	seen->is_read = false;
	if (!seen->is_gone)
		seen->alive_ns = d->last.ns;
}

void inproc_stamped_check_threads(struct inproc_drain *d)
{
	if (d->last.ns - d->threads_checked_ns < CHECK_NS)
		return;
	d->threads_checked_ns = d->last.ns;
	vec_for_each (&d->regions, struct inproc_region, g) {
		if (!g->is_stamped || !g->shared)
			continue;
		for (uint32_t i = 0; i < INPROC_SLOTS && g->slots[i].tid; i++)
			check_thread(d, g, i);
		ringmemory_check(d, g);
	}
}

static void write_call_count(struct inproc_drain *d, uint32_t tgid, uint32_t tid, uint64_t time_ns,
			     const uint64_t values[3])
{
	const struct wire_head h = { .time_ns = time_ns, .tid = tid, .tgid = tgid };

	inproc_write_record(d, &h, REC_CALL_COUNT, values, 3);
}

static uint64_t difference(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static uint64_t read_and_clear(_Atomic uint64_t *n)
{
	return atomic_exchange_explicit(n, 0, memory_order_relaxed);
}

void inproc_stamped_write_calls(struct inproc_drain *d, struct inproc_region *g, uint32_t slot,
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
		uint64_t calls = read_and_clear(&rows[id].calls),
			 inner = read_and_clear(&rows[id].inner);
		uint64_t recorded = read_and_clear(&rows[id].recorded);
		uint64_t inner_recorded = read_and_clear(&rows[id].inner_recorded);
		const uint64_t values[RECORD_VALUES_MIN] = {
			id, difference(calls, recorded),
			difference(difference(calls, inner), difference(recorded, inner_recorded))
		};

		g->passed += values[1];
		if (calls) /* also if all were recorded: without a count the reader estimates how
			      many were not */
			write_call_count(d, tgid, tid, time_ns, values);
	}
}

void inproc_stamped_write_left(struct inproc_drain *d, struct inproc_region *g, uint32_t slot)
{
	const uint64_t at = g->seen[slot].at,
		       n = g->header.ring_bytes / sizeof(struct inproc_stamp);
	uint64_t end = at;

	for (uint64_t i = at; g->is_stamped && i - end <= MISSING_MOST && i - at < n; i++) {
		const struct inproc_stamp s = load_stamp(stamp_at(g, slot, i));

		if (s.cycles && s.cycles <= d->last.cycles && !is_value(s.what))
			end = i + 1;
	}
	write_invalid(d, g, slot, end - at);
}

void inproc_stamped_seal(struct inproc_region *g)
{
	if (g->shared)
		atomic_store(&g->shared->recording, 2);
}

bool inproc_stamped_passes(const struct inproc_drain *d, uint32_t id)
{
	if (id >= INPROC_PASSED_IDS)
		return false;
	vec_for_each (&d->regions, const struct inproc_region, g) {
		const _Atomic uint8_t *bits = (const _Atomic uint8_t *)g->shared;

		if (g->is_stamped && bits &&
		    atomic_load(&bits[INPROC_PASSED_AT + id / 8]) >> id % 8 & 1)
			return true;
	}
	return false;
}

bool inproc_stamped_is_over(const struct inproc_region *g, uint32_t slot)
{
	return g->seen[slot].is_gone && g->seen[slot].is_read;
}
