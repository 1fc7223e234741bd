// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a file of patterns (-F @FILE). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"

/* {N,M} makes glibc's regcomp() take any memory. NUL makes it a recording, which fuzz_reader is
 * for. A line's '@' names a file, which is not for a fuzzer to read. */
static bool is_ours(const char *text, size_t size)
{
	bool at_start = true;

	for (size_t i = 0; i < size; i++) {
		if (!text[i] || text[i] == '{' || (at_start && text[i] == '@'))
			return false;
		at_start = text[i] == '\n' || (at_start && strchr(" \t\r", text[i]));
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct patterns *patterns = NULL;
	struct err err = { 0 };
	const char *word;
	char path[64];

	if (!is_ours((const char *)data, size))
		return -1; /* not into the corpus */
	if (fd < 0)
		fd = memfd_create("patterns", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof(path), "@/proc/self/fd/%d", fd);
	word = path;
	if (!patterns_parse(&patterns, &word, 1, &err))
		patterns_n(patterns);
	patterns_free(patterns);
	return 0;
}
