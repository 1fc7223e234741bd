/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/given.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"

static struct {
	bool is_noted;
	VEC(int)
} given;

void given_note(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(dir))
			*vec_add(&given) = fd;
	}
	given.is_noted = dir != NULL;
	if (dir)
		closedir(dir);
}

bool given_has(int fd)
{
	if (!given.is_noted) {
		int flags = fcntl(fd, F_GETFD);

		return flags >= 0 && !(flags & FD_CLOEXEC);
	}
	vec_for_each (&given, const int, one)
		if (*one == fd)
			return true;
	return false;
}
