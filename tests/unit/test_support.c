/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <errno.h>
#include <linux/version.h>
#include <string.h>

#include "probes/inspect/support.h"

/* The state of a fact about a kernel; -1: the fact is not mentioned. */
static int state_of(unsigned version, bool x86, const char *name)
{
	struct support_list list = { 0 };
	int state = -1;

	support_kernel(&list, version, x86);
	vec_for_each (&list, struct support, s)
		if (!strcmp(s->name, name))
			state = (int)s->state;
	vec_release(&list);
	return state;
}

static void knows_the_kernels(void **unused)
{
	(void)unused;
	assert_int_equal(state_of(KERNEL_VERSION(6, 18, 0), true, "nop5"), SUPPORT_YES);
	assert_int_equal(state_of(KERNEL_VERSION(6, 17, 9), true, "nop5"), SUPPORT_NO);
	assert_int_equal(state_of(KERNEL_VERSION(6, 18, 0), false, "nop5"), -1);
	assert_int_equal(state_of(KERNEL_VERSION(6, 1, 0), true, "return-probes"), SUPPORT_NOTE);
	assert_int_equal(state_of(KERNEL_VERSION(6, 13, 0), true, "return-probes"), SUPPORT_NOTE);
	assert_int_equal(state_of(KERNEL_VERSION(6, 14, 0), true, "return-probes"), SUPPORT_YES);
	assert_int_equal(state_of(KERNEL_VERSION(6, 12, 9), true, "uprobe-sessions"), -1);
	assert_int_equal(state_of(KERNEL_VERSION(6, 13, 0), true, "uprobe-sessions"), SUPPORT_YES);
	assert_int_equal(state_of(KERNEL_VERSION(6, 13, 0), false, "uprobe-sessions"), -1);
	assert_int_equal(state_of(KERNEL_VERSION(6, 10, 9), true, "seccomp"), -1);
	assert_int_equal(state_of(KERNEL_VERSION(6, 11, 0), true, "seccomp"), SUPPORT_NOTE);
	assert_int_equal(state_of(KERNEL_VERSION(6, 13, 2), false, "seccomp"), SUPPORT_NOTE);
	assert_int_equal(state_of(KERNEL_VERSION(6, 13, 3), true, "seccomp"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_kernels),
	};

	return unit_run(tests);
}
