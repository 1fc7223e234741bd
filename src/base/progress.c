/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#define SILENT_NS   1000000000ull
#define INTERVAL_NS 200000000ull

static bool line_stands;
static uint64_t work_began_ns;

void progress_begin(void)
{
	work_began_ns = clock_now_ns();
}

void progress_init(struct progress *p, const char *what)
{
	*p = (struct progress){
		.what = what,
		.start_ns = clock_now_ns(),
		.on = log_get_level() > LOG_QUIET && isatty(STDERR_FILENO),
	};
}

/* Returns the ns since the start if a line is due, else 0. */
static uint64_t due(struct progress *p)
{
	uint64_t now;

	if (!p->on)
		return 0;
	now = clock_now_ns();
	if (now - work_began_ns < SILENT_NS || now - p->drawn_ns < INTERVAL_NS)
		return 0;
	p->drawn_ns = now;
	return now > p->start_ns ? now - p->start_ns : 1;
}

static void draw(const char *what, const char *state)
{
	fprintf(stderr, "\r%s: %s\033[K", what, state);
	fflush(stderr);
	line_stands = true;
}

void progress_share(struct progress *p, double share)
{
	char state[16];

	if (!due(p))
		return;
	share = share >= 0 ? share <= 1 ? share : 1 : 0; /* NAN too becomes 0 */
	snprintf(state, sizeof(state), "%.0f%%", share * 100);
	draw(p->what, state);
}

void progress_rate(struct progress *p, uint64_t count, const char *unit)
{
	char total[TEXT_NUMBER], rate[TEXT_NUMBER], state[128];
	uint64_t ns = due(p);

	if (!ns)
		return;
	text_count(total, count);
	text_count(rate, (uint64_t)((double)count * 1e9 / (double)ns));
	snprintf(state, sizeof(state), "%s %s, %s/s", total, unit, rate);
	draw(p->what, state);
}

void progress_end(struct progress *p)
{
	if (p->drawn_ns)
		progress_hide();
	p->on = false;
}

void progress_hide(void)
{
	if (!line_stands)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line_stands = false;
}
