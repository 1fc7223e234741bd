/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the tests of stubs have in common on all machines (test_stub.c, test_stub_arm64.c): what is
 * recorded of made functions, whatever threads, signals and forks do. Included by each of them
 * once, which makes the functions.
 */
#ifndef ISPOT_TESTS_UNIT_STUBS_H
#define ISPOT_TESTS_UNIT_STUBS_H

#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/drain/stacks.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/stub.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/stamped.h"
#include "probes/select/arguments.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define RING	  4096u /* bytes: 256 records */
#define CODE	  8192u
#define FUNCTIONS 8
#define PERIOD	  5
#define REGION	  (INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES)
#define THREADS	  6
#define EACH	  20011
#define TRIED	  2003 /* calls whose registers are checked: some find the ring full, and some pass */

static struct inproc_drain drain;
static struct trace_writer *writer;
static char path[32];
static char *region, *blocks;
static struct blob_facts *in_code; /* the facts that the made functions' routines read */
static int (*made)(int);     /* returns its argument and one, and records that as function 3 */
static int (*frequent)(int); /* the same as function 0, which may be given up */
static int (*taken)(int);    /* the same as function 7, which takes a lock */
static int (*gated)(int);  /* calls itself n times; one call in PERIOD is recorded, as function 2 */
static void (*left)(bool); /* function 1: if true, raises a SIGTRAP that leaves it */
/* Return a + f; recorded as functions 4, with all arguments and what is returned, and 5, with the
 * first three arguments of some calls. */
typedef long sum_function(long a, long b, long c, long d, long e, long f);
static sum_function *valued, *sometimes;
static sum_function *placed; /* function 6: returns a; has two arguments and its call sites */
static _Atomic long in_handlers;
static sigjmp_buf before_call;

/* Makes the region and its drain. is_sampled: one call in several is recorded. */
static void begin_drain(bool is_sampled)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	int fd = memfd_create("region", 0), file;

	strcpy(path, "/tmp/ispot-unit.XXXXXX");
	file = mkstemp(path);
	assert_true(fd >= 0 && file >= 0);
	close(file);
	assert_int_equal(
		ftruncate(fd, REGION + INPROC_SLOTS * (RING + inproc_rows_bytes(FUNCTIONS))), 0);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, NULL, RING, writer);
	assert_int_equal(
		inproc_drain_add_stamped(&drain, fd, getpid(), RING, FUNCTIONS, is_sampled), 0);
	region = drain.regions.data[0].memory->start;
	close(fd);
}

/* All arguments are numbers of 8 bytes. */
static void begin_arguments(void)
{
	static struct arguments all = { .n = 7, .registers = 0x3f, .returns = true },
				some = { .n = 3, .registers = 7, .occasional = true },
				first = { .n = 1, .registers = 1 },
				places = { .n = 2, .registers = 3, .caller = true };

	memset(all.bytes, 8, sizeof(all.bytes));
	memset(some.bytes, 8, sizeof(some.bytes));
	memset(first.bytes, 8, sizeof(first.bytes));
	memset(places.bytes, 8, sizeof(places.bytes));
	inproc_drain_count_functions(&drain, FUNCTIONS);
	drain.arguments[2] = &first;
	drain.arguments[4] = &all;
	drain.arguments[5] = &some;
	drain.arguments[6] = &places;
}

/* Makes the threads' blocks, which are so large together. */
static void begin_blocks(size_t bytes)
{
	blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(blocks, MAP_FAILED);
	assert_int_equal(madvise(blocks, bytes, MADV_WIPEONFORK), 0);
}

static int end(void **state)
{
	(void)state;
	inproc_drain_release(&drain);
	memset(&drain, 0, sizeof(drain));
	trace_writer_close(writer, NULL);
	return unlink(path);
}

/* Calls that were read, and records that were lost, since the last look. */
static void read_all(uint64_t *calls, uint64_t *lost)
{
	uint64_t calls_before = drain.calls, lost_before = drain.lost_records;

	usleep(1000); /* what is newer than a look at the clocks is left for the next */
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(inproc_drain_run(&drain), 0);
	*calls = drain.calls - calls_before;
	*lost = drain.lost_records - lost_before;
}

/* Lets another thread check, which returns what is wrong, or NULL. */
static void check_in_thread(void *(*check)(void *), void *with)
{
	pthread_t other;
	void *wrong;

	assert_int_equal(pthread_create(&other, NULL, check, with), 0);
	assert_int_equal(pthread_join(other, &wrong), 0);
	assert_null(wrong);
}

