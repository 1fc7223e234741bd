/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzzer's bytes as a file that has a name. */
#ifndef ISPOT_TESTS_FUZZ_GIVEN_H
#define ISPOT_TESTS_FUZZ_GIVEN_H

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory; the same name each time. NULL: it cannot be made. */
static inline const char *given_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("given", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	return ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size ? NULL : path;
}

#endif
