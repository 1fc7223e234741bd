// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/process/mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool has_mark(int memory, uint64_t at)
{
	struct patched_mark mark;

	return pread(memory, &mark, sizeof(mark), (off_t)at) == sizeof(mark) &&
	       mark.magic == MARK_MAGIC && mark.recorder;
}

bool process_is_patched(pid_t pid)
{
	char path[64], line[4500];
	bool found = false;
	int memory;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = memory < 0 ? NULL : fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long long inode;
		unsigned major, minor;
		uint64_t start;

		/* reading memory of a file is up to its file system, which may not answer */
		if (sscanf(line, "%" SCNx64 "-%*x r-xp %*s %x:%x %llu", &start, &major, &minor,
			   &inode) == 4 &&
		    !inode && !major && !minor)
			found = has_mark(memory, start);
	}
	if (f)
		fclose(f);
	if (memory >= 0)
		close(memory);
	return found;
}
