// SPDX-License-Identifier: GPL-3.0-or-later
/* The unit test program: runs the tests whose name it was started by, build/unit/test_NAME, or that
 * its argument names. */
#include <stdio.h>
#include <string.h>

/* names.h is written by make: one TEST(test_NAME) for each tests/unit/test_NAME.c */
#define TEST(name) int name##_main(void);
#include "names.h"
#undef TEST

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
#define TEST(name) { #name, name##_main },
#include "names.h"
};

/* libdw 0.188 itself loses a block of memory when a line table is damaged. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw";
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = argc > 1 ? argv[1]
							   : slash  ? slash + 1
								    : argv[0];

	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (!strcmp(tests[i].name, name))
			return tests[i].run();
	fprintf(stderr, "%s: no such unit test; tests/unit/%s.c would be it\n", name, name);
	return 2;
}
