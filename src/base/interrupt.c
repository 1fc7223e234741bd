/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t noted;
static struct sigaction before;
static bool caught;

static void note(int signal)
{
	(void)signal;
	noted = 1;
}

void interrupt_begin(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };

	noted = 0;
	if (caught || sigaction(SIGINT, NULL, &before) || before.sa_handler == SIG_IGN)
		return;
	caught = !sigaction(SIGINT, &action, NULL);
}

bool interrupt_noted(void)
{
	return noted;
}

void interrupt_end(void)
{
	if (caught)
		sigaction(SIGINT, &before, NULL);
	caught = false;
}
