// SPDX-License-Identifier: GPL-3.0-or-later
/* each FILE...: gives each file to a fuzz target, without a fuzzer. The last name printed is of the
 * file that ended it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define INPUT_MAX (64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
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
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	return 0;
}
