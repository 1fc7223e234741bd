/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads queue for one mutex until SIGUSR1, and the program says what score that call has:
 * the stamps lie around the call itself, so that what a busy machine takes from it is in both.
 */
#include <signal.h>

#include "microbench/common.h"

#define HOLD_NS 50000

static volatile sig_atomic_t over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct truth queued = { .block = "pthread_mutex_lock" };

static void end(int signal_number)
{
	(void)signal_number;
	over = 1;
}

static void run(struct worker *w)
{
	while (!over) {
		uint64_t begin_ns = now_ns();

		pthread_mutex_lock(&lock);
		truth_call(&queued, w->index, begin_ns);
		spin_ns(HOLD_NS);
		pthread_mutex_unlock(&lock);
		spin_ns(next_random(&w->random) % HOLD_NS);
	}
}

int main(void)
{
	const struct bench_options o = { .name = "queued", .threads = 2, .seed = 1 };
	const struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
	workers_run(&o, run);
	truth_print(&queued);
	return 0;
}
