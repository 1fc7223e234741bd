/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs of `ispot fleet`. fleet.c parses the options, and each verb has a file of its name. */
#ifndef ISPOT_CMD_FLEET_INTERNAL_H
#define ISPOT_CMD_FLEET_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/args.h"
#include "cli/screen.h"
#include "cmd/fleet/files.h"

struct err;

#define FLEET_DB "fleet.db" /* if --db is not given */

struct fleet_args {
	struct screen_options screen; /* report */
	const char *output, *db;
	struct arg_list functions;  /* record */
	struct arg_list indicators; /* record, simulate; push, report: at most one */
	const char *pid, *by, *duty, *dir, *to;
	uint64_t every_ns; /* collect; 0: once */
	uint64_t duration_ns, period, files, file_bytes;
	double cost; /* percent; 0: no bound */
	uint64_t machines, samples, seed, applications, cpus, interferers; /* simulate */
	uint64_t trio_interferers;
	uint64_t bucket_ns;	  /* reduce, push: bucket of rows; report: of phases; 0: none */
	struct arg_list by_phase; /* report */
	const char *beside;	  /* report */
	struct arg_list trios;
	const char *type, *base, *class; /* report */
	struct arg_list exclude;
	uint64_t min_samples, top;
	double alpha;
	bool json, csv;
	const char *html;
	const char *engine, *credentials, *ca_file; /* push, report */
	uint64_t retry_ns;
};

/* Runs a verb, as the run function of struct command does. words: those after the verb,
 * NULL-terminated. */
typedef int fleet_verb(const struct fleet_args *args, char **words, struct err *err);

struct command;

/* Prints the help of one verb of the command. own: the verb's options, whose help it shortens. */
void fleet_help(const struct command *fleet, const char *verb, const char *summary,
		struct option_row *own);

/* Open files of samples. ends is set to the end of reading each. */
struct fleet_given {
	char **paths; /* for messages, NULL-terminated */
	int *opened;
	enum fleet_file_end *ends;
};

/* Does the work of the verb reduce or push on these files. Files that cannot be read are reported,
 * but are no failure. */
typedef int fleet_taker(const struct fleet_args *args, const struct fleet_given *given,
			struct err *err);
fleet_taker fleet_reduce_files, fleet_push_files;

fleet_verb fleet_collect, fleet_export, fleet_push, fleet_record, fleet_reduce, fleet_report,
	fleet_simulate;

#endif
