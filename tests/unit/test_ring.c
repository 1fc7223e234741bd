/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What finds no room in a ring is counted, also where no later record tells of it: by the kernel
 * itself, in a ring of one page, and by each reader of rings that are made up here. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "probes/drain/drain.h"
#include "probes/ring/ring.h"
#include "probes/sample/ipc.h"
#include "probes/sample/occupancy.h"
#include "probes/sample/sample.h"

#define BYTES  4096
#define FAULTS 1000

/* ---- the kernel's ---- */

static void count_samples(void *ctx, const struct ring *ring, const struct perf_event_header *h)
{
	uint64_t *n = ctx;

	(void)ring;
	*n += h->type == PERF_RECORD_SAMPLE;
}

static void fault(size_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	assert_true(at != MAP_FAILED);
	madvise(at, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(at + i * page) = 1;
	munmap(at, pages * page);
}

static uint64_t made(const struct rings *rings, unsigned at)
{
	uint64_t values[8], sum = 0;

	for (uint32_t i = 0; i < rings->n; i++) {
		assert_true(read(rings->rings[i].fd, values, sizeof(values)) > 0);
		sum += values[at];
	}
	return sum;
}

/* A page for every fault of this process, and nothing behind the last one. */
static void faults_of(uint64_t read_format)
{
	struct perf_event_attr event = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_period = 1,
		.read_format = read_format,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	struct rings rings = { 0 };
	struct cpus cpus = { 0 };
	struct err err = { 0 };
	uint64_t seen = 0, all;
	int ret;

	assert_int_equal(cpus_read(&cpus), 0);
	ret = rings_open_on(&rings, &cpus, (size_t)sysconf(_SC_PAGESIZE), &event, getpid(), &err);
	if (ret == -EACCES || ret == -EPERM || (!ret && !rings.rings[0].lost_at)) {
		print_message("# %s\n", ret ? err.text : "losses are counted since Linux 6.0");
		rings_release(&rings);
		skip();
	}
	assert_int_equal(ret, 0);
	for (uint32_t i = 0; i < rings.n; i++)
		ioctl(rings.rings[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	fault(FAULTS);
	for (uint32_t i = 0; i < rings.n; i++)
		ioctl(rings.rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	all = made(&rings, read_format ? 1 : 0);
	for (uint32_t i = 0; i < rings.n; i++)
		ring_drain(&rings.rings[i], count_samples, &seen);
	assert_true(all >= FAULTS);
	assert_true(seen < all);
	assert_int_equal(seen + rings_lost(&rings), all);
	assert_int_equal(seen + rings_lost(&rings), all); /* and stays so */
	ret = rings.rings[0].fd;
	rings_release(&rings);
	assert_int_equal(fcntl(ret, F_GETFD), -1); /* no descriptor is left */
}

static void the_last_losses_are_counted(void **state)
{
	faults_of(0);
}

static void those_of_a_group_are(void **state)
{
	faults_of(PERF_FORMAT_GROUP);
}

/* ---- made up ---- */

/* A ring in whose place of the kernel's count stands a file: read() takes the next values of it. */
static struct ring ring_with(unsigned lost_at)
{
	struct ring ring = { .cpu = 3,
			     .fd = memfd_create("values", MFD_CLOEXEC),
			     .data_bytes = BYTES,
			     .lost_at = lost_at };

	ring.map = xcalloc(1, (size_t)sysconf(_SC_PAGESIZE) + BYTES);
	ring.bounce = xmalloc(RING_RECORD_MAX);
	assert_true(ring.fd >= 0);
	return ring;
}

static void release(struct ring *ring)
{
	close(ring->fd);
	free(ring->map);
	free(ring->bounce);
}

static void put(struct ring *ring, uint32_t type, const void *body, size_t n)
{
	struct perf_event_mmap_page *control = ring->map;
	struct perf_event_header h = { type, 0, (uint16_t)(sizeof(h) + n) };
	char *at = (char *)ring->map + sysconf(_SC_PAGESIZE) + control->data_head % BYTES;

	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), body, n);
	control->data_head += h.size;
}

static void put_lost(struct ring *ring, uint64_t n)
{
	put(ring, PERF_RECORD_LOST, (uint64_t[]){ 0, n }, 16);
}

/* More than half of it, and then what the kernel would say when asked. */
static void fill(struct ring *ring, uint64_t lost)
{
	static const uint64_t body[BYTES / 2 / 8 + 1];
	uint64_t values[32];

	put(ring, PERF_RECORD_AUX, body, sizeof(body));
	for (unsigned i = 0; i < 32; i++)
		values[i] = 77;
	values[ring->lost_at] = lost;
	assert_int_equal(ftruncate(ring->fd, 0), 0);
	assert_int_equal(pwrite(ring->fd, values, sizeof(values), 0), sizeof(values));
	assert_int_equal(lseek(ring->fd, 0, SEEK_SET), 0);
}

static void what_was_told_and_what_was_not(void **state)
{
	struct ring ring = ring_with(2);
	struct rings rings = { &ring, 1 };
	uint64_t n = 0;

	put_lost(&ring, 5);
	ring_drain(&ring, count_samples, &n);
	assert_int_equal(rings_lost(&rings), 5);
	fill(&ring, 12);
	ring_drain(&ring, count_samples, &n);
	assert_int_equal(rings_lost(&rings), 12);
	put_lost(&ring, 7); /* the same */
	ring_drain(&ring, count_samples, &n);
	assert_int_equal(rings_lost(&rings), 12);
	put_lost(&ring, 3);
	ring_drain(&ring, count_samples, &n);
	assert_int_equal(rings_lost(&rings), 15);
	release(&ring);
}

static void no_sample(void *ctx, const struct sample *s)
{
	(void)ctx, (void)s;
	fail_msg("there is none");
}

static void samples_of_the_calibration_are_none(void **state)
{
	struct ring ring = ring_with(1);
	struct sampler s = { .rings = { &ring, 1 } };

	put_lost(&ring, 5);
	sampler_forget(&s);
	assert_int_equal(sampler_lost(&s), 0);
	fill(&ring, 9);
	sampler_read(&s, no_sample, NULL);
	assert_int_equal(sampler_lost(&s), 4);
	release(&ring);
}

static void lost_mappings_are_looked_for_and_counted(void **state)
{
	struct ring ring = ring_with(1);
	struct rings rings = { &ring, 1 };
	struct drain d = { 0 };

	drain_mappings(&d, &rings);
	assert_false(d.mappings_overflowed);
	fill(&ring, 6);
	drain_mappings(&d, &rings);
	assert_true(d.mappings_overflowed);
	assert_int_equal(d.mappings_lost, 6);
	d.mappings_overflowed = false;
	put_lost(&ring, 6); /* known */
	drain_mappings(&d, &rings);
	assert_false(d.mappings_overflowed);
	put_lost(&ring, 1);
	drain_mappings(&d, &rings);
	assert_true(d.mappings_overflowed);
	assert_int_equal(d.mappings_lost, 7);
	release(&ring);
}

static void nobody_runs(void *self, uint32_t cpu, pid_t pid, uint64_t start_ns, uint64_t end_ns)
{
	(void)self, (void)cpu, (void)pid, (void)start_ns, (void)end_ns;
	fail_msg("who had the CPU is not known");
}

static void begins(void *self, pid_t pid)
{
	(void)self, (void)pid;
}

static void who_has_a_cpu_that_lost_the_last_switch(void **state)
{
	const struct occupancy_visitor v = { NULL, nobody_runs, begins };
	struct ring ring = ring_with(1);
	struct occupancy_cpu cpu = { 10, 100 };
	struct occupancy o = { .rings = { &ring, 1 }, .cpus = &cpu };

	fill(&ring, 1);
	occupancy_read(&o, &v);
	occupancy_end(&o, 500, &v);
	assert_int_equal(o.lost, 1);
	release(&ring);
}

/* Its CPU went before the ring was there. */
static void a_ring_that_is_not_open_has_nothing(void **state)
{
	const struct occupancy_visitor v = { NULL, nobody_runs, begins };
	struct ring ring = { .cpu = 1, .fd = -1 };
	struct occupancy_cpu cpu = { -1, 100 };
	struct occupancy o = { .rings = { &ring, 1 }, .cpus = &cpu };

	occupancy_read(&o, &v);
	occupancy_end(&o, 500, &v);
	assert_int_equal(o.lost, 0);
	assert_int_equal(ring_lost(&ring), 0);
}

static unsigned n_taken;
static struct ipc_sample latest;

static void taken(void *self, const struct ipc_sample *s)
{
	(void)self;
	n_taken++;
	assert_int_equal(s->instructions, 3000);
	assert_int_equal(s->cycles, 2000);
	assert_int_equal(s->end_ns - s->start_ns, 50);
	latest = *s;
}

static void put_ipc(struct ring *ring, uint64_t time_ns, uint64_t instructions, uint64_t cycles)
{
	const uint64_t counted[] = { 7, time_ns, 3, 2, instructions, 0, cycles, 0 },
		       plain[] = { 7, time_ns, 3, 2, instructions, cycles };

	if (ring->lost_at)
		put(ring, PERF_RECORD_SAMPLE, counted, sizeof(counted));
	else
		put(ring, PERF_RECORD_SAMPLE, plain, sizeof(plain));
}

static void values_of_a_group(unsigned lost_at)
{
	struct ring ring = ring_with(lost_at);
	struct ipc_cpu cpu = { .fds = { -1 } };
	struct ipc ipc = { .rings = { &ring, 1 }, .cpus = &cpu };

	n_taken = 0;
	put_ipc(&ring, 100, 1000, 500);
	put_ipc(&ring, 150, 4000, 2500);
	ipc_read(&ipc, taken, NULL);
	assert_int_equal(n_taken, 1);
	assert_int_equal(ipc.samples, 2);
	put_lost(&ring, 4);
	put_ipc(&ring, 400, 90000, 90000); /* longer than a sample */
	put_ipc(&ring, 450, 93000, 92000);
	ipc_read(&ipc, taken, NULL);
	assert_int_equal(n_taken, 2);
	assert_int_equal(ipc.lost, 4);
	release(&ring);
}

/* What happened between two samples, by an event that is in the group. */
static void an_event_of_a_group_is_counted_from_sample_to_sample(void **state)
{
	const uint64_t first[] = { 7, 100, 3, 3, 1000, 0, 500, 0, 70, 0 },
		       second[] = { 7, 150, 3, 3, 4000, 0, 2500, 0, 75, 0 };
	struct ring ring = ring_with(2);
	struct ipc_cpu cpu = { .fds = { -1 } };
	struct ipc ipc = { .rings = { &ring, 1 }, .cpus = &cpu, .n_events = 1 };

	n_taken = 0;
	put_ipc(&ring, 50, 10, 20); /* the group is not whole */
	put(&ring, PERF_RECORD_SAMPLE, first, sizeof(first));
	put(&ring, PERF_RECORD_SAMPLE, second, sizeof(second));
	ipc_read(&ipc, taken, NULL);
	assert_int_equal(n_taken, 1);
	assert_int_equal(latest.events[0], 5);
	release(&ring);
}

static void with_a_count_of_losses_and_without(void **state)
{
	values_of_a_group(0);
	values_of_a_group(2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_losses_are_counted),
		cmocka_unit_test(those_of_a_group_are),
		cmocka_unit_test(what_was_told_and_what_was_not),
		cmocka_unit_test(samples_of_the_calibration_are_none),
		cmocka_unit_test(lost_mappings_are_looked_for_and_counted),
		cmocka_unit_test(who_has_a_cpu_that_lost_the_last_switch),
		cmocka_unit_test(a_ring_that_is_not_open_has_nothing),
		cmocka_unit_test(with_a_count_of_losses_and_without),
		cmocka_unit_test(an_event_of_a_group_is_counted_from_sample_to_sample),
	};

	return unit_run(tests);
}
