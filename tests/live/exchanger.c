/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchanger A B: puts each into the place of the other until its standard input ends, then says how
 * often. Whoever may write to a directory can do that while root is on its way through it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TURN 64 /* exchanges between two looks at the standard input */

static int has_ended(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) != 0;
}

int main(int argc, char **argv)
{
	unsigned long n = 0;

	if (argc != 3)
		return 2;
	do {
		for (int i = 0; i < TURN; i++, n++)
			if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE)) {
				fprintf(stderr, "cannot exchange %s and %s: %s\n", argv[1], argv[2],
					strerror(errno));
				return 1;
			}
	} while (!has_ended());
	printf("exchanged %lu times\n", n);
	return 0;
}