static void test_counts(void **state)
{
	uint64_t calls, lost;

	(void)state;
	for (int i = 0; i < 101; i++)
		assert_int_equal(made(i), i + 1);
	read_all(&calls, &lost);
	assert_int_equal(calls, 101);
	assert_int_equal(lost, 0);
}

static void test_loss_is_counted(void **state)
{
	uint64_t calls, lost;

	(void)state;
	for (int i = 0; i < 1009; i++)
		made(i);
	read_all(&calls, &lost);
	assert_int_equal(calls, RING / sizeof(struct inproc_stamp) / 2);
	assert_int_equal(2 * calls + lost, 2 * 1009);
	for (int i = 0; i < 11; i++)
		made(i);
	read_all(&calls, &lost);
	assert_int_equal(calls, 11);
	assert_int_equal(lost, 0);
}

static void *call_and_read(void *unused)
{
	uint64_t calls, lost;

	(void)unused;
	for (int n = 0; n < 3; n++) {
		for (int i = 0; i < 1009; i++)
			made(i);
		read_all(&calls, &lost);
		if (calls != RING / 4 / sizeof(struct inproc_stamp) / 2 ||
		    2 * calls + lost != 2 * 1009)
			return "not as many calls as a quarter of the ring has room for";
	}
	return NULL;
}

/* The threads of later slots use only a part of their rings at a time. */
static void test_uses_a_part(void **state)
{
	const struct blob_facts before = *in_code;

	(void)state;
	in_code->small_from = (uintptr_t)region + INPROC_PAGE;
	in_code->small_bytes = RING / 4;
	check_in_thread(call_and_read, NULL);
	*in_code = before;
}

static void *call_often(void *n)
{
	for (int i = 0; i < (int)(intptr_t)n; i++)
		if (frequent(i) != i + 1)
			return "a wrong result";
	return NULL;
}

/* Called in a new thread, which may pass what its creator passes until it has a block. */
static void *call_often_after_another(void *n)
{
	made(1);
	return call_often(n);
}

/* A thread that finds its ring full for so many calls of a function records none of it any more,
 * and loses no more records. Other functions, and other threads, go on. */
static void test_passes_what_is_called_too_often(void **state)
{
	uint64_t calls, lost;

	(void)state;
	assert_false(inproc_stamped_passes(&drain, 0));
	assert_null(call_often((void *)10007));
	read_all(&calls, &lost);
	assert_int_equal(calls, RING / sizeof(struct inproc_stamp) / 2);
	assert_int_equal(lost, 2 * BLOCK_MISSES_MOST - 1);
	assert_true(inproc_stamped_passes(&drain, 0));
	assert_false(inproc_stamped_passes(&drain, 3));
	assert_null(call_often((void *)11));
	assert_int_equal(made(1), 2);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1);
	assert_int_equal(lost, 0);
	check_in_thread(call_often_after_another, (void *)11);
	read_all(&calls, &lost);
	assert_int_equal(calls, 12);
	assert_int_equal(lost, 0);
}

static long shifted(long a)
{
	return (long)((unsigned long)a << 40);
}

static long call_valued(long a)
{
	return valued(a, -a, shifted(a), 3 * a, 5 * a, 7 * a);
}

/* Counts of records in the file that belong to the calls of one function. */
struct written {
	uint64_t entries, exits, with_arguments, with_returned;
	uint64_t wrong; /* values that belong to different calls, or are not as they were */
};

static bool has_values_of_a_call(const struct record *r)
{
	const uint64_t a = r->values[1];

	return r->n_values == 7 && r->values[2] == -a && r->values[3] == (uint64_t)shifted(a) &&
	       r->values[4] == 3 * a && r->values[5] == 5 * a && r->values[6] == 7 * a;
}

static void add_written(struct written *w, const struct record *r, uint32_t id)
{
	static uint64_t sp;

	if (r->kind == REC_ENTRY || r->kind == REC_EXIT)
		sp = r->id == id ? r->sp : 0;
	w->entries += r->kind == REC_ENTRY && sp;
	w->exits += r->kind == REC_EXIT && sp;
	if (r->kind != REC_ARGS)
		return;
	if (r->values[0] == 1u << ARG_RETURN) {
		w->with_returned++;
		w->wrong += r->n_values != 2 || r->values[1] % 8;
	} else if (sp) {
		w->with_arguments++;
		w->wrong += id == 4 && !has_values_of_a_call(r);
	}
}

static struct written written_of(uint32_t id)
{
	struct written w = { 0 };
	struct trace_reader *r;
	struct record record;

