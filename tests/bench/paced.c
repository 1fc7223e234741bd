/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An empty function, called so many times a second:
 *
 *	paced RATE SECONDS	prints "calls N", "late_ns NS": how much longer it took, and "cpu_ns
 *NS"
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 100

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline, noclone, used, aligned(64))) static void paced(void)
{
	__asm__ volatile("push %%rbx; pop %%rbx; nop; nop; nop" ::: "memory");
}

int main(int argc, char **argv)
{
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC), rate, n, done = 0, due_ns, end_ns;

	if (argc != 3)
		return 2;
	rate = strtoull(argv[1], NULL, 10);
	n = (uint64_t)((double)rate * atof(argv[2])) / BATCH * BATCH;
	while (done < n) {
		for (int i = 0; i < BATCH; i++)
			paced();
		done += BATCH;
		due_ns = start_ns + done * 1000 / (rate / 1000000);
		while (now_ns(CLOCK_MONOTONIC) < due_ns)
			;
	}
	end_ns = now_ns(CLOCK_MONOTONIC);
	due_ns = start_ns + n * 1000 / (rate / 1000000);
	printf("calls %llu\nlate_ns %llu\ncpu_ns %llu\n", (unsigned long long)n,
	       (unsigned long long)(end_ns - due_ns),
	       (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
