// SPDX-License-Identifier: GPL-3.0-or-later
/* The memory of rings: those of threads that have ended give it back, and so do all of them once
 * they have more than they may keep, without losing a record. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/ringmemory.h"
#include "probes/inproc/stamped.h"
#include "trace/write/writer.h"

#define RING	  (1024u << 10)
#define N	  (RING / sizeof(struct inproc_stamp))
#define FUNCTIONS 5
#define REGION	  (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)
#define NOBODY	  0x3ffffffe /* no thread has this number */

static struct inproc_drain drain;
static struct trace_writer *writer;
static char path[] = "/tmp/ispot-unit.XXXXXX";
static struct inproc_slot *slots;
static struct inproc_stamp *rings;
static int region_fd;

static int begin(void **state)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	int file;
	char *region;

	(void)state;
	if (!clock_cycles())
		return 0;
	memcpy(path, "/tmp/ispot-unit.XXXXXX", sizeof(path));
	file = mkstemp(path);
	region_fd = memfd_create("region", 0);
	assert_true(region_fd >= 0 && file >= 0);
	close(file);
	assert_int_equal(ftruncate(region_fd, REGION + (off_t)INPROC_SLOTS * RING), 0);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, RING, writer);
	assert_int_equal(
		inproc_drain_add_stamped(&drain, region_fd, getpid(), RING, FUNCTIONS, false), 0);
	region = drain.regions.data[0].memory->start;
	slots = (struct inproc_slot *)(region + INPROC_PAGE);
	rings = (struct inproc_stamp *)(region + REGION);
	return 0;
}

static int end(void **state)
{
	(void)state;
	inproc_drain_release(&drain);
	trace_writer_close(writer, NULL);
	close(region_fd);
	return unlink(path);
}