	assert_int_equal(trace_writer_flush(writer, NULL), 0);
	if (trace_reader_open(&r, path, NULL) == -ENODATA) /* no record yet */
		return w;
	while (trace_reader_next(r, &record) > 0)
		add_written(&w, &record, id);
	trace_reader_free(r);
	return w;
}

#define AT_A_TIME 50 /* calls, for which the ring has room */
#define MOST	  20000

/* Returns NULL if the thread records this many calls of the frequent function before it passes the
 * rest, or passes none. */
static void *call_with_budget(void *range)
{
	const uint64_t *least_most = range;
	uint64_t sum = 0;

	made(1);
	while (sum < MOST && !inproc_stamped_passes(&drain, 0)) {
		uint64_t calls, lost;

		call_often((void *)AT_A_TIME);
		read_all(&calls, &lost);
		sum += calls;
	}
	return sum >= least_most[0] && sum <= least_most[1] ? NULL : "too few or too many";
}

/* A thread that has used up its budget gives up what is called most, and loses nothing. A function
 * gets BLOCK_STRETCH misses at the end of about every second stretch. */
static void test_keeps_budget(void **state)
{
	uint64_t passed[] = { BLOCK_MISSES_MOST / BLOCK_STRETCH * BLOCK_STRETCH_LEAST / 2,
			      MOST / 2 },
		 none[] = { MOST, UINT64_MAX };
	const struct blob_budget before = in_code->budget;
	const struct written was = written_of(0);
	struct written w;

	(void)state;
	memset(region + INPROC_PASSED_AT, 0, INPROC_PASSED_IDS / 8);
	in_code->budget = (struct blob_budget){ 1, 1ull << 40, 1ull << 40, 1ull << 40 };
	check_in_thread(call_with_budget, none);
	in_code->budget = (struct blob_budget){ 1ull << 50, 1, 1, 1 };
	check_in_thread(call_with_budget, passed);
	assert_false(inproc_stamped_passes(&drain, 3));
	in_code->budget = before;
	w = written_of(0);
	assert_true(w.entries > was.entries);
	assert_int_equal(w.exits - was.exits, w.entries - was.entries);
}

static void *call_both(void *unused)
{
	(void)unused;
	for (int n = 0; n < MOST && !inproc_stamped_passes(&drain, 0); n += AT_A_TIME) {
		uint64_t calls, lost;

		for (int i = 0; i < AT_A_TIME / 2; i++)
			if (frequent(i) != i + 1 || taken(i) != i + 1)
				return "a wrong result";
		read_all(&calls, &lost);
	}
	return !inproc_stamped_passes(&drain, 0)  ? "nothing was given up"
	       : inproc_stamped_passes(&drain, 7) ? "the lock was given up first"
						  : NULL;
}

/* Where all functions are called as often, those that take locks are given up last. */
static void test_gives_locks_up_last(void **state)
{
	const struct blob_budget before = in_code->budget;

	(void)state;
	memset(region + INPROC_PASSED_AT, 0, INPROC_PASSED_IDS / 8);
	in_code->budget = (struct blob_budget){ 1ull << 50, 1, 1, 1 };
	check_in_thread(call_both, NULL);
	in_code->budget = before;
}

static void *many(void *unused)
{
	for (int i = 0; i < EACH; i++)
		if (made(i) != i + 1)
			return "a wrong result";
	return unused;
}

static void on_alarm(int number)
{
	(void)number;
	made(1);
	in_handlers++;
}

/* The recorder reads meanwhile: what it read and what was lost is all that was made. */
static void test_threads_and_signals(void **state)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	uint64_t calls, lost, records_before = drain.records, lost_before = drain.lost_records;
	pthread_t threads[THREADS];
	void *wrong;

	(void)state;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, NULL), 0);
	for (int i = 0; i < 50; i++)
		read_all(&calls, &lost);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	/* a record whose ring was full while a handler reserved another one counts after a second
	 */
	for (int i = 0; i < 30; i++) {
		read_all(&calls, &lost);
		lost = drain.lost_records - lost_before;
		if (drain.records - records_before + lost ==
		    2 * (uint64_t)(THREADS * EACH + in_handlers))
			return;
		usleep(100000);
	}
	assert_int_equal(drain.records - records_before + lost, 2 * (THREADS * EACH + in_handlers));
}

static void test_forked(void **state)
{
	uint64_t calls, lost;
	int status;
	pid_t child;

	(void)state;
	made(0);
	child = fork();
	if (!child) {
		for (int i = 0; i < 53; i++)
			made(i);
		_exit(0);
	}
	for (int i = 0; i < 59; i++)
		made(i);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1 + 53 + 59);
	assert_int_equal(lost, 0);
}

/* ---- arguments ---- */

