// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * each FILE...: gives each file to a fuzz target, without a fuzzer. The last name printed is of the
 * file that ended it. A program of several targets (TARGETS) has a name for each, by which it knows
 * which one is asked for.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (64 << 20)

#ifndef TARGETS
#define TARGETS TARGET("", LLVMFuzzerTestOneInput)
#endif

#define TARGET(name, run) int run(const uint8_t *data, size_t size);
TARGETS
#undef TARGET

#define TARGET(name, run) { name, run },
static const struct {
	const char *name;
	int (*run)(const uint8_t *data, size_t size);
} targets[] = { TARGETS };
#undef TARGET

enum { N_TARGETS = sizeof(targets) / sizeof(*targets) };

int main(int argc, char **argv)
{
	int which = 0;

	while (N_TARGETS > 1 && strcmp(targets[which].name, strrchr(argv[0], '/') + 1))
		if (++which == N_TARGETS) {
			fprintf(stderr, "each: there is no target %s\n", argv[0]);
			return 1;
		}
	for (int i = 1; i < argc; i++) {
		FILE *in = fopen(argv[i], "re");
		uint8_t *data = malloc(INPUT_MAX);
		size_t size;

		if (!in || !data) {
			fprintf(stderr, "each: %s cannot be read\n", argv[i]);
			return 1;
		}
		printf("%s\n", argv[i]);
		fflush(stdout);
		size = fread(data, 1, INPUT_MAX, in);
		fclose(in);
		targets[which].run(data, size);
		free(data);
	}
	return 0;
}