static uint64_t memory(void)
{
	struct stat st;

	assert_int_equal(fstat(region_fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* The recorder has met the first pages of the rings before. */
static void is_memory(uint64_t bytes)
{
	assert_in_range(memory(), bytes - 3 * (uint64_t)sysconf(_SC_PAGESIZE), bytes);
}

static void claim(uint32_t slot, uint32_t tid)
{
	slots[slot].tid = tid;
	slots[slot].pid = (uint32_t)getpid();
	slots[slot].state = INPROC_LIVE;
}

/* Writes as many records as there is room for, as a thread does. Returns where the next one goes.
 */
static uint64_t fill(uint32_t slot, uint64_t at, uint64_t n)
{
	for (; n && at < slots[slot].tail + N; n--, at++) {
		struct inproc_stamp *s = &rings[slot * N + at % N];

		assert_int_equal(s->cycles, 0); /* read, or never used */
		s->what = at % 2 ? 3 : 2;
		s->sp = 4096;
		__atomic_store_n(&s->cycles, clock_cycles(), __ATOMIC_RELEASE);
	}
	return at;
}

static void run(void)
{
	usleep(1000);
	assert_int_equal(inproc_drain_run(&drain), 0);
}

static void test_without_limit(void **state)
{
	uint64_t before, at = 0;

	(void)state;
	claim(0, (uint32_t)gettid());
	run();
	before = memory();
	for (int lap = 0; lap < 5; lap++) {
		at = fill(0, at, N / 2);
		run();
	}
	assert_int_equal(slots[0].tail, at);
	assert_int_equal(at, 5 * N / 2);
	assert_int_equal(drain.records, at);
	assert_int_equal(drain.ring_memory, RING);
	is_memory(before + RING);
	assert_int_equal(drain.regions.data[0].first_records, N);
}

/* Many small reads, so that pages end within them and between them. */
static void test_limit(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = memory();
	uint64_t at = 0, most = 0;

	(void)state;
	drain.ring_memory_most = RING / 4;
	claim(0, (uint32_t)gettid());
	for (int i = 0; i < 700; i++) {
		at = fill(0, at, 97 + (uint64_t)i % 301);
		run();
		if (memory() - before > most)
			most = memory() - before;
	}
	assert_true(at > 2 * N);
	assert_int_equal(drain.records, at);
	assert_int_equal(drain.lost_records, 0);
	/* besides the limit: what one read had before, parts of pages, and the slots */
	assert_in_range(most, RING / 4, RING / 4 + 6 * page);
	assert_in_range(slots[0].tail, at - page / sizeof(struct inproc_stamp), at);
}

/* Threads of later slots keep little even if there is no more to read than the limit. */
static void test_later_slots(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t before, at = 0;

	(void)state;
	drain.regions.data[0].large_rings = 1;
	claim(0, (uint32_t)gettid());
	claim(1, (uint32_t)gettid());
	run();
	before = memory();
	for (int i = 0; i < 20; i++) {
		at = fill(1, at, 1001);
		run();
	}
	assert_int_equal(drain.records, at);
	assert_int_equal(at, 20 * 1001);
	assert_in_range(memory() - before, 0, 6 * page);
	fill(0, 0, N);
	run();
	assert_in_range(memory() - before, RING - page, RING + 6 * page);
	assert_int_equal(drain.lost_records, 0);
}

/* The next thread of the slot finds each record's place empty, and all of its records are read. */
static void test_ended_above_limit(void **state)
{
	uint64_t at = 0;

	(void)state;
	drain.ring_memory_most = 1;
	for (int i = 0; i < 7; i++) {
		claim(0, NOBODY);
		assert_int_equal(slots[0].tail, at);
		at = fill(0, at, 1001);
		run();
		usleep(110000); /* longer than between two checks of threads */
		run();
		run();
		assert_int_equal(slots[0].state, INPROC_FREE);
	}
	assert_int_equal(drain.records, 7 * 1001);
	assert_int_equal(drain.lost_records, 0);
}

static void test_ended(void **state)
{
	const uint64_t a_page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t before;

	(void)state;
	claim(0, NOBODY);
	claim(1, (uint32_t)gettid());
	run();
	before = memory();
	fill(0, 0, N);
	fill(1, 0, N);
	run();
	is_memory(before + 2 * RING);
	for (int i = 0; i < 30 && memory() > before + RING + a_page; i++) {
		usleep(110000);
		run();
	}
	is_memory(before + RING); /* the one that lives keeps its memory */
	assert_int_equal(drain.ring_memory, RING);
	assert_int_equal(slots[0].state, INPROC_FREE);
	claim(0, (uint32_t)gettid());
	assert_int_equal(fill(0, slots[0].tail, 5), N + 5);
	run();
	assert_int_equal(drain.records, 2 * N + 5);
}

/* A record that a thread has reserved never comes: what is behind it is read as soon as the ring is
 * full, though the thread does not know of the last part of a page. */
static void test_hole(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) / sizeof(struct inproc_stamp);
	uint64_t at;

	(void)state;
	drain.ring_memory_most = 1;
	claim(0, (uint32_t)gettid());
	at = fill(0, 0, page + 10);
	run();
	at = fill(0, at, 10);
	run();
	assert_int_equal(slots[0].tail, page);
	fill(0, at + 1, N);
	run();
	assert_int_equal(drain.records + drain.lost_records, page + N);
	assert_int_equal(drain.lost_records, 1);
}

/* The next thread of a slot has its memory for itself again. */
static void test_gives_back_no_longer(void **state)
{
	const struct inproc_seen *seen = drain.regions.data[0].seen;
	uint64_t at = 0;

	(void)state;
	drain.ring_memory_most = 1;
	claim(0, NOBODY);
	for (int i = 0; i < 3; i++) {
		at = fill(0, at, N);
		run();
	}
	assert_true(seen->gives_back);
	for (int i = 0; i < 30 && seen->gives_back; i++) {
		usleep(110000);
		run();
	}
	assert_false(seen->gives_back);
	assert_int_equal(slots[0].state, INPROC_FREE);
	assert_int_equal(drain.ring_memory, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_later_slots, begin, end),
		cmocka_unit_test_setup_teardown(test_ended_above_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_ended, begin, end),
		cmocka_unit_test_setup_teardown(test_hole, begin, end),
		cmocka_unit_test_setup_teardown(test_gives_back_no_longer, begin, end),
	};

	if (!clock_cycles()) {
		print_message("1..0 # SKIP there is no cycle counter here\n");
		return 0;
	}
	return unit_run(tests);
}
