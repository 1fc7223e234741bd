/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/table/spark.h"

#include <math.h>
#include <stdint.h>

#include "analysis/stat/hist.h"
#include "base/text.h"

static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
#define LEAST_SEEN 0.005 /* smaller shares would print as 0 % */
static const char *const ascii[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
#define LEVELS (sizeof(blocks) / sizeof(*blocks) - 1)

/*
 * Returns the number of calls up to step i of SPARK_COLUMNS logarithmic steps from the fastest to
 * the slowest.
 */
static uint64_t up_to(const struct hist *h, unsigned i)
{
	double low = log((double)h->min + 1), high = log((double)h->max + 1);

	if (i == SPARK_COLUMNS)
		return h->count;
	return hist_between(h, 0, (uint64_t)exp(low + (high - low) * i / SPARK_COLUMNS));
}

void spark(const struct hist *h, bool utf8, struct text *out)
{
	const char *const *levels = utf8 ? blocks : ascii;
	uint64_t count[SPARK_COLUMNS] = { 0 }, below = 0, most = 0;

	for (unsigned i = 0; h && h->count && i < SPARK_COLUMNS; i++) {
		uint64_t upto = up_to(h, i + 1);

		count[i] = upto > below ? upto - below : 0;
		below = upto > below ? upto : below;
		most = count[i] > most ? count[i] : most;
	}
	for (unsigned i = 0; i < SPARK_COLUMNS; i++) {
		double share = most ? log1p((double)count[i]) / log1p((double)most) : 0;

		text_add(out, levels[(unsigned)ceil(share * LEVELS - 1e-9)]);
	}
}

void spark_values(const double *values, size_t n, bool utf8, struct text *out)
{
	const char *const *levels = utf8 ? blocks : ascii;
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, values[i]);
	for (size_t i = 0; i < n; i++)
		text_add(out, levels[largest > 0 && values[i] > 0
					     ? (unsigned)ceil(values[i] / largest * LEVELS - 1e-9)
					     : 0]);
}

void bar(double share, unsigned columns, bool utf8, struct text *out)
{
	unsigned eighths = share >= 1  ? 8 * columns
			   : share > 0 ? (unsigned)(share * 8 * columns)
				       : 0;

	if (share >= LEAST_SEEN && !eighths)
		eighths = 1;
	for (unsigned i = 0; i < eighths / 8; i++)
		text_add(out, utf8 ? "█" : "#");
	if (utf8)
		text_add(out, parts[eighths % 8]);
	else if (eighths % 8 >= 4 || eighths < 8)
		text_add(out, eighths ? "#" : "");
}
