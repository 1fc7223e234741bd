/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading a BPF ring buffer. */
#include "unit.h"

#include <linux/bpf.h>
#include <string.h>

#include "made_ring.h"

static struct made_ring made;
static uint32_t seen[8];
static unsigned n_seen;

static void begin(unsigned long at)
{
	made_ring_begin(&made, 3, at);
	n_seen = 0;
}

static void end(void)
{
	made_ring_end(&made);
}

/* It begins and ends with the value. */
static void write_record(uint32_t flags, uint32_t value, uint32_t size)
{
	char record[256] = { 0 };

	memcpy(record, &value, sizeof(value));
	memcpy(record + size - sizeof(value), &value, sizeof(value));
	made_ring_put(&made, flags, record, size);
}

static void see(void *ctx, uint32_t cpu, const void *record)
{
	assert_ptr_equal(ctx, &made);
	assert_int_equal(cpu, 3);
	memcpy(&seen[n_seen++], record, sizeof(*seen));
}

static size_t drain(void)
{
	return ringbuf_drain(&made.ring, see, &made);
}

static void records_of_odd_sizes_follow_each_other(void **state)
{
	begin(0);
	write_record(0, 1, 28);
	write_record(0, 2, 4);
	write_record(0, 3, 132);
	assert_int_equal(drain(), 40 + 16 + 144);
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[2], 3);
	assert_int_equal(*(unsigned long *)made.ring.consumer, *made.head);
	assert_int_equal(drain(), 0);
	end();
}

static void records_wrap_around_the_end(void **state)
{
	begin(3ul * MADE_RING_BYTES - 16);
	write_record(0, 7, 28);
	write_record(0, 8, 28);
	assert_int_equal(drain(), 80);
	assert_int_equal(n_seen, 2);
	assert_int_equal(seen[0], 7);
	assert_int_equal(seen[1], 8);
	end();
}

/* What is behind a record whose writer is interrupted is read after it. */
static void an_unfinished_record_is_waited_for(void **state)
{
	uint32_t done = 28;

	begin(0);
	write_record(0, 1, 28);
	write_record(BPF_RINGBUF_BUSY_BIT, 2, 28);
	write_record(0, 3, 28);
	assert_int_equal(drain(), 40);
	assert_int_equal(n_seen, 1);
	made_ring_store(&made, 40, &done, sizeof(done));
	assert_int_equal(drain(), 80);
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[1], 2);
	end();
}

static void a_discarded_record_is_passed(void **state)
{
	begin(0);
	write_record(BPF_RINGBUF_DISCARD_BIT, 1, 28);
	write_record(0, 2, 28);
	assert_int_equal(drain(), 80);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0], 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_odd_sizes_follow_each_other),
		cmocka_unit_test(records_wrap_around_the_end),
		cmocka_unit_test(an_unfinished_record_is_waited_for),
		cmocka_unit_test(a_discarded_record_is_passed),
	};

	return unit_run(tests);
}
