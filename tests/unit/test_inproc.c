/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In-process producers: what one writes into its region is what the file has, losses included. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/region.h"
#include "probes/inproc/whose.h"
#include "probes/java/agent/count.h"
#include "probes/java/agent/ring.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

#define RECORDS 64 /* of a ring */

static char dir[] = "/tmp/ispot-unit.XXXXXX", own[64], path[64];
static struct inproc_drain drain;
static struct trace_writer *writer;

static int begin(void **state)
{
	const struct trace_writer_options o = { .path = path, .n_cpus = 1 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/trace", dir);
	assert_int_equal(trace_writer_open(&writer, &o, NULL), 0);
	inproc_drain_init(&drain, dir, RECORDS * sizeof(struct inproc_record), writer);
	snprintf(own, sizeof(own), "%s/%u", dir, geteuid());
	assert_int_equal(mkdir(own, 0700), 0);
	assert_null(ring_open(own, RECORDS * sizeof(struct inproc_record)));
	assert_non_null(ring_open(own, RECORDS * sizeof(struct inproc_record)));
	return 0;
}

static int end(void **state)
{
	char region[96];

	(void)state;
	snprintf(region, sizeof(region), "%s/%d" INPROC_SUFFIX, own, getpid());
	unlink(region);
	unlink(path);
	return rmdir(own) | rmdir(dir);
}

static void call(uint32_t id, uint64_t at_ns)
{
	struct ring_thread *t = ring_thread();

	ring_add(t, at_ns, INPROC_ENTRY, id, 0);
	ring_add(t, at_ns + 1, INPROC_EXIT, id, 0);
}

static void *other_thread(void *at_ns)
{
	call(1, (uintptr_t)at_ns);
	return NULL;
}

static void test_merged(void **state)
{
	pthread_t other;

	(void)state;
	assert_true(ring_recording());
	assert_true(ring_name(0, INPROC_FUNCTION, 12, "a.B.c()", "()V", "B.java"));
	assert_true(ring_name(1, INPROC_BLOCK, 14, "a.B.c() block:14", "()V", "B.java"));
	assert_true(ring_name(0, INPROC_LEFT, 0, "a.B.d()", "", "it is native"));
	call(0, 1000);
	assert_int_equal(pthread_create(&other, NULL, other_thread, (void *)1500), 0);
	pthread_join(other, NULL);
	call(0, 2000);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.calls, 3);
	assert_int_equal(drain.records, 6);
	assert_int_equal(drain.functions.n, 2);
	assert_int_equal(drain.left.data[0].n, 1);
	assert_string_equal(drain.left.data[0].first, "a.B.d()");
	/* the ring of the thread that has ended is free again */
	assert_int_equal(drain.regions.data[0].slots[1].state, INPROC_FREE);
}

static void test_overflow_is_counted(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 500; i++)
		call(0, 3000 + 2 * i);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.records, 6 + RECORDS);
	assert_true(drain.busy);
	call(1, 5000);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.records, 6 + RECORDS + 2);
	assert_int_equal(drain.lost_records, 1000 - RECORDS);
}

/* A run ends, whatever is in the rings: the next one goes on with the rest. */
static void test_a_run_has_an_end(void **state)
{
	pthread_t other;

	(void)state;
	assert_int_equal(inproc_drain_run(&drain), 0);
	drain.run_records = 3;
	call(0, 6000);
	assert_int_equal(pthread_create(&other, NULL, other_thread, (void *)6001), 0);
	pthread_join(other, NULL);
	call(0, 6010);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.records, 6 + RECORDS + 2 + 3);
	assert_true(drain.behind && drain.busy);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.records, 6 + RECORDS + 2 + 6);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_false(drain.behind);
	drain.run_records = UINT64_MAX;
}

