// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/stubcost.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/machine/thisthread.h"
#include "probes/inproc/inproc.h"

#define CALLS	   8192u
#define ROUNDS	   24
#define RING_BYTES (4 * CALLS * sizeof(struct inproc_stamp)) /* a power of two */
#define CODE_BYTES 8192u

struct durations {
	VEC(uint64_t) /* cycles */
};

/* The code, which is read-only once it is made, and after it the ring, the thread's block, and on
 * aarch64 the table by which the thread finds it. */
struct bench {
	uint8_t *memory;
	struct inproc_stamp *ring;
	uint64_t *block;
	void *table;
	void (*plain)(void), (*recorded)(void), (*passed)(void), (*valued)(void);
	struct durations inner, full, gate, values;
};

#define ROWS_AT	 (BLOCK_BYTES + TURN_BYTES) /* offset in the block */
#define TABLE_AT (CODE_BYTES + RING_BYTES + ROWS_AT + sizeof(struct inproc_row))

static size_t bench_bytes(void)
{
	return TABLE_AT + blob_table_bytes();
}

/* Makes a function whose calls are recorded, or, if is_sampled, are never due to be recorded. */
static void (*make_function(struct stub_code *c, const struct stub_facts *facts, bool is_recorded,
			    bool is_sampled, uint32_t values))(void)
{
	struct stub_site s = { .facts = facts,
			       .entry.values = values,
			       .is_entry = is_recorded,
			       .is_exit = is_recorded,
			       .is_sampled = is_sampled };
	const uint64_t at = c->address + c->n;

	stub_emit_site_entry(c, &s);
	stub_emit_nop(c);
	stub_emit_site_exit(c, &s);
	stub_emit_return(c);
	stub_emit_site_rest(c, &s);
	return (void (*)(void))(uintptr_t)at;
}

/* Copies the blob for functions of which one call in `period` is recorded. No slot is ever claimed:
 * the block is filled in, and the ring is never full. */
static struct stub_facts copy_blob(const struct bench *b, struct stub_code *c, uint64_t period)
{
	const struct blob blob = blob_get();
	const uint64_t at = c->address + c->n;
	const struct blob_facts f = { .ring_bytes = RING_BYTES,
				      .period = period,
				      .table = (uintptr_t)b->table };

	memcpy(c->bytes + c->n, blob.code, blob.bytes);
	memcpy(c->bytes + c->n, &f, sizeof(f));
	c->n += (blob.bytes + 15) & ~(size_t)15;
	return (struct stub_facts){ .claim = at + blob.claim,
				    .full = at + blob.full,
				    .begin = at + blob.begin,
				    .end = at + blob.end,
				    .values = at + blob.values,
				    .enter = at + blob.enter,
				    .leave = at + blob.leave,
				    .ring_bytes = RING_BYTES };
}

static int make_code(struct bench *b)
{
	struct stub_code c = { .bytes = b->memory,
			       .address = (uintptr_t)b->memory,
			       .room = CODE_BYTES };
	const struct stub_facts each = copy_blob(b, &c, 1), several = copy_blob(b, &c, 2);

	b->plain = make_function(&c, &each, false, false, 0);
	b->recorded = make_function(&c, &each, true, false, 0);
	b->passed = make_function(&c, &several, true, true, 0);
	b->valued = make_function(&c, &each, true, false, 1);
	__builtin___clear_cache((char *)b->memory, (char *)b->memory + c.n);
	return mprotect(b->memory, CODE_BYTES, PROT_READ | PROT_EXEC) ? -errno : 0;
}

