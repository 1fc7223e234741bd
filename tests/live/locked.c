/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locked FLAGS [STEPS]: locks its memory as mlockall(FLAGS) says, prints "ready" and takes STEPS
 * steps, or as many as come until SIGTERM; then prints how much of it is locked and how many steps
 * it took, and ends with status 7. Status 3: it may not lock that much.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "steps.h"

static void print_locked(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmLck:", 6))
			fputs(line, stdout);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	const struct timespec a_moment = { .tv_nsec = 1000000 };
	const unsigned long most = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const int flags = argc > 1 ? atoi(argv[1]) : 0;
	unsigned long n = 0;

	signal(SIGTERM, on_term);
	if (flags && mlockall(flags))
		return 3;
	puts("ready");
	fflush(stdout);
	while (!enough && (!most || n < most)) {
		step(n++);
		nanosleep(&a_moment, NULL);
	}
	print_locked();
	printf("steps %lu\n", n);
	return 7;
}
