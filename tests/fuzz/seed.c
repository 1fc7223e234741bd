// SPDX-License-Identifier: GPL-3.0-or-later
/* seed TEXT FILE: a seed for fuzz_reader; linked with the same codec as that. */
#include <stdio.h>

#include "base/err.h"
#include "trace/fixture/fixture.h"

int main(int argc, char **argv)
{
	struct err err = { 0 };
	FILE *in = argc == 3 ? fopen(argv[1], "re") : NULL;

	if (!in || fixture_write(in, argv[2], &err)) {
		fprintf(stderr, "seed: %s\n", in ? err.text : "usage: seed TEXT FILE");
		return 1;
	}
	fclose(in);
	return 0;
}
