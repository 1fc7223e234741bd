// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/process/mark.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool has_mark(int memory, uint64_t at)
{
	struct patched_mark mark;

	return pread(memory, &mark, sizeof(mark), (off_t)at) == sizeof(mark) &&
	       mark.magic == MARK_MAGIC && mark.recorder;
}

/* Reading memory of a file is up to its file system, which may not answer. */
static bool is_of_no_file(const char *line, uint64_t *start)
{
	unsigned long long inode;
	unsigned major, minor;

	return sscanf(line, "%" SCNx64 "-%*x r-xp %*s %x:%x %llu", start, &major, &minor, &inode) ==
		       4 &&
	       !inode && !major && !minor;
}

bool process_is_patched(pid_t pid)
{
	char path[64], *line = NULL;
	bool found = false;
	size_t room = 0;
	uint64_t start;
	int memory;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = memory < 0 ? NULL : fopen(path, "re");
	/* whole lines: the rest of one, of a long path, could be what a program wants to be read */
	while (f && !found && getline(&line, &room, f) > 0)
		found = is_of_no_file(line, &start) && has_mark(memory, start);
	free(line);
	if (f)
		fclose(f);
	if (memory >= 0)
		close(memory);
	return found;
}
