/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/sequence/fold.h"
#include "analysis/sequence/pattern.h"
#include "analysis/sequence/track.h"

/* Replaces known loops at the end of the row by one symbol each. */
static void reduce(struct fold *f, const struct patterns *p)
{
	for (;;) {
		uint32_t top = f->symbols[f->n - 1], k = 0, loop;

		if (f->n > 1 && (f->symbols[f->n - 2] == top ||
				 patterns_repeats(p, f->symbols[f->n - 2], top, TRACK_DEPTH - 1))) {
			f->n--;
			return;
		}
		loop = patterns_loop(p, f->symbols, f->n, &k);
		if (loop == PATTERN_NONE)
			return;
		f->n -= k;
		f->symbols[f->n++] = loop;
	}
}

/* Returns the length of a sequence that the row ends with twice, or 0 if there is none. */
static uint32_t repeated(const struct fold *f)
{
	const uint32_t *end = f->symbols + f->n;

	for (uint32_t k = 2; k <= PATTERN_ELEMENTS && 2 * k <= f->n; k++)
		if (end[-1] == end[-1 - (int)k] && !memcmp(end - k, end - 2 * k, k * sizeof(*end)))
			return k;
	return 0;
}

/* Reads the row again, because it may contain single iterations of loops that were learnt since,
 * here or in other rows. */
static void again(struct fold *f, struct patterns *p)
{
	struct fold row = *f;

	f->n = 0;
	f->known = p->version;
	for (uint32_t i = 0; i < row.n; i++)
		fold_push(f, p, patterns_resolve(p, row.symbols[i]), false);
}

void fold_push(struct fold *f, struct patterns *p, uint32_t symbol, bool learn)
{
	uint32_t k;

	if (f->n == 2 * FOLD_WINDOW) {
		memmove(f->symbols, f->symbols + FOLD_WINDOW, FOLD_WINDOW * sizeof(*f->symbols));
		f->n = FOLD_WINDOW;
	}
	if (f->known != p->version)
		again(f, p);
	f->symbols[f->n++] = symbol;
	reduce(f, p);
	while (learn && (k = repeated(f))) {
		uint32_t loop = patterns_add_loop(p, f->symbols + f->n - k, k);

		if (loop == PATTERN_NONE)
			return;
		f->n -= 2 * k;
		f->symbols[f->n++] = loop;
		patterns_rewrite(p, loop);
		again(f, p);
	}
}
