/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_flag;
static struct sigaction before;
static bool caught;

static void note(int signal)
{
	(void)signal;
	interrupt_flag = 1;
}

void interrupt_begin(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

	interrupt_flag = 0;
	if (caught || sigaction(SIGINT, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	caught = !sigaction(SIGINT, &action, NULL);
}

void interrupt_end(void)
{
	if (caught)
		sigaction(SIGINT, &before, NULL);
	caught = false;
}

bool interrupt_pending(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1);
}
