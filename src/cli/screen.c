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

static enum { COLOURS_AUTO, COLOURS_ALWAYS, COLOURS_NEVER } wanted_colours;

int screen_begin(const struct screen_options *o, struct err *err)
{
	if (!o->color || !strcmp(o->color, "auto"))
		wanted_colours = COLOURS_AUTO;
	else if (!strcmp(o->color, "always"))
		wanted_colours = COLOURS_ALWAYS;
	else if (!strcmp(o->color, "never"))
		wanted_colours = COLOURS_NEVER;
	else
		return args_refuse(err, "--color %s: no such choice; give auto, always or never",
				   o->color);
	if (!o->no_pager)
		pager_start();
	return 0;
}

bool screen_colours(void)
{
	const char *off = getenv("NO_COLOR"), *term = getenv("TERM");

	if (wanted_colours != COLOURS_AUTO)
		return wanted_colours == COLOURS_ALWAYS;
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
