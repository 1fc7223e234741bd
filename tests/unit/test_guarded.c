/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared file that becomes shorter while it is read. */
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/inproc/guarded.h"

#define BYTES (8 * 4096)

static void a_file_that_is_cut_reads_as_zeros(void **state)
{
	int fd = memfd_create("cut", MFD_CLOEXEC);
	struct guarded g;
	volatile char *p;

	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_equal(guarded_map(&g, fd, BYTES), 0);
	p = g.start;
	memset(g.start, 7, BYTES);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_false(g.torn);
	assert_int_equal(p[100], 7);
	assert_int_equal(p[5 * 4096], 0);
	assert_true(g.torn);
	p[5 * 4096] = 1; /* what is written there is nobody's */
	assert_int_equal(p[BYTES - 1], 0);
	assert_int_equal(p[100], 7);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(p[100], 0);
	guarded_unmap(&g);
	guarded_unmap(&g);
	close(fd);
}

static void each_mapping_has_its_own_flag(void **state)
{
	int fd = memfd_create("whole", MFD_CLOEXEC), other = memfd_create("cut", MFD_CLOEXEC);
	struct guarded whole, cut;

	assert_int_equal(ftruncate(fd, BYTES) | ftruncate(other, BYTES), 0);
	assert_int_equal(guarded_map(&whole, fd, BYTES), 0);
	assert_int_equal(guarded_map(&cut, other, BYTES), 0);
	assert_int_equal(ftruncate(other, 0), 0);
	assert_int_equal(*(volatile char *)cut.start, 0);
	assert_int_equal(*(volatile char *)whole.start, 0);
	assert_true(cut.torn);
	assert_false(whole.torn);
	guarded_unmap(&cut);
	guarded_unmap(&whole);
	close(fd);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_is_cut_reads_as_zeros),
		cmocka_unit_test(each_mapping_has_its_own_flag),
	};

	return unit_run(tests);
}