/* Names take so much memory and no more. */
static void test_names_have_an_end(void **state)
{
	uint64_t most = drain.names_bytes_max;

	(void)state;
	drain.names_bytes_max = drain.names_bytes + 1000;
	for (uint32_t i = 2; i < 100; i++)
		assert_true(ring_name(i, INPROC_FUNCTION, i, "a.B.f()", i % 2 ? "()I" : "()V", ""));
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_in_range(drain.regions.data[0].ids.n, 4, 60);
	assert_in_range(drain.names_bytes, drain.names_bytes_max, drain.names_bytes_max + 1000);
	drain.names_bytes_max = most;
}

/* A region's words are a few, printable, and said to be its own. */
static void test_notices_have_an_end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 30; i++)
		assert_true(ring_name(0, INPROC_NOTICE, 0, "pay me\033[2J", "", ""));
	assert_int_equal(inproc_drain_run(&drain), 0);
}

static void test_pause_and_wait(void **state)
{
	struct ring_thread *t = ring_thread();

	(void)state;
	ring_add(t, 8000, INPROC_PAUSE, 0, 0);
	ring_add(t, 8500, INPROC_RESUMED, 0, 0);
	ring_add(t, 8600, INPROC_WAITED, 4, 0);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.pauses, 1);
	assert_int_equal(drain.pause_ns, 500);
	assert_int_equal(drain.waited, 1);
}

/* A stack is told before the exit that it is of; a call without an end is ended from above its
 * frame. */
static void test_stacks_and_ends(void **state)
{
	struct ring_thread *t = ring_thread();

	(void)state;
	assert_true(ring_name(0, INPROC_FRAME, 33, "a.B.c()", "", "B.java"));
	assert_true(ring_name(1, INPROC_FRAME, 20, "a.Main.run()", "", "Main.java"));
	assert_true(ring_name(1, INPROC_FRAMES, 0, "0 1", "", ""));
	assert_true(
		ring_name(2, INPROC_FRAMES, 0, "0 7", "", "")); /* of a frame that is not there */
	ring_add(t, 8700, INPROC_ENTRY, 0, 0);
	ring_add(t, 8800, INPROC_STACK, 2, 0);
	ring_add(t, 8800, INPROC_STACK, 1, 0);
	ring_add(t, 8800, INPROC_EXIT, 0, 0);
	ring_add(t, 8810, INPROC_ENTRY, 0, 0);
	ring_add(t, 8820, INPROC_GONE, 0, 0);
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.n_stacks, 1);
}

/* By what the producer says of a call, lost ones included. */
static void test_cost(void **state)
{
	uint64_t more_ns;

	(void)state;
	assert_true(inproc_drain_cost_ns(&drain) == UINT64_MAX);
	ring_costs(100, &(struct inproc_cost){ 30, 40, 90, 50, 4000 });
	/* the rings' memory */
	more_ns = inproc_drain_cost_ns(&drain) - (6 + 1000 + 2 + 6 + 4) / 2 * 100;
	assert_in_range(more_ns, 1, 1000000000);
	ring_costs_more(7);
	assert_int_equal(inproc_drain_cost_ns(&drain),
			 (6 + 1000 + 2 + 6 + 4) / 2 * 100 + more_ns + 7);
	assert_int_equal(inproc_drain_unnamed(&drain), 0);
	ring_unnamed();
	assert_int_equal(inproc_drain_unnamed(&drain), 1);
}

/* A wait for a lock is a call, with the lock and the place; that one was held is a record. */
static void test_locks(void **state)
{
	struct ring_thread *t = ring_thread();

	(void)state;
	assert_true(ring_name(1, INPROC_LOCK, 0, "a.B@1f", "", ""));
	assert_true(ring_name(7, INPROC_LOCK, 0, "not the next", "", ""));
	assert_true(ring_name(2, INPROC_FRAMES, 1, "0 1", "", ""));
	ring_add(t, 8830, INPROC_AWAITS, 2, 1);
	ring_add(t, 8840, INPROC_TOOK, 0, 1);
	ring_add(t, 8850, INPROC_AWAITS, 99, 7);
	ring_add(t, 8860, INPROC_TOOK, 0, 7);
	ring_add(t, 8870, INPROC_HELD, 3, 1);
	ring_add(t, 8880, INPROC_HELD, 3, INPROC_LOCKS_MAX + 1); /* there is no such lock */
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.n_stacks, 3);
	assert_int_equal(drain.regions.data[0].n_locks, 1);
}

