/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/pager.h"

static bool is_read_by_a_person(void)
{
	return isatty(STDOUT_FILENO) || pager_active();
}

bool screen_colours(void)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(off && *off) && is_read_by_a_person() && !(term && !strcmp(term, "dumb"));
}

unsigned screen_width(void)
{
	struct winsize size;

	if (is_read_by_a_person() && !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 80)
		return size.ws_col;
	return 80;
}

int screen_write(const struct text *out, struct err *err)
{
	if ((out->n && fwrite(out->s, 1, out->n, stdout) != out->n) ||
	    (fflush(stdout) && errno != EPIPE))
		return err_set(err, -errno, "standard output: %s; is there room?", strerror(errno));
	return 0;
}
