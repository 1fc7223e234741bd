/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As many parallel regions as its last argument says, in which each of four threads has a loop of
 * another length, longer by a factor where one stands before it; between them the main thread has
 * more to do than all of them together, without that. In a folder of its own: tests compile it,
 * with each compiler's OpenMP. */
#include <omp.h>
#include <stdlib.h>

static volatile unsigned long sink[64 * 8];

static void __attribute__((noinline)) work(int me, long n)
{
	for (long i = 0; i < n; i++) /* planted */
		sink[me * 8] += (unsigned long)i;
}

static void __attribute__((noinline)) alone(long n)
{
	for (long i = 0; i < n; i++)
		sink[0] += (unsigned long)i;
}

int main(int argc, char **argv)
{
	long factor = argc > 2 ? atol(argv[1]) : 1;

	omp_set_num_threads(4);
	for (int r = 0; r < atoi(argv[argc - 1]); r++) {
		alone(400000);
#pragma omp parallel
		work(omp_get_thread_num(),
		     20000L * factor * (1 + omp_get_thread_num() * omp_get_thread_num() % 7));
	}
}
