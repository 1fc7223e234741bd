// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/process/mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/maps.h"

static bool has_mark(int memory, uint64_t at)
{
	struct patched_mark mark;

	return pread(memory, &mark, sizeof(mark), (off_t)at) == sizeof(mark) &&
	       mark.magic == MARK_MAGIC && mark.recorder;
}

/* Reading memory of a file is up to its file system, which may not answer. */
static bool is_of_no_file(const struct mapping_line *line)
{
	return !line->inode && !line->device && !strcmp(line->permissions, "r-xp");
}

struct mark_search {
	int memory;
	bool is_found;
};

static bool find_mark(void *ctx, const struct mapping_line *line)
{
	struct mark_search *search = ctx;

	search->is_found = is_of_no_file(line) && has_mark(search->memory, line->start);
	return !search->is_found;
}

bool process_is_patched(pid_t pid)
{
	struct mark_search search = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	search.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (search.memory < 0)
		return false;
	mappings_each(pid, find_mark, &search);
	close(search.memory);
	return search.is_found;
}
