/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * swapped FILE: takes steps, while a process that shares its descriptors puts FILE, opened for
 * writing, at the number of each file in memory that it comes to have. Ends with status 7 at
 * SIGTERM, having printed how many it exchanged.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"

#define STACK (64 << 10)
#define MOST  16 /* descriptors are numbers below */

static int file;
static unsigned *exchanged;

_Noreturn static int exchange(void *none)
{
	char path[MOST][32], name[64];
	ssize_t n;

	(void)none;
	for (int i = 0; i < MOST; i++)
		snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", i);
	for (;;)
		for (int i = 3; i < MOST; i++) {
			n = readlink(path[i], name, sizeof(name) - 1);
			name[n > 0 ? n : 0] = '\0';
			if (!strncmp(name, "/memfd:", 7) && dup2(file, i) == i)
				++*exchanged;
		}
}

int main(int argc, char **argv)
{
	const struct timespec a_moment = { .tv_nsec = 1000000 };
	static char stack[STACK];
	pid_t other;

	exchanged = mmap(NULL, sizeof(*exchanged), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	file = argc > 1 ? open(argv[1], O_RDWR) : -1;
	if (file < 0 || exchanged == MAP_FAILED)
		return 2;
	signal(SIGTERM, on_term);
	other = clone(exchange, stack + STACK, CLONE_FILES | SIGCHLD, NULL);
	puts("ready");
	fflush(stdout);
	for (unsigned long n = 0; !enough; n++) {
		step(n);
		nanosleep(&a_moment, NULL);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	printf("exchanged %u\n", *exchanged);
	return 7;
}
