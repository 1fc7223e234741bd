/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"

#define PATIENCE_NS 1000000000ull
#define LEAST_NS    20000ull /* between two looks, longer and longer */
#define MOST_NS	    10000000ull

void reap(pid_t pid)
{
	const uint64_t since = clock_now_ns();
	uint64_t pause_ns = LEAST_NS;
	pid_t ended;

	kill(pid, SIGKILL);
	while ((ended = waitpid(pid, NULL, WNOHANG)) <= 0) {
		if ((ended < 0 && errno != EINTR) || clock_now_ns() - since > PATIENCE_NS)
			return;
		clock_sleep_ns(pause_ns);
		pause_ns = pause_ns < MOST_NS ? 2 * pause_ns : MOST_NS;
	}
}
