/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rings whose records commit themselves: what is not there yet is waited for, what never comes and
 * what no thread can have written is counted as lost, whatever the program does to its memory. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "probes/drain/keep.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/records.h"
#include "probes/inproc/stamped.h"
#include "trace/write/writer.h"

#define RING	  4096u
#define N	  (RING / sizeof(struct inproc_stamp))
#define FUNCTIONS 5
#define REGION	  (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)

static struct inproc_drain drain;
static struct trace_writer *writer;
static char path[] = "/tmp/ispot-unit.XXXXXX";
static struct inproc_slot *slots;
static struct inproc_stamp *rings;

static int begin(void **state)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	int fd = memfd_create("region", 0), file = mkstemp(path);
	char *region;

	(void)state;
	if (!clock_cycles())
		return 0;
	assert_true(fd >= 0 && file >= 0);
	close(file);
	assert_int_equal(ftruncate(fd, REGION + INPROC_SLOTS * RING), 0);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, RING, writer);
	assert_int_equal(inproc_drain_add_stamped(&drain, fd, getpid(), RING, FUNCTIONS, false), 0);
	close(fd);
	region = drain.regions.data[0].memory->start;
	slots = (struct inproc_slot *)(region + INPROC_PAGE);
	rings = (struct inproc_stamp *)(region + REGION);
	slots[0].tid = slots[0].pid = (uint32_t)getpid();
	slots[0].state = INPROC_LIVE;
	return 0;
}

static int end(void **state)
{
	(void)state;
	inproc_drain_release(&drain);
	trace_writer_close(writer, NULL);
	return unlink(path);
}

static void put_into(uint32_t slot, uint64_t at, uint32_t what)
{
	struct inproc_stamp *s = &rings[slot * N + at % N];

	s->what = what;
	s->sp = 4096;
	__atomic_store_n(&s->cycles, clock_cycles(), __ATOMIC_RELEASE);
}

static void put(uint64_t at, uint32_t what)
{
	put_into(0, at, what);
}

static void run(void)
{
	usleep(1000);
	assert_int_equal(inproc_drain_run(&drain), 0);
}

static uint64_t at; /* next in the ring of slot 0 */

static void test_waits(void **state)
{
	(void)state;
	put(0, 2);
	put(2, 2);
	run();
	run();
	assert_int_equal(drain.records, 1);
	assert_int_equal(slots[0].tail, 1);
	put(1, 3);
	run();
	assert_int_equal(drain.records, 3);
	assert_int_equal(drain.lost_records, 0);
	assert_int_equal(slots[0].tail, 3);
	assert_int_equal(rings[0].cycles | rings[1].cycles | rings[2].cycles, 0);
	at = 3;
}

/* The first record in each page of a ring costs more: the kernel finds memory for it. */
static void test_first_pages(void **state)
{
	struct inproc_region *g = &drain.regions.data[0];

	(void)state;
	assert_int_equal(g->first_records, 3);
	for (int lap = 0; lap < 2; lap++) {
		for (size_t i = 0; i < N; i++)
			put(at++, i % 2 ? 3 : 2);
		run();
	}
	assert_int_equal(g->first_records, N);
	g->pair_ns = 10;
	g->page_ns = 1000;
	assert_int_equal(inproc_drain_cost_ns(&drain), g->records / 2 * 10 + 1000);
	g->pair_ns = 0;
	g->page_ns = 0;
}

static void test_never_comes(void **state)
{
	uint64_t records = drain.records;

	(void)state;
	for (uint64_t i = at + 1; i < at + N; i++)
		put(i, 2);
	run();
	assert_int_equal(drain.records, records + N - 1);
	assert_int_equal(drain.lost_records, 1);
	at += N;
	assert_int_equal(slots[0].tail, at);
}

/* A signal handler has jumped out of where a record and all its values were reserved. All of them
 * are given up at the same time. */
static void test_values_never_come(void **state)
{
	const uint64_t missing = INPROC_VALUES, records = drain.records, lost = drain.lost_records;
	struct inproc_seen *seen = &drain.regions.data[0].seen[0];

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		put(at + missing + i, 2);
	run();
	assert_int_equal(drain.records, records);
	assert_true(seen->missing_since_ns > 2000000000);
	seen->missing_since_ns -= 2000000000;
	run();
	assert_int_equal(drain.records, records + 4);
	assert_int_equal(drain.lost_records, lost + missing);
	at += missing + 4;
	assert_int_equal(slots[0].tail, at);
}

