/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inproc/whose.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "probes/process/status.h"
#include "probes/process/target.h"

#define MAPS_MOST 16 /* processes of one look whose mappings are read: all may be made to fit */

/* A line's device is not everywhere that of the file; what the mapping leads to is. */
static bool is_of(pid_t pid, const char *line, const struct stat *file)
{
	unsigned long long inode;
	unsigned major, minor;
	char path[96], range[48];
	struct stat there;

	if (sscanf(line, "%47s %*s %*s %x:%x %llu", range, &major, &minor, &inode) != 4 ||
	    inode != file->st_ino)
		return false;
	if (makedev(major, minor) == file->st_dev)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%s", pid, range);
	return !stat(path, &there) && there.st_dev == file->st_dev && there.st_ino == file->st_ino;
}

static bool maps_it(pid_t pid, const struct stat *file)
{
	char path[64], line[4500];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = is_of(pid, line, file);
	if (f)
		fclose(f);
	return found;
}

static bool may_be(pid_t pid, uid_t owner, pid_t named)
{
	unsigned uid;

	return status_effective(pid, "Uid:", &uid) && uid == owner &&
	       status_inner_pid(pid) == named;
}

static pid_t look(uid_t owner, pid_t named, const struct stat *file)
{
	DIR *all = opendir("/proc");
	unsigned maps_left = MAPS_MOST;
	pid_t found = 0;
	struct dirent *e;

	while (all && !found && maps_left && (e = readdir(all))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid <= 0 || !may_be(pid, owner, named))
			continue;
		maps_left--;
		if (maps_it(pid, file))
			found = pid;
	}
	if (all)
		closedir(all);
	return found;
}

pid_t inproc_process_of(uid_t owner, pid_t named, const struct stat *file, unsigned *looks_left)
{
	if (may_be(named, owner, named) && maps_it(named, file))
		return named;
	if (!*looks_left)
		return 0;
	--*looks_left;
	return look(owner, named, file);
}

pid_t inproc_thread_of(pid_t pid, pid_t named, unsigned *looks_left)
{
	struct pids tids = { 0 };
	pid_t found = named;

	if (!*looks_left || target_threads(pid, &tids))
		return named;
	for (size_t i = tids.n; i-- && found == named && *looks_left; --*looks_left)
		if (status_inner_pid(tids.data[i]) == named)
			found = tids.data[i];
	vec_release(&tids);
	return found;
}
