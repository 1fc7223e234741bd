/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The name of a place by the stack with which a thread sleeps there: "pthread_cond_wait in
 * queue_pop in worker". It says what the program called, and the program's functions that led
 * there. Frames that say nothing are left out where a frame further out says something: wrappers
 * of system headers and of standard libraries, functions of a stripped library, and the thread's
 * start.
 */
#ifndef ISPOT_ANALYSIS_SITE_NAME_H
#define ISPOT_ANALYSIS_SITE_NAME_H

#include <stdint.h>

struct meta;
struct strtab;

#define SITE_FRAMES	3
#define SITE_FRAMES_MAX 8
#define SITE_DEPTHS	(SITE_FRAMES_MAX - SITE_FRAMES + 1)

/*
 * The names of a stack by its SITE_FRAMES innermost functions, by one more, and so on. A short
 * stack repeats its last name.
 */
struct site_path {
	uint32_t names[SITE_DEPTHS];
};

/* Names a stack, by its number; the names are added to the table. */
void site_name(const struct meta *meta, uint32_t stack, struct strtab *names,
	       struct site_path *path);

#endif
