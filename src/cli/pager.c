/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/pager.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

static pid_t pager_pid;

static const char *pager_command(void)
{
	const char *command = getenv("ISPOT_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less -FRX";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void wait_for_pager(void)
{
	while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}

/*
 * Ctrl-C reaches both ispot and the pager. Waits for the pager, as the shell must not prompt while
 * the pager still draws.
 */
static void on_signal(int sig)
{
	close(STDOUT_FILENO);
	wait_for_pager();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* The child: waits for the first byte, then becomes the pager. */
static void run_pager(int input, const char *command)
{
	struct pollfd p = { .fd = input, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	if (!(p.revents & POLLIN))
		_exit(0);
	dup2(input, STDIN_FILENO);
	close(input);
	/* As systemd does: a pager that runs as root starts no shell and no editor. */
	if (geteuid() == 0)
		setenv("LESSSECURE", "1", 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	const char *command = pager_command();
	int ends[2];

	if (!isatty(STDOUT_FILENO) || !command || pipe(ends))
		return;
	pager_pid = fork();
	if (!pager_pid) {
		close(ends[1]);
		run_pager(ends[0], command);
	}
	close(ends[0]);
	if (pager_pid > 0) {
		dup2(ends[1], STDOUT_FILENO);
		for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
			signal(signals[i], on_signal);
	} else {
		pager_pid = 0;
		log_detail("no pager: %s", strerror(errno));
	}
	close(ends[1]);
}

bool pager_active(void)
{
	return pager_pid != 0;
}

void pager_finish(void)
{
	if (!pager_pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	wait_for_pager();
}
