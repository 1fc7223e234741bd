/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/diff/diff.h"
#include "cli/args.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/screen.h"
#include "report/block/diff.h"

#define EXIT_ABOVE 3

struct diff_options {
	struct screen_options screen;
	double fail_above; /* negative: not asked */
	uint64_t top;
	bool json;
	int verbose;
};

static const struct option_row options[] = {
	{ 0, "fail-above", "SCI", ARG_F64, offsetof(struct diff_options, fail_above),
	  "exit with 3 if the SCI of a function grew by more than SCI, beyond the noise", NULL },
	{ 0, "top", "N", ARG_ABOVE_0, offsetof(struct diff_options, top),
	  "show N functions (default 15)", NULL },
	{ 0, "json", NULL, ARG_FLAG, offsetof(struct diff_options, json), "write JSON to stdout",
	  NULL },
	{ 'v', "verbose", NULL, ARG_COUNT, offsetof(struct diff_options, verbose),
	  "show every function, changed or not", NULL },
	SCREEN_ROWS(struct diff_options, screen),
	{ 0 },
};

static const char *const examples[] = {
	"ispot diff before.data -- after.data",
	"what a change made slower or faster",
	"ispot diff a1 a2 a3 -- b1 b2 b3",
	"several runs a side: the spread between them counts too",
	"ispot diff --fail-above 0.05 main.data -- mine.data",
	"for a test: exits with 3 if interference grew",
	NULL,
};

/* Splits the words at `--` into those before and after it. Two words without `--` are one before
 * and one after. */
static int split(char **words, int n, int *n_before, char ***after, int *n_after, struct err *err)
{
	static const char how[] =
		"no two groups of recordings are given; give BEFORE... -- AFTER...";
	int dash = 0;

	while (dash < n && strcmp(words[dash], "--"))
		dash++;
	*n_before = dash;
	*after = words + dash + 1;
	*n_after = n - dash - 1;
	if (dash == n && n == 2) {
		*n_before = *n_after = 1;
		*after = words + 1;
	}
	return *n_before < 1 || *n_after < 1 ? args_refuse(err, how) : 0;
}

static bool is_above(const struct diff *diff, double limit)
{
	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (diff_growth(b) > limit)
			return true;
	return false;
}

static int run_diff(int argc, char **argv, struct err *err)
{
	struct diff_options o = { .fail_above = -1 };
	struct diff_view v = { 0 };
	struct diff diff = { 0 };
	struct text out = { 0 };
	char **after;
	int first, n_before, n_after, rc;

	rc = args_parse(options, &o, ARGS_TWO_SIDES, argc, argv, &first, err);
	if (!rc)
		rc = split(argv + first, argc - first, &n_before, &after, &n_after, err);
	if (!rc)
		rc = screen_begin(&o.screen, err);
	if (rc)
		return rc;
	rc = diff_read(&diff, (const char *const *)argv + first, (size_t)n_before,
		       (const char *const *)after, (size_t)n_after, err);
	if (!rc) {
		v.diff = &diff;
		v.all = o.verbose > 0;
		v.top = o.top;
		v.colours = screen_colours();
		v.width = screen_width();
		(o.json ? report_diff_json : report_diff_text)(&v, &out);
		rc = screen_write(&out, err);
	}
	if (!rc && o.fail_above >= 0 && is_above(&diff, o.fail_above))
		rc = EXIT_ABOVE;
	text_release(&out);
	diff_release(&diff);
	return rc;
}

static const struct option_choices choices[] = {
	{ "color", "auto always never" },
	{ 0 },
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "compare recordings before and after a change",
	.usage = "ispot diff [--fail-above SCI] [--top N] [--json] [--color WHEN]\n"
		 "           [--no-pager] [-v] BEFORE... -- AFTER...",
	.examples = examples,
	.options = options,
	.choices = choices,
	.needs = CMD_READS_TRACE,
	.run = run_diff,
};
