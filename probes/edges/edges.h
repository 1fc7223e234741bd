/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that were compiled to count their edges (-fsanitize-coverage=trace-pc) with the runtime
 * of edges/: whether one is such a program, running it, and reading what it counted. It runs at
 * its own speed but for the counting, needs no root, and its times are real ones.
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

/* Code of a file. */
struct edges_place {
	uint32_t object; /* of edges.names: the file's path */
	uint64_t address;
};

struct edges_step {
	uint32_t from, to; /* of edges.places: instrumented blocks; from EDGES_NOWHERE: none */
};

struct edges_log {
	uint64_t *map; /* the file, read only */
	size_t bytes;
	uint32_t process; /* numbered from 0 */
	uint32_t pid, tid;
	const struct edges_header *header;
	struct {
		VEC(struct edges_step)
	} steps; /* [number of the edge] */
};

/* A cut: what the thread of a log did since the previous one. */
struct edges_part {
	uint32_t log;
	uint32_t site; /* of edges.places; EDGES_NOWHERE: not known */
	const struct edges_cut *cut;
	const struct edges_count *counts; /* cut->n; each edge is one of the log's */
};

/* A thread was made or waited for. */
struct edges_event {
	uint64_t time_ns;
	uint32_t log;	     /* of who did it */
	bool is_wait;	     /* for the end of a thread, at site; else the maker's made-th */
	uint32_t site, made; /* site: as a part's */
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
	} parts; /* of a log one after the other, in order */
	struct {
		VEC(struct edges_event)
	} events;	 /* likewise */
	uint32_t missed; /* threads that were not counted */
	uint32_t full;	 /* logs that had no room to the end */
};

/*
 * Whether the program that argv means counts its edges (certain), or may load or start something
 * that does. Else -ENOEXEC, and says how to compile it; -ENOENT: it is not there.
 */
int edges_check(char *const *argv, bool *certain, struct err *err);
/* Runs it with its files in dir, which exists. *status: its exit status, 128 + signal. */
int edges_run(char *const *argv, const char *dir, int *status, struct err *err);
/* Maps the files of a directory; what is damaged is left out. */
int edges_read(struct edges *e, const char *dir, struct err *err);
void edges_release(struct edges *e);

#endif