static int init_bench(struct bench *b)
{
	b->memory = mmap(NULL, bench_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (b->memory == MAP_FAILED)
		return -errno;
	b->ring = (struct inproc_stamp *)(b->memory + CODE_BYTES);
	b->block = (uint64_t *)(b->memory + CODE_BYTES + RING_BYTES);
	b->table = b->memory + TABLE_AT;
	b->block[BLOCK_LIMIT / 8] = RING_BYTES;
	b->block[BLOCK_BASE / 8] = (uintptr_t)b->ring;
	b->block[BLOCK_ROWS / 8] = (uintptr_t)b->block + ROWS_AT;
	b->block[(BLOCK_BYTES + TURN_NEXT) / 8] = UINT64_MAX;
	return make_code(b);
}

static void release_bench(struct bench *b)
{
	if (b->memory != MAP_FAILED)
		munmap(b->memory, bench_bytes());
	vec_release(&b->inner);
	vec_release(&b->full);
	vec_release(&b->gate);
	vec_release(&b->values);
}

static uint64_t cycles_of(void (*function)(void))
{
	const uint64_t before = clock_cycles();

	for (unsigned i = 0; i < CALLS; i++)
		function();
	return clock_cycles() - before;
}

static void measure_round(struct bench *b)
{
	uint64_t plain, recorded, passed, valued;

	b->block[BLOCK_POS / 8] = 0;
	valued = cycles_of(b->valued);
	b->block[BLOCK_POS / 8] = 0;
	plain = cycles_of(b->plain);
	recorded = cycles_of(b->recorded);
	passed = cycles_of(b->passed);
	for (unsigned i = 0; i < CALLS; i++)
		*vec_add(&b->inner) = b->ring[2 * i + 1].cycles - b->ring[2 * i].cycles;
	*vec_add(&b->full) = recorded > plain ? recorded - plain : 0;
	*vec_add(&b->gate) = passed > plain ? passed - plain : 0;
	*vec_add(&b->values) = valued > recorded ? valued - recorded : 0;
}

static double mean_of(const struct durations *d)
{
	double sum = 0;

	vec_for_each (d, const uint64_t, cycles)
		sum += (double)*cycles;
	return sum / (double)d->n;
}

static uint64_t ns_of(const struct durations *d, size_t i, double cycles_per_ns)
{
	return (uint64_t)((double)d->data[i] / cycles_per_ns + 0.5);
}

/* Returns what a call takes at the median of the rounds. */
static double call_ns(struct durations *of_rounds, double rate)
{
	vec_sort(of_rounds, vec_by_u64);
	return (double)of_rounds->data[of_rounds->n / 2] / CALLS / rate;
}

static void fill_cost(struct bench *b, double rate, struct stubcost *cost)
{
	const size_t n = b->inner.n;

	cost->call = (struct meta_calibration){ .class = CLASS_UNKNOWN,
						.exit = EXIT_RET_SITES,
						.threads = 1,
						.when = "before",
						.inner_mean_ns = mean_of(&b->inner) / rate,
						.calls = n };
	vec_sort(&b->inner, vec_by_u64);
	cost->call.inner_min_ns = ns_of(&b->inner, 0, rate);
	cost->call.inner_p50_ns = ns_of(&b->inner, n / 2, rate);
	cost->call.inner_p99_ns = ns_of(&b->inner, n * 99 / 100, rate);
	cost->call.full_p50_ns = call_ns(&b->full, rate);
	cost->cycles_per_ns = rate;
	cost->passed_ns = call_ns(&b->gate, rate);
	cost->values_ns = call_ns(&b->values, rate);
}

#define PAGES 64u

/* The memory is shared as that of rings is. */
static double page_ns(void)
{
	const size_t bytes = PAGES * INPROC_PAGE;
	const int fd = memfd_create("ispot", MFD_CLOEXEC);
	char *p = fd < 0 || ftruncate(fd, (off_t)bytes)
			  ? MAP_FAILED
			  : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const uint64_t before_ns = clock_cpu_ns();
	uint64_t used_ns;

	for (size_t i = 0; p != MAP_FAILED && i < bytes; i += INPROC_PAGE)
		((volatile char *)p)[i] = 1;
	used_ns = clock_cpu_ns() - before_ns;
	if (p != MAP_FAILED)
		munmap(p, bytes);
	if (fd >= 0)
		close(fd);
	return p != MAP_FAILED ? (double)used_ns / PAGES : 0;
}

int stubcost_measure(struct stubcost *cost)
{
	struct bench b = { 0 };
	struct clock_pair first = clock_pair_now(), last;
	int ret = init_bench(&b);
	double rate;

	*cost = (struct stubcost){ .page_ns = page_ns() };
	if (!ret)
		ret = thisthread_enter(b.block, b.table);
	for (int i = 0; !ret && i < ROUNDS; i++)
		measure_round(&b);
	thisthread_leave();
	last = clock_pair_now();
	rate = clock_pair_rate(&first, &last);
	if (!ret && !(rate > 0))
		ret = -ENODATA;
	if (!ret)
		fill_cost(&b, rate, cost);
	release_bench(&b);
	return ret;
}
