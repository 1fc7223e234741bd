/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of code that make a section uneven, as in figures 6 to 8 of the LIME paper. */
#ifndef ISPOT_REPORT_IMBALANCE_CAUSES_H
#define ISPOT_REPORT_IMBALANCE_CAUSES_H

struct imbalance_view;
struct json;
struct parallel_section;
struct text;

void text_imbalance_causes(const struct imbalance_view *v, const struct parallel_section *s,
			   struct text *out);
/* Sets the members answer and causes[] of a section; null if nothing was counted. */
void report_set_imbalance_causes(struct json *section, const struct imbalance_view *v,
				 const struct parallel_section *s);

#endif
