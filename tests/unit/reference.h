/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same numbers by scipy and numpy (reference.py) or by R (reference.R), for comparison. */
#ifndef ISPOT_TESTS_REFERENCE_H
#define ISPOT_TESTS_REFERENCE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define BY_SCIPY "/usr/bin/python3 tests/unit/reference.py"
#define BY_R	 "Rscript --vanilla tests/unit/reference.R"

/* 0..1, the same sequence on every machine. */
static inline double reference_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 9007199254740992.0;
}

static inline size_t reference_read(FILE *f, double *out, size_t n_out)
{
	size_t n = 0;

	assert_non_null(f);
	while (n < n_out && fscanf(f, "%lf", &out[n]) == 1)
		n++;
	return n;
}

static inline void reference_write(FILE *f, const double *numbers, size_t n)
{
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%.17g\n", numbers[i]);
	fclose(f);
}

/*
 * How many numbers came back, at most n_out. Skips the test, with the reason on stderr, where
 * Debian's Python has no scipy, or there is no R. by: BY_SCIPY or BY_R.
 */
static inline size_t reference(const char *by, const char *what, const double *in, size_t n_in,
			       double *out, size_t n_out)
{
	char path[] = "/tmp/ispot_reference.XXXXXX", command[256];
	size_t n;
	FILE *f;
	int status;

	reference_write(fdopen(mkstemp(path), "w"), in, n_in);
	snprintf(command, sizeof(command), "%s %s %s", by, what, path);
	f = popen(command, "r");
	n = reference_read(f, out, n_out);
	status = pclose(f);
	unlink(path);
	if (WEXITSTATUS(status) == 127)
		fprintf(stderr, "# no %.*s; make deps installs python3-scipy and r-base-core\n",
			(int)strcspn(by, " "), by);
	if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
		skip();
	assert_int_equal(status, 0);
	return n;
}

/* What R once said, in tests/unit/reference.WHAT, for machines without it; with BLESS in the
 * environment what it says now is kept there. */
static inline FILE *reference_kept(const char *what, const char *mode)
{
	char path[64];

	snprintf(path, sizeof(path), "tests/unit/reference.%s", what);
	return fopen(path, mode);
}

#endif
