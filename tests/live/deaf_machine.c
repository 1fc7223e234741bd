/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deaf_machine: looks like a Java machine, as it maps the file libjvm.so of its directory, and
 * lives with SIGQUIT, but never opens the socket that it is asked for. Prints "ready".
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void on_quit(int n)
{
	(void)n;
}
int main(void)
{
	int jvm = open("libjvm.so", O_RDONLY);

	signal(SIGQUIT, on_quit);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, jvm, 0) == MAP_FAILED)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
