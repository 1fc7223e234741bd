/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forks without any import that says so; parent and child call a function 70 times each. */
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sum;
void counted(unsigned i);

__attribute__((noinline)) void counted(unsigned i)
{
	sum += i;
}

int main(void)
{
#ifdef SYS_fork
	long child = syscall(SYS_fork);
#else
	long child = syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0);
#endif

	for (unsigned i = 0; i < 70; i++)
		counted(i);
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
	return child < 0;
}
