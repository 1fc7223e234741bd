/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turns N: two threads hand a byte to and fro N times through two pipes. The second waits for it in
 * two functions in turn, whose frames are of one size: only their return addresses tell them apart.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int there[2], back[2];
static long rounds;

static void one_read(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		abort();
}

static void one_write(int fd, const char *byte)
{
	if (write(fd, byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void left(void)
{
	one_read(there[0]);
	one_write(back[1], "l");
}

__attribute__((noinline)) static void right(void)
{
	one_read(there[0]);
	one_write(back[1], "r");
}

static void *answer(void *unused)
{
	for (long i = 0; i < rounds; i++)
		(i % 2 ? left : right)();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, answer, NULL))
		return 1;
	for (long i = 0; i < rounds; i++) {
		one_write(there[1], "");
		one_read(back[0]);
	}
	return pthread_join(thread, NULL);
}
