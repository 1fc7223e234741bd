/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TAP for programs that run where there is no library: guests. */
#ifndef ISPOT_TESTS_VM_TAP_H
#define ISPOT_TESTS_VM_TAP_H

#include <stdio.h>
#include <stdlib.h>

static int tap_n, tap_failed;

static inline int tap_ok_(int passed, const char *text)
{
	tap_failed += !passed;
	printf("%sok %d - %s\n", passed ? "" : "not ", ++tap_n, text);
	fflush(stdout);
	return passed;
}
#define ok(passed, ...)                                              \
	({                                                           \
		char tap_text_[512];                                 \
		snprintf(tap_text_, sizeof(tap_text_), __VA_ARGS__); \
		tap_ok_(!!(passed), tap_text_);                      \
	})

static inline int tap_end(void)
{
	printf("1..%d\n", tap_n);
	return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
