/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transition graph as a picture and a table. */
#ifndef ISPOT_REPORT_HTML_TRANSITIONS_H
#define ISPOT_REPORT_HTML_TRANSITIONS_H

struct text;
struct view;

/* Appends a section, or nothing if the graph was not requested or is empty. */
void html_transitions(const struct view *v, struct text *out);

#endif
