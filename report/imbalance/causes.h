/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that make a section uneven, as the LIME paper's figures 6 to 8 show them. */
#ifndef ISPOT_REPORT_IMBALANCE_CAUSES_H
#define ISPOT_REPORT_IMBALANCE_CAUSES_H

struct imbalance_view;
struct json;
struct parallel_section;
struct text;

void text_imbalance_causes(const struct imbalance_view *v, const struct parallel_section *s,
			   struct text *out);
/* Members answer and causes[] of a section; null where nothing was counted. */
void report_set_imbalance_causes(struct json *section, const struct imbalance_view *v,
				 const struct parallel_section *s);

#endif