#define BEYOND_32 ((uint64_t)3 << 32)

/* What a counter says is 44 bits wide in a ring, and the file has it behind its call. A number of
 * none is passed over, and a ring that lost some has all of them again. */
static void test_counts(void **state)
{
	const uint64_t values[INPROC_COUNTS_MAX] = { 7, 5 + BEYOND_32 };
	struct ring_thread *t = ring_thread();

	(void)state;
	count_add("task 2");
	count_add("task 0");
	assert_true(count_any());
	drain.n_counts = 2;
	count_write(t, &t->counts, 8881, values);
	ring_add(t, 8881, INPROC_COUNT, 1, INPROC_COUNTS_MAX);
	ring_add(t, 8881, INPROC_ENTRY, 0, 0);
	count_write(t, &t->counts, 8882, (const uint64_t[INPROC_COUNTS_MAX]){ 7, 9 + BEYOND_32 });
	ring_add(t, 8882, INPROC_EXIT, 0, 0);
	count_write(t, &t->counts, 8883, (const uint64_t[INPROC_COUNTS_MAX]){ 7, 9 + BEYOND_32 });
	ring_add(t, 8883, INPROC_ENTRY, 0, 0);
	ring_add(t, 8884, INPROC_EXIT, 0, 0);
	assert_int_equal(inproc_drain_run(&drain), 0);
}

/* A thread's own page faults grow by the pages that it touches. */
static void test_own_counts(void **state)
{
	enum { PAGES = 64 };
	uint64_t before[INPROC_COUNTS_MAX], after[INPROC_COUNTS_MAX];
	struct count_thread c = { 0 };
	char *pages = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	(void)state;
	assert_true(pages != MAP_FAILED);
	madvise(pages, PAGES * 4096, MADV_NOHUGEPAGE);
	assert_true(count_read(&c, before));
	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	assert_true(count_read(&c, after));
	assert_in_range(after[0] - before[0], PAGES, PAGES + 16);
	assert_in_range(after[1] - before[1], PAGES, PAGES + 16);
	munmap(pages, PAGES * 4096);
	count_release(&c);
}

/* Where the kernel's records are beside these, they say when threads end, and under which number.
 */
static void test_beside_the_kernels(void **state)
{
	unsigned looks = 1;
	pthread_t other;

	(void)state;
	drain.kernel_has_ends = true;
	assert_int_equal(pthread_create(&other, NULL, other_thread, (void *)8890), 0);
	pthread_join(other, NULL);
	assert_int_equal(inproc_drain_run(&drain), 0);
	drain.kernel_has_ends = false;
	assert_int_equal(inproc_thread_of(getpid(), getpid(), &looks), getpid());
	assert_int_equal(looks, 0);
	assert_int_equal(inproc_thread_of(getpid(), 7, &looks), 7); /* no look is left */
}

/* A region whose rings are not of the size that the recorder asked for is none. */
static void test_other_ring_size(void **state)
{
	struct inproc_drain other;

	(void)state;
	inproc_drain_init(&other, dir, 2 * RECORDS * sizeof(struct inproc_record), writer);
	inproc_find_regions(&other);
	assert_int_equal(other.refused_regions, 1);
	assert_null(other.regions.data[0].shared);
	inproc_drain_release(&other);
}

/* ---- whose a region is ---- */

/* A process with a region of its own, in a PID namespace if that is wanted, until the pipe is
 * closed; as: the number that it gives itself in the file's name, 0: its own. */
