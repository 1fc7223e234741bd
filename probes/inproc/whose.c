/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inproc/whose.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "probes/process/status.h"
#include "probes/process/target.h"
#include "symbol/maps.h"

#define MAPS_MOST   16	/* processes of a search whose mappings are read, as all may fit */
#define CLOCK_LINES 256 /* of mappings between two reads of the clock */

/* The device in the line is not always that of the file. Then the one that the mapping leads to
 * is. */
static bool is_mapping_of(pid_t pid, const struct mapping_line *line, const struct stat *file)
{
	struct statx there;
	char path[96];

	if (line->inode != file->st_ino)
		return false;
	if (line->device == file->st_dev)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, line->start,
		 line->end);
	/* a user's file system may not answer, so it is not asked */
	return !statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &there) &&
	       makedev(there.stx_dev_major, there.stx_dev_minor) == file->st_dev &&
	       there.stx_ino == file->st_ino;
}

struct search {
	pid_t pid;
	const struct stat *file;
	uint64_t until_ns;
	unsigned lines;
	bool is_found;
};

static bool is_time_left(const struct search *s)
{
	return clock_now_ns() < s->until_ns && !interrupt_pending();
}

static bool find_file(void *ctx, const struct mapping_line *line)
{
	struct search *s = ctx;

	if (s->lines++ % CLOCK_LINES == 0 && !is_time_left(s))
		return false;
	s->is_found = is_mapping_of(s->pid, line, s->file);
	return !s->is_found;
}

/* A program may have 65,000 mappings with long names. They take seconds to read, so time is
 * limited. */
static bool maps_file(pid_t pid, const struct stat *file, struct inproc_quota *quota)
{
	uint64_t began_ns = clock_now_ns(), took_ns;
	struct search search = { .pid = pid, .file = file, .until_ns = began_ns + quota->maps_ns };

	mappings_each(pid, find_file, &search);
	took_ns = clock_now_ns() - began_ns;
	quota->maps_ns -= took_ns < quota->maps_ns ? took_ns : quota->maps_ns;
	return search.is_found;
}

static bool is_candidate(pid_t pid, uid_t owner, pid_t named)
{
	unsigned uid;

	return status_effective(pid, "Uid:", &uid) && uid == owner &&
	       status_inner_pid(pid) == named;
}

static pid_t search_processes(uid_t owner, pid_t named, const struct stat *file,
			      struct inproc_quota *quota)
{
	DIR *all = opendir("/proc");
	unsigned maps_left = MAPS_MOST;
	pid_t found = 0;
	struct dirent *e;

	while (all && !found && maps_left && quota->maps_ns && (e = readdir(all))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || !is_candidate(pid, owner, named))
			continue;
		maps_left--;
		if (maps_file(pid, file, quota))
			found = pid;
	}
	if (all)
		closedir(all);
	return found;
}

pid_t inproc_process_of(uid_t owner, pid_t named, const struct stat *file,
			struct inproc_quota *quota)
{
	if (is_candidate(named, owner, named) && maps_file(named, file, quota))
		return named;
	if (!quota->left)
		return 0;
	quota->left--;
	return search_processes(owner, named, file, quota);
}

pid_t inproc_thread_of(pid_t pid, pid_t named, unsigned *reads_left)
{
	struct pids tids = { 0 };
	pid_t found = named;

	if (!*reads_left || target_threads(pid, &tids))
		return named;
	for (size_t i = tids.n; i-- && found == named && *reads_left; --*reads_left)
		if (status_inner_pid(tids.data[i]) == named)
			found = tids.data[i];
	vec_release(&tids);
	return found;
}
