/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions are traced: those that -F matches in the files of the target, also in files that
 * it maps later. */
#ifndef ISPOT_PROBES_SESSION_SELECT_H
#define ISPOT_PROBES_SESSION_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/select/select.h"

struct attach;
struct beside;
struct costs;
struct dso;
struct dso_function;
struct err;
struct patterns;
struct recording;

/* Objects with functions that processes mapped during the recording. */
struct late {
	uint64_t joined_ns; /* time spent on reading such mappings */
	bool waits;	    /* some were mapped that may not be read yet */
	unsigned objects;
	const char *path;    /* path of the first of them */
	uint64_t most_ns;    /* the longest time from a mapping to its probes */
	bool unknown;	     /* that time is unknown for one of them */
	bool has_executable; /* one of them is an executable */
};

struct select {
	/* parts that it asks */
	const struct costs *costs;
	struct attach *attach;
	struct beside *beside;
	struct selection selection;
	size_t n_reported;  /* of the selection's markers that are not traced */
	bool starts_others; /* the command is a shell: -F may mean programs that it starts */
	char *program;	    /* base name of the program that runs, without wrappers */
	struct late late;
};

void session_select_init(struct select *sel, const struct recording *r);
void session_select_release(struct select *sel);
/* Reads the target's files, and selects and plans the functions in them that -F matches. */
int session_select(struct select *sel, struct recording *r, struct err *err);
/* Without -F: selects what these patterns match in any object, or a function; keeps the first n. */
int session_select_matching(struct select *sel, const struct recording *r,
			    struct patterns *patterns, struct err *err);
void session_select_function(struct select *sel, struct dso *dso, const struct dso_function *f);
void session_select_keep(struct select *sel, size_t n);
/* Lets functions be selected again that were to be timed in process, but are not. */
void session_select_dropped_again(struct select *sel, const struct recording *r);
size_t session_n_selected(const struct select *sel);
/* Plans the functions that were selected from the first on. */
void session_plan_selected(const struct select *sel, struct recording *r, size_t first);
/* Returns the base name of the program that runs, without wrappers; NULL: unknown. */
const char *session_program(const struct select *sel);
/* Returns whether some files were mapped that may not be read yet. */
bool session_waits_to_join(const struct select *sel);
/*
 * Adds a set with the chosen functions of objects that processes have mapped since the last call. A
 * notice names functions that cannot be traced.
 */
void session_join_mapped(struct select *sel, struct recording *r);
/* Writes a notice if the first calls of such objects are missing. */
void session_report_late(const struct select *sel, struct recording *r);
/* Returns whether a function of that name is one of options.regions. */
bool session_is_region(const struct recording *r, const char *symbol);
/* Writes a notice if the program is in Go, whose functions have no probes. */
void session_report_go(struct recording *r);
/* Writes which markers that -F matches are not traced, since the last call. */
void session_report_unselected(struct select *sel, struct recording *r);
/* Writes a notice, at the end, about names of --no-key that matched nothing. */
void session_report_no_keys(struct recording *r);

#endif