static void test_no_record(void **state)
{
	uint64_t records = drain.records, lost = drain.lost_records;

	(void)state;
	put(at, FUNCTIONS << 1); /* no function */
	put(at + 1, 2);
	rings[(at + 1) % N].cycles = 12345; /* before the recording */
	put(at + 2, 3);
	rings[(at + 2) % N].cycles = UINT64_MAX / 2; /* in years */
	put(at + 3, 2);
	run();
	assert_int_equal(drain.records, records + 1);
	assert_int_equal(drain.lost_records, lost + 3);
	at += 4;
}

static void test_own_losses(void **state)
{
	uint64_t lost = drain.lost_records;

	(void)state;
	slots[0].lost += 17;
	put(at++, 3);
	run();
	run();
	assert_int_equal(drain.lost_records, lost + 17);
}

/* A thread that ends while a record is missing leaves nothing behind in its slot. */
static void test_ended_thread(void **state)
{
	uint64_t records = drain.records, lost = drain.lost_records;
	pid_t child = fork();

	(void)state;
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	slots[1].tid = slots[1].pid = (uint32_t)child;
	slots[1].state = INPROC_LIVE;
	put_into(1, 0, 2);
	put_into(1, 3, 2);
	put_into(1, 4, 3);
	for (int i = 0; i < 1000 && slots[1].state != INPROC_FREE; i++)
		run();
	assert_int_equal(slots[1].state, INPROC_FREE);
	assert_int_equal(slots[1].tail, 5);
	assert_int_equal(drain.records, records + 3);
	assert_int_equal(drain.lost_records, lost + 2);
}

/* A record that cannot be read counts as lost if it was made before the recording ended. */
static void test_left_at_the_end(void **state)
{
	uint64_t lost = drain.lost_records;

	(void)state;
	put(at + 1, 2);
	put(at + 2, 3);
	run();
	put(at + 3, 2);
	inproc_drain_finish(&drain, clock_now_ns());
	assert_int_equal(drain.lost_records, lost + 3);
	put(at, 2);
	run();
	run();
	at += 4;
	assert_int_equal(slots[0].tail, at);
}

/* Calls that are summed up were read, too. */
static void test_summed_up(void **state)
{
	(void)state;
	slots[0].lost += drain.records;
	run();
	assert_true(inproc_drain_lost_most(&drain));
	inproc_sum_up_shorter(&drain, 60000000000);
	for (uint64_t read = 0; read < drain.lost_records; read += N - 2) {
		for (uint64_t i = 0; i < N - 2; i++)
			put(at++, 2 + i % 2);
		run();
	}
	assert_true(drain.lost_records > drain.records);
	assert_false(inproc_drain_lost_most(&drain));
	keep_free(drain.keep);
	drain.keep = NULL;
}

/* Nothing that it writes ends the recorder, or keeps it busy for long. */
static void test_scribbled(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 64; i++) {
			uint32_t *words = (uint32_t *)&slots[i];

			for (size_t k = 0; k < sizeof(*slots) / 4; k++)
				words[k] = (uint32_t)rand_r(&seed) << (rand_r(&seed) % 32);
			slots[i].state = (uint32_t)rand_r(&seed) % 5;
			slots[i].pid = slots[i].tid = (uint32_t)getpid();
		}
		for (uint32_t i = 0; i < 64 * N; i++) {
			uint64_t now = clock_cycles();

			rings[i].what = (uint32_t)rand_r(&seed) % 16;
			rings[i].cycles = now + (uint64_t)rand_r(&seed) - (uint64_t)rand_r(&seed);
		}
		run();
	}
	for (uint32_t i = 0; i < 64; i++)
		slots[i].state = INPROC_FREE;
	inproc_drain_stop(&drain);
	run();
	inproc_drain_finish(&drain, clock_now_ns());
	assert_int_equal(drain.error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),	     cmocka_unit_test(test_first_pages),
		cmocka_unit_test(test_never_comes),  cmocka_unit_test(test_values_never_come),
		cmocka_unit_test(test_no_record),    cmocka_unit_test(test_own_losses),
		cmocka_unit_test(test_ended_thread), cmocka_unit_test(test_left_at_the_end),
		cmocka_unit_test(test_summed_up),    cmocka_unit_test(test_scribbled),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
