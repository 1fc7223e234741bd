/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mktrace TEXT FILE: a trace from its text (src/trace/fixture.h). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "trace/fixture.h"

int main(int argc, char **argv)
{
	struct err err = { 0 };
	FILE *in;

	if (argc != 3) {
		fprintf(stderr, "usage: mktrace TEXT FILE\n");
		return 2;
	}
	in = fopen(argv[1], "r");
	if (!in) {
		perror(argv[1]);
		return 1;
	}
	if (fixture_write(in, argv[2], &err)) {
		fprintf(stderr, "mktrace: %s: %s\n", argv[1], err.text);
		return 1;
	}
	fclose(in);
	return 0;
}
