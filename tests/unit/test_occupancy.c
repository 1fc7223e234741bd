/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who has a CPU, from a ring that is made up here as the kernel lays it out. */
#include "unit.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "probes/sample/occupancy.h"

#define BYTES 4096

static struct ring ring;
static struct occupancy_cpu cpu;
static struct occupancy occupancy;
static pid_t begun[8];
static unsigned n_begun;
static struct {
	pid_t pid;
	uint64_t start_ns, end_ns;
} ran[8];
static unsigned n_ran;

static void begin(void)
{
	ring = (struct ring){ .cpu = 3, .fd = -1, .data_bytes = BYTES };
	ring.map = xcalloc(1, sysconf(_SC_PAGESIZE) + BYTES);
	ring.bounce = xmalloc(RING_RECORD_MAX);
	cpu = (struct occupancy_cpu){ -1, 0 };
	occupancy = (struct occupancy){ .rings = { &ring, 1 }, .cpus = &cpu };
	n_begun = n_ran = 0;
}

static void end(void)
{
	free(ring.map);
	free(ring.bounce);
}

static void put(uint32_t type, uint16_t misc, const void *body, size_t n)
{
	struct perf_event_mmap_page *control = ring.map;
	struct perf_event_header h = { type, misc, (uint16_t)(sizeof(h) + n) };
	char *at = (char *)ring.map + sysconf(_SC_PAGESIZE) + control->data_head;

	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), body, n);
	control->data_head += h.size;
}

static void put_fork(uint32_t pid, uint32_t parent, uint32_t tid)
{
	const uint32_t body[] = { pid, parent, tid, parent, 0, 0 };

	put(PERF_RECORD_FORK, 0, body, sizeof(body));
}

static void put_switch(uint32_t from, uint32_t to, uint64_t time_ns)
{
	const struct {
		uint32_t next_pid, next_tid, pid, tid;
		uint64_t time_ns;
		uint32_t cpu, res;
	} body = { to, to, from, from, time_ns, 3, 0 };

	put(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, &body, sizeof(body));
}

static void see_ran(void *self, uint32_t on, pid_t pid, uint64_t start_ns, uint64_t end_ns)
{
	(void)self;
	assert_int_equal(on, 3);
	ran[n_ran].pid = pid;
	ran[n_ran].start_ns = start_ns;
	ran[n_ran++].end_ns = end_ns;
}

static void see_begin(void *self, pid_t pid)
{
	(void)self;
	begun[n_begun++] = pid;
}

static const struct occupancy_visitor visitor = { NULL, see_ran, see_begin };

/* A number that comes back is another process, which may never exec; a thread is none. */
static void a_process_begins_with_its_fork(void **state)
{
	begin();
	put_fork(11, 10, 11);
	put_fork(11, 11, 12);
	put(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, (uint32_t[]){ 13, 13, 0, 0 }, 16);
	put(PERF_RECORD_COMM, 0, (uint32_t[]){ 14, 14, 0, 0 }, 16);
	occupancy_read(&occupancy, &visitor);
	assert_int_equal(n_begun, 2);
	assert_int_equal(begun[0], 11);
	assert_int_equal(begun[1], 13);
	end();
}

static void who_leaves_has_had_the_cpu(void **state)
{
	begin();
	put_switch(10, 0, 100);
	put_switch(0, 11, 250);
	put_switch(11, 12, 300);
	occupancy_read(&occupancy, &visitor);
	occupancy_end(&occupancy, 400, &visitor);
	assert_int_equal(n_ran, 3);
	assert_int_equal(ran[0].pid, 10);
	assert_int_equal(ran[0].end_ns, 100);
	assert_int_equal(ran[1].pid, 11);
	assert_int_equal(ran[1].start_ns, 250);
	assert_int_equal(ran[1].end_ns, 300);
	assert_int_equal(ran[2].pid, 12);
	assert_int_equal(ran[2].end_ns, 400);
	end();
}

static void what_ran_around_a_loss_is_not_told(void **state)
{
	begin();
	put_switch(10, 11, 100);
	put(PERF_RECORD_LOST, 0, (uint64_t[]){ 0, 7 }, 16);
	put_switch(12, 13, 300);
	put_switch(13, 14, 400);
	occupancy_read(&occupancy, &visitor);
	assert_int_equal(occupancy.lost, 7);
	assert_int_equal(n_ran, 2);
	assert_int_equal(ran[0].pid, 10);
	assert_int_equal(ran[1].pid, 13);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_begins_with_its_fork),
		cmocka_unit_test(who_leaves_has_had_the_cpu),
		cmocka_unit_test(what_ran_around_a_loss_is_not_told),
	};

	return unit_run(tests);
}
