/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every unit test includes: cmocka, with TAP for prove. */
#ifndef ISPOT_TESTS_UNIT_H
#define ISPOT_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Most tests have no use for the state that cmocka gives them. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/*
 * Each test's main() is one function of the one unit test program (all.c): the compiler is told to
 * call it test_NAME_main(). int main(void) { return unit_run(tests); }
 */
int main(void);
#define unit_run(tests) \
	(cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

/* A function that stays one of its own. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline, used))
#else
#define NOINLINE __attribute__((noinline, noclone, used))
#endif

#endif