static __attribute__((noinline)) long call_here(long a)
{
	return placed(a, 10 * a, 0, 0, 0, 0) + 1;
}

static __attribute__((noinline)) long call_there(long a)
{
	return placed(a, 11 * a, 0, 0, 0, 0) + 2;
}

static bool is_in(uint64_t address, long (*small)(long))
{
	return address - (uintptr_t)small < 128;
}

/* A call has the place from which it came, whatever the stack is where the function is patched. */
static void test_callers(void **state)
{
	const struct written before = written_of(6);
	struct drain_stacks sites;
	uint64_t calls, lost;
	struct written w;

	(void)state;
	drain_stacks_init(&sites, writer);
	drain.sites = &sites;
	for (long a = 1; a <= 20; a++) {
		assert_int_equal(call_here(a), a + 1);
		assert_int_equal(call_there(a), a + 2);
	}
	read_all(&calls, &lost);
	w = written_of(6);
	drain.sites = NULL;
	assert_int_equal(calls, 40);
	assert_int_equal(lost, 0);
	assert_int_equal(w.entries - before.entries, 0); /* each is an entry of its site */
	assert_int_equal(w.exits - before.exits, 40);
	assert_int_equal(written_of(SITE_ID_FIRST).entries, 20);
	assert_int_equal(written_of(SITE_ID_FIRST).with_arguments, 20);
	assert_int_equal(written_of(SITE_ID_FIRST + 1).entries, 20);
	assert_int_equal(sites.n_new, 2);
	assert_true(is_in(sites.new[0].frames[0], call_here));
	assert_true(is_in(sites.new[1].frames[0], call_there));
	assert_false(sites.new[0].from_call);
	drain_stacks_release(&sites);
}

static void test_values(void **state)
{
	const struct written before = written_of(4);
	uint64_t calls, lost;
	struct written w;

	(void)state;
	for (long i = 0; i < 300; i++) {
		const long a = i % 3 ? i : -i; /* zero, negative ones, more than 32 bits */

		assert_int_equal(call_valued(a), 8 * a);
		if (i % 20 == 19) {
			read_all(&calls, &lost);
			assert_int_equal(calls, 20);
			assert_int_equal(lost, 0);
		}
	}
	w = written_of(4);
	assert_int_equal(w.wrong,
			 before.wrong); /* those of test_registers_with_values() are others */
	assert_int_equal(w.entries - before.entries, 300);
	assert_int_equal(w.exits - before.exits, 300);
	assert_int_equal(w.with_arguments - before.with_arguments, 300);
	assert_int_equal(w.with_returned - before.with_returned, 300);
}

static void test_values_of_a_full_ring(void **state)
{
	const uint64_t most = RING / sizeof(struct inproc_stamp) / 9; /* records of a call */
	const struct written before = written_of(4);
	uint64_t calls, lost, records = drain.records, without = drain.without_values;
	struct written w;

	(void)state;
	for (long i = 0; i < 1009; i++)
		assert_int_equal(call_valued(i), 8 * i);
	read_all(&calls, &lost);
	assert_in_range(drain.without_values - without, calls - most, 2 * (calls - most));
	assert_int_equal(drain.records - records + lost, 2 * 1009);
	w = written_of(4);
	assert_int_equal(w.wrong, before.wrong);
	assert_int_equal(w.with_arguments - before.with_arguments, most);
	assert_in_range(calls, most + 1, most + 2); /* the last ones had no room for values */
}

/* A thread's first calls have their values, and later one in 16, whatever its other calls are. */
static void *call_sometimes(void *unused)
{
	(void)unused;
	for (long i = 0; i < 16000; i++) {
		uint64_t calls, lost;

		if (sometimes(i, 1, 2, 3, 4, 5) != i + 5)
			return "a wrong result";
		if (i % 40 == 39)
			read_all(&calls, &lost);
	}
	return NULL;
}

static void test_values_of_some_calls(void **state)
{
	struct written w;

	(void)state;
	check_in_thread(call_sometimes, NULL);
	w = written_of(5);
	assert_int_equal(w.entries, 16000);
	/* of 4,096 records at first 5 a call */
	assert_in_range(w.with_arguments, 819 + 15181 / 18, 820 + 15181 / 14);
}

/* ---- one call in several ---- */

static const struct inproc_row *row_of(uint32_t slot)
{
	return (const struct inproc_row *)(region + REGION + INPROC_SLOTS * RING +
					   slot * inproc_rows_bytes(FUNCTIONS)) +
	       2;
}

