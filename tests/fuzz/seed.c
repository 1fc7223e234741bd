// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * seed DIRECTORY TEXT...: of each NAME.trace a seed for fuzz_reader, DIRECTORY/NAME; linked with
 * the same codec as that.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "trace/fixture/fixture.h"

static int make_seed(const char *directory, const char *text)
{
	const char *name = strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
	struct err err = { 0 };
	FILE *in = fopen(text, "re");
	char path[4096];
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%.*s", directory, (int)strcspn(name, "."), name);
	if (!in || fixture_write(in, path, &err)) {
		fprintf(stderr, "seed: %s: %s\n", text, in ? err.text : "it cannot be read");
		ret = 1;
	}
	if (in)
		fclose(in);
	return ret;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: seed DIRECTORY TEXT...\n");
		return 1;
	}
	for (int i = 2; i < argc; i++)
		if (make_seed(argv[1], argv[i]))
			return 1;
	return 0;
}
