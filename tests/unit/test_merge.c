// SPDX-License-Identifier: GPL-3.0-or-later
#include "unit.h"
#include "dice.h"

#include <stdlib.h>

#include "base/crc.h"
#include "trace/merge.h"
#include "trace/varint.h"

static uint64_t random_u64(void)
{
	static uint64_t state;

	return dice(&state);
}

/* The plain way: look at every stream for the earliest, the lower index on a tie. */
static uint32_t earliest(const uint64_t *next, uint32_t n)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (next[i] != UINT64_MAX && (best == UINT32_MAX || next[i] < next[best]))
			best = i;
	return best;
}

static void merge_n(uint32_t n)
{
	uint64_t next[200], steps = 0;
	struct merge m;

	merge_init(&m, n);
	assert_true(merge_is_empty(&m));
	for (uint32_t i = 0; i < n; i++) {
		next[i] = random_u64() % 50;
		merge_set(&m, i, next[i], i);
	}
	while (!merge_is_empty(&m)) {
		uint32_t i = (uint32_t)merge_first(&m).who;

		assert_int_equal(i, earliest(next, n));
		assert_int_equal(merge_first(&m).time_ns, next[i]);
		if (steps++ > 2000 || random_u64() % 50 == 0) {
			next[i] = UINT64_MAX;
			merge_end(&m, i);
			continue;
		}
		/* Mostly forward, sometimes back. */
		next[i] += random_u64() % 8;
		if (random_u64() % 16 == 0)
			next[i] /= 2;
		merge_set(&m, i, next[i], i);
	}
	assert_int_equal(earliest(next, n), UINT32_MAX);
	merge_release(&m);
}

static void order_is_that_of_a_search(void **state)
{
	for (uint32_t n = 1; n < 30; n++)
		merge_n(n);
	merge_n(64);
	merge_n(200);
}

static void crc_is_zlibs(void **state)
{
	assert_int_equal(crc32_of("", 0), 0);
	assert_int_equal(crc32_of("a", 1), 0xe8b7be43u);
	assert_int_equal(crc32_of("123456789", 9), 0xcbf43926u);
	assert_int_equal(crc32_of("The quick brown fox jumps over the lazy dog", 43), 0x414fa339u);
}

static void varints_of_every_length(void **state)
{
	uint8_t buf[VARINT_MAX];

	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t values[] = { 1ull << bit, (1ull << bit) - 1, ~0ull >> bit }, got;

		for (int i = 0; i < 3; i++) {
			const uint8_t *end = varint_put(buf, values[i]);

			assert_ptr_equal(varint_get(buf, end, &got), end);
			assert_int_equal(got, values[i]);
			assert_null(varint_get(buf, end - 1, &got)); /* cut off */
			assert_int_equal(unzigzag(zigzag((int64_t)values[i])), values[i]);
		}
	}
	assert_int_equal(zigzag(-1), 1);
	assert_int_equal(zigzag(1), 2);
	assert_int_equal(zigzag(INT64_MIN), UINT64_MAX);
}

static void varints_beyond_64_bits(void **state)
{
	static const uint8_t eleven[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0x00 };
	static const uint8_t bit_64[] = {
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02
	};
	uint64_t got;

	assert_null(varint_get(eleven, eleven + sizeof(eleven), &got));
	assert_null(varint_get(bit_64, bit_64 + sizeof(bit_64), &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_is_that_of_a_search),
		cmocka_unit_test(crc_is_zlibs),
		cmocka_unit_test(varints_of_every_length),
		cmocka_unit_test(varints_beyond_64_bits),
	};

	return unit_run(tests);
}
