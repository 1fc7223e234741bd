/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that were compiled to count their edges (-fsanitize-coverage=trace-pc) with the runtime
 * of edges/: checking whether a program counts, running it, and reading its counts. Apart from
 * counting, the program runs at its own speed, without root, and its times are real.
 */
#ifndef ISPOT_PROBES_EDGES_EDGES_H
#define ISPOT_PROBES_EDGES_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "probes/edges/runtime/log.h"

#define EDGES_NOWHERE UINT32_MAX

struct err;

/* A place in the code of a file. */
struct edges_place {
	uint32_t object; /* the file's path, as a number of edges.names */
	uint64_t address;
};

struct edges_step {
	/* instrumented blocks, as numbers of edges.places; from EDGES_NOWHERE: none */
	uint32_t from, to;
};

struct edges_log {
	uint64_t *map; /* a copy of the file */
	size_t bytes;
	uint32_t process; /* numbered from 0 */
	uint32_t pid, tid;
	const struct edges_header *header;
	struct {
		VEC(struct edges_step)
	} steps; /* [number of the edge] */
};

/* A cut: what the thread of a log did since its previous cut. */
struct edges_part {
	uint32_t log;
	uint32_t site; /* number of edges.places; EDGES_NOWHERE: unknown */
	const struct edges_cut *cut;
	const struct edges_count *counts; /* cut->n counts; each edge is one of the log's */
};

/* A thread created another thread, or waited for the end of one. */
struct edges_event {
	uint64_t time_ns;
	uint32_t log; /* log of the thread that did so */
	/*
	 * true: a wait for the end of a thread, at site; false: the creation of the made-th thread
	 */
	bool is_wait;
	uint32_t site, made; /* site: as in a part */
	uint64_t thread;
};

struct edges {
	struct strtab names;
	struct {
		VEC(struct edges_place)
	} places;
	struct map place_of;
	struct {
		VEC(struct edges_log)
	} logs;
	struct {
		VEC(struct edges_part)
	} parts; /* those of one log are together, in order */
	struct {
		VEC(struct edges_event)
	} events;	 /* those of one log are together, in order */
	uint32_t missed; /* threads that were not counted */
	uint32_t full;	 /* logs that ran out of room */
};

/*
 * Checks whether the program that argv starts counts its edges (*certain), or may load or start
 * something that does. Otherwise returns -ENOEXEC, and the message says how to compile the program;
 * -ENOENT: the program does not exist.
 */
int edges_check(char *const *argv, bool *certain, struct err *err);
/*
 * Runs the program with its files in dir, which exists. *status is its exit status, or 128 +
 * signal.
 */
int edges_run(char *const *argv, const char *dir, int *status, struct err *err);
/* Reads the logs of a directory, without damaged parts. */
int edges_read(struct edges *e, const char *dir, struct err *err);
void edges_release(struct edges *e);

#endif
