/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/child.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/given.h"

#define NOT_RUN 125

pid_t child_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_RUN); /* the parent ended before prctl() took effect */
	return 0;
}

/* Closes all descriptors that the child must not have. */
static void close_inherited(int go_fd, int keep_fd)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != go_fd && fd != keep_fd && fd != dirfd(dir) &&
		    !given_has(fd))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

pid_t child_fork_held(int *go_fd, int keep_fd)
{
	int go[2];
	pid_t pid;
	char word;

	*go_fd = -1;
	if (pipe2(go, O_CLOEXEC))
		return -1;
	pid = child_fork();
	if (!pid) {
		/*
		 * closed separately and first, because /proc cannot be read if no descriptor is
		 * free
		 */
		close(go[1]);
		close_inherited(go[0], keep_fd);
		if (read(go[0], &word, 1) != 1)
			_exit(NOT_RUN);
		close(go[0]);
		return 0;
	}
	close(go[0]);
	if (pid > 0)
		*go_fd = go[1];
	else
		close(go[1]);
	return pid;
}

bool child_go(int go_fd)
{
	return write(go_fd, "g", 1) == 1;
}

void child_becomes_own(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
}

pid_t waiter_start(void)
{
	pid_t pid = child_fork();
	sigset_t all;

	if (pid)
		return pid > 0 ? pid : 0;
	prctl(PR_SET_NAME, "ispot-waits");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

void waiter_end(pid_t pid)
{
	if (pid > 0 && !kill(pid, SIGKILL))
		waitpid(pid, NULL, 0);
}
