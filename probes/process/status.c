/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/status.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/reap.h"

#define WORDS_MS 1000

char *status_line(pid_t pid, const char *name)
{
	char path[64], line[512], *found = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			found = xstrdup(line + strlen(name));
	if (f)
		fclose(f);
	return found;
}

bool status_effective(pid_t pid, const char *name, unsigned *id)
{
	char *line = status_line(pid, name);
	bool found = line && sscanf(line, "%*u %u", id) == 1;

	free(line);
	return found;
}

static _Noreturn void send_words(pid_t pid, size_t room, int to)
{
	char path[64], *words = xmalloc(room);
	ssize_t n = -1;
	int fd;

	/* nothing of ispot's lives on if this process does not end */
	if (dup2(to, STDERR_FILENO) < 0 || syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0))
		_exit(1);
	to = STDERR_FILENO;
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, words, room);
	_exit(n > 0 && write(to, words, (size_t)n) == n ? 0 : 1);
}

bool status_words(pid_t pid, char *words, size_t room)
{
	struct pollfd p = { .events = POLLIN };
	ssize_t n = -1;
	pid_t child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	child = fork();
	if (!child)
		send_words(pid, room - 1, ends[1]);
	close(ends[1]);
	p.fd = ends[0];
	if (child > 0 && poll(&p, 1, WORDS_MS) > 0)
		n = read(ends[0], words, room - 1);
	close(ends[0]);
	if (child > 0)
		reap(child);
	words[n > 0 ? n : 0] = '\0';
	return n > 0;
}

pid_t status_parent(pid_t pid)
{
	char *line = status_line(pid, "PPid:");
	pid_t parent = line ? atoi(line) : 0;

	free(line);
	return parent;
}

pid_t status_inner_pid(pid_t pid)
{
	char *line = status_line(pid, "NSpid:"), *last = line ? strrchr(line, '\t') : NULL;
	pid_t inner = last ? atoi(last) : pid;

	free(line);
	return inner > 0 ? inner : pid;
}