static pid_t start_machine(int wait_on, int ready, bool inside, pid_t as)
{
	char said[96], made[96], c;
	pid_t pid;

	if (inside && unshare(CLONE_NEWPID))
		return -1;
	pid = fork();
	if (pid)
		return pid;
	snprintf(made, sizeof(made), "%s/%d" INPROC_SUFFIX, own, getpid());
	snprintf(said, sizeof(said), "%s/%d" INPROC_SUFFIX, own, as ? as : getpid());
	if (ring_open(own, RECORDS * sizeof(struct inproc_record)) || rename(made, said) ||
	    write(ready, "", 1) != 1)
		_exit(1);
	if (read(wait_on, &c, 1) < 0)
		_exit(1);
	unlink(said);
	_exit(0);
}

static pid_t found_as(pid_t named, bool *is_checked)
{
	struct inproc_drain other;
	pid_t pid = 0;

	inproc_drain_init(&other, dir, RECORDS * sizeof(struct inproc_record), writer);
	inproc_find_regions(&other);
	vec_for_each (&other.regions, const struct inproc_region, g)
		if (g->named == named) {
			pid = g->pid;
			*is_checked = g->is_checked;
		}
	inproc_drain_release(&other);
	return pid;
}

static void check_machine(bool inside, pid_t as, bool is_known)
{
	int go[2], ready[2];
	bool is_checked = !is_known;
	pid_t pid, found;
	char c;

	assert_int_equal(pipe(go) | pipe(ready), 0);
	pid = fork(); /* so that the namespace is that process's children's only */
	if (!pid) {
		close(go[1]);
		waitpid(start_machine(go[0], ready[1], inside, as), NULL, 0);
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	found = found_as(1, &is_checked);
	assert_int_equal(is_checked, is_known);
	assert_true(is_known ? found > pid : found == 1); /* it was started last */
	close(ready[0]);
	close(go[1]);
	waitpid(pid, NULL, 0);
}

/* The number that a program says is another one here, or another program's. */
static void test_whose_it_is(void **state)
{
	bool is_checked = false;

	(void)state;
	assert_int_equal(found_as(getpid(), &is_checked), getpid());
	assert_true(is_checked);
	check_machine(false, 1, false);
	if (!geteuid())
		check_machine(true, 0, true);
}

/* Whether its process is found, once that user's time is used up. */
static bool is_found_without_time_of(uid_t user)
{
	struct inproc_drain other;
	bool found;

	inproc_drain_init(&other, dir, RECORDS * sizeof(struct inproc_record), writer);
	inproc_quota_of(&other, user)->maps_ns = 0;
	inproc_find_regions(&other);
	assert_int_equal(other.regions.n, 1);
	found = other.regions.data[0].is_checked;
	inproc_drain_release(&other);
	return found;
}

/* Without time left no process is looked at, not even the one that the region names. Another user
 * who has used up the time takes none from this one. */
static void test_looks_have_an_end(void **state)
{
	(void)state;
	assert_false(is_found_without_time_of(getuid()));
	assert_true(is_found_without_time_of(getuid() + 1));
}

/* Of a user so many rings are read, and no more: what is in the others counts as lost. */
static void test_rings_have_an_end(void **state)
{
	const struct trace_writer_options o = { .path = "/dev/null", .n_cpus = 1 };
	struct inproc_slot *slots = drain.regions.data[0].slots;
	struct trace_writer *to_nowhere = NULL;
	struct inproc_drain other;

	(void)state;
	assert_int_equal(trace_writer_open(&to_nowhere, &o, NULL), 0);
	slots[1].tid = slots[2].tid = 1;
	slots[1].head = slots[2].head = 3;
	slots[1].tail = slots[2].tail = 3;
	slots[1].lost = slots[2].lost = 0;
	inproc_drain_init(&other, dir, RECORDS * sizeof(struct inproc_record), to_nowhere);
	inproc_quota_of(&other, geteuid())->rings_left = 2;
	assert_int_equal(inproc_drain_run(&other), 0);
	assert_int_equal(other.regions.data[0].n_rings, 2);
	assert_int_equal(inproc_quota_of(&other, geteuid())->rings_left, 0);
	inproc_drain_finish(&other, 1);
	assert_int_equal(other.unread_rings, 1);
	assert_int_equal(other.lost_records, slots[0].lost + 3);
	inproc_drain_release(&other);
	assert_int_equal(trace_writer_close(to_nowhere, NULL), 0);
	slots[1].tid = slots[2].tid = 0;
}

/* Of a user so many regions are read; that there is another one is counted once. */
static void test_regions_have_an_end(void **state)
{
	struct inproc_drain other;
	const uid_t user = geteuid();

	(void)state;
	inproc_drain_init(&other, dir, RECORDS * sizeof(struct inproc_record), writer);
	inproc_quota_of(&other, user)->regions_left = 1;
	inproc_find_regions(&other);
	inproc_find_regions(&other);
	assert_int_equal(other.regions.n, 1); /* it is known: there is no other */
	assert_false(inproc_quota_of(&other, user)->is_full);
	assert_int_equal(other.refused_regions, 0);
	inproc_drain_release(&other);
	inproc_drain_init(&other, dir, RECORDS * sizeof(struct inproc_record), writer);
	inproc_quota_of(&other, user)->regions_left = 0;
	inproc_find_regions(&other);
	inproc_find_regions(&other);
	assert_int_equal(other.regions.n, 0);
	assert_true(inproc_quota_of(&other, user)->is_full);
	assert_int_equal(other.refused_regions, 1);
	assert_int_equal(other.full_users, 1);
	inproc_drain_release(&other);
}

/* What a program writes over its region harms the recording at most. */
static void test_damaged_region(void **state)
{
	struct inproc_region *g = &drain.regions.data[0];
	uint64_t before = drain.records;

	(void)state;
	/* lost, and no record follows that tells */
	for (unsigned i = 0; i < RECORDS / 2 + 1; i++)
		call(0, 9000 + 2 * i);
	assert_int_equal(inproc_drain_run(&drain), 0);
	before += RECORDS;
	assert_int_equal(drain.records, before);
	g->slots[0].head = g->slots[0].tail + (1ull << 40);
	g->shared->names_end = UINT64_MAX;
	g->shared->ring_bytes = 1ull << 50;
	assert_int_equal(inproc_drain_run(&drain), 0);
	assert_int_equal(drain.records, before);
	inproc_drain_stop(&drain);
	inproc_drain_finish(&drain, 10000);
	assert_int_equal(drain.lost_records, 1000 - RECORDS + 2);
	assert_false(ring_recording());
}

static void check_lock(const struct meta *meta, const struct record *r)
{
	const uint64_t lock = 1ull << 32 | 1, unknown = 1ull << 32;

	assert_true(r->kind != REC_TASK_EXIT || r->time_ns < 8890);
	if (r->time_ns == 8830 && r->kind == REC_ENTRY)
		assert_true(meta->functions.data[r->id].contended_only);
	if (r->time_ns == 8830 && r->kind == REC_ARGS)
		assert_true(r->values[1] == lock && r->values[2] == 2);
	if (r->time_ns == 8830 && r->kind == REC_STACK)
		assert_int_equal(meta->stacks.data[r->values[0]].n_frames, 3);
	if (r->time_ns == 8850 && r->kind == REC_ARGS)
		assert_true(r->n_values == 2 && r->values[1] == unknown);
	if (r->kind == REC_HELD)
		assert_true(r->values[0] == (r->time_ns == 8870 ? lock : unknown) &&
			    r->values[1] == 3 * 256);
}

static void check_counts(const struct record *r)
{
	if (r->kind != REC_COUNTERS)
		return;
	if (r->time_ns == 8881)
		assert_true(r->values[0] == 3 && r->values[1] == 7 &&
			    r->values[2] == 5 + BEYOND_32);
	else
		assert_true(r->time_ns == 8882 && r->values[0] == 2 &&
			    r->values[1] == 9 + BEYOND_32);
}

static void test_file(void **state)
{
	uint64_t kinds[REC_KIND_LAST + 1] = { 0 }, ns = 0, lost = 0, last_ns = 0, gone_sp = 0;
	const struct meta *meta;
	struct trace_reader *r;
	struct record record;

	(void)state;
	inproc_drain_release(&drain);
	assert_int_equal(trace_writer_close(writer, NULL), 0);
	assert_int_equal(trace_reader_open(&r, path, NULL), 0);
	meta = trace_reader_meta(r);
	assert_string_equal(meta->functions.data[1].name, "a.B.c() block:14");
	assert_int_equal(meta->functions.data[1].line, 14);
	assert_true(meta->functions.data[1].holds_lock && !meta->functions.data[0].holds_lock);
	while (trace_reader_next(r, &record) > 0) {
		kinds[record.kind]++;
		check_lock(meta, &record);
		check_counts(&record);
		ns += record.kind == REC_PAUSE || record.kind == REC_CONTENDED ? record.values[0]
									       : 0;
		lost += record.kind == REC_LOST ? record.values[0] : 0;
		gone_sp = record.kind == REC_EXIT && record.time_ns == 8820 ? record.sp : gone_sp;
		assert_true(record_due_ns(&record) >= last_ns);
		last_ns = record_due_ns(&record);
	}
	assert_int_equal(kinds[REC_PAUSE] + kinds[REC_CONTENDED], 2);
	assert_int_equal(ns, 500 + 4 * 256);
	assert_int_equal(lost, 1000 - RECORDS + 2);
	assert_int_equal(kinds[REC_EXIT_STACK], 1);
	assert_int_equal(kinds[REC_ARGS], 2);
	assert_int_equal(kinds[REC_STACK], 1);
	assert_int_equal(kinds[REC_HELD], 2);
	assert_int_equal(kinds[REC_COUNTERS], 2);
	assert_int_equal(meta->calibrations.n, 1);
	assert_int_equal(meta->calibrations.data[0].inner_p50_ns, 40);
	assert_true(meta->calibrations.data[0].full_p50_ns == 100);
	assert_int_equal(meta->addresses.n, 1);
	assert_string_equal(meta->addresses.data[0].symbol, "a.B@1f");
	assert_int_equal(meta->stacks.data[1].n_frames, 2);
	assert_string_equal(meta->frames.data[meta->stacks.data[1].frames[1]].symbol,
			    "a.Main.run()");
	assert_int_equal(meta->notices.n, 1 + 11); /* the first is that of names */
	assert_non_null(strstr(meta->notices.data[1].text, "says: pay me"));
	assert_null(strchr(meta->notices.data[1].text, '\033'));
	assert_true(gone_sp > 0x7fff00000000);
	trace_reader_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_overflow_is_counted),
		cmocka_unit_test(test_a_run_has_an_end),
		cmocka_unit_test(test_names_have_an_end),
		cmocka_unit_test(test_notices_have_an_end),
		cmocka_unit_test(test_pause_and_wait),
		cmocka_unit_test(test_stacks_and_ends),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_own_counts),
		cmocka_unit_test(test_beside_the_kernels),
		cmocka_unit_test(test_other_ring_size),
		cmocka_unit_test(test_whose_it_is),
		cmocka_unit_test(test_looks_have_an_end),
		cmocka_unit_test(test_rings_have_an_end),
		cmocka_unit_test(test_regions_have_an_end),
		cmocka_unit_test(test_damaged_region),
		cmocka_unit_test(test_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