/* Twice the calls that were made: those left out, and the records of the others, lost ones too. */
static uint64_t accounted(void)
{
	uint64_t sum = 2 * drain.regions.data[0].passed + drain.records + drain.lost_records;

	for (uint32_t i = 0; i < 64; i++)
		sum += 2 * (row_of(i)->calls - row_of(i)->recorded);
	return sum;
}

static void test_gate_counts(void **state)
{
	uint64_t calls, lost, before = accounted(), recorded = row_of(0)->recorded;

	(void)state;
	for (int i = 0; i < 102; i++)
		assert_int_equal(gated(0), 0);
	read_all(&calls, &lost);
	assert_in_range(calls, 20, 21); /* one of each 5 */
	assert_int_equal(row_of(0)->recorded - recorded, calls);
	assert_int_equal(accounted() - before, 2 * 102);
	assert_int_equal(row_of(0)->inner, 0);
}

static void test_gate_of_recursion(void **state)
{
	uint64_t calls, lost, before = accounted(), inner = row_of(0)->inner;

	(void)state;
	for (int i = 0; i < 51; i++)
		assert_int_equal(gated(3), 6);
	assert_int_equal(row_of(0)->inner - inner, 3 * 51);
	assert_in_range(row_of(0)->inner_recorded, 1, 3 * 51 / 2);
	read_all(&calls, &lost);
	assert_int_equal(accounted() - before, 2 * 4 * 51);
	for (int i = 0; i < 5; i++) /* deeper than what a thread keeps of them */
		assert_int_equal(gated(99), 4950);
	read_all(&calls, &lost);
	assert_int_equal(accounted() - before, 2 * (4 * 51 + 500));
	gated(0);
	assert_int_equal(row_of(0)->inner - inner, 3 * 51 + 495);
}

static void leave_call(int number)
{
	siglongjmp(before_call, number);
}

/* A recorded call that was left has no exit, even if a call that is not recorded has its stack
 * pointer. */
static void test_gate_of_left_calls(void **state)
{
	const struct inproc_row *row = row_of(0) - 1; /* of function 1 */
	uint64_t calls, lost, records = drain.records;
	volatile uint64_t recorded, n_left = 0;

	(void)state;
	signal(SIGTRAP, leave_call);
	for (volatile int i = 0; i < 50; i++) {
		recorded = row->recorded;
		if (!sigsetjmp(before_call, 1))
			left(true);
		n_left += row->recorded - recorded;
		for (int k = 0; k < 9; k++)
			left(false);
	}
	signal(SIGTRAP, SIG_DFL);
	read_all(&calls, &lost);
	assert_int_equal(lost, 0);
	assert_int_equal(row->recorded, calls);
	assert_int_equal(drain.records - records, 2 * calls - n_left);
}

static void *many_gated(void *unused)
{
	for (int i = 0; i < EACH; i++)
		if (gated(i % 3) != (i % 3) * (i % 3 + 1) / 2)
			return "a wrong result";
	return unused;
}

static void on_gated_alarm(int number)
{
	(void)number;
	gated(0);
	in_handlers++;
}

static void test_gate_of_threads_forks_signals(void **state)
{
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	uint64_t calls, lost, wanted, before = accounted();
	pthread_t threads[THREADS];
	int status;
	pid_t child;

	(void)state;
	in_handlers = 0;
	signal(SIGALRM, on_gated_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many_gated, NULL), 0);
	child = fork(); /* which has no timer */
	if (!child)
		_exit(many_gated(NULL) ? 1 : 0);
	for (int i = 0; i < 50; i++)
		read_all(&calls, &lost);
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		assert_int_equal(pthread_join(threads[i], &wrong), 0);
		assert_null(wrong);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	wanted = 2 * (2 * EACH * (THREADS + 1) - (THREADS + 1) + (uint64_t)in_handlers);
	/* a record whose ring was full while a handler reserved another one counts after a second
	 */
	for (int i = 0; i < 30 && (!i || accounted() - before != wanted); i++) {
		usleep(i ? 100000 : 0);
		read_all(&calls, &lost);
	}
	assert_int_equal(accounted() - before, wanted);
}

/* A program that has locked itself up: what takes system calls is not done, and counted. */
static void test_sealed(void **state)
{
	struct inproc_header *h = (struct inproc_header *)region;
	uint64_t calls, lost, before = h->without_ring;

	(void)state;
	made(0);
	read_all(&calls, &lost);
	inproc_stamped_seal(&drain.regions.data[0]);
	check_in_thread(many, NULL);
	assert_int_equal(h->without_ring - before, 2 * EACH);
	made(1);
	read_all(&calls, &lost);
	assert_int_equal(calls, 1);
	h->recording = 1;
}

#endif
