/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses of processes to places in files: the executable mappings of each process are read when
 * it is first asked about, and again (not too often) when an address lies in none.
 */
#ifndef ISPOT_PROBES_PROCESS_SPACES_H
#define ISPOT_PROBES_PROCESS_SPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "base/vec.h"
#include "symbol/maps.h"

struct dso;
struct dso_cache;

struct space {
	pid_t pid;
	struct mappings maps;
	struct {
		VEC(struct dso *)
	} dsos; /* of maps.data[i]; NULL: cannot be read */
	struct {
		VEC(char *)
	} paths;
	/* By the monotonic clock: when /proc was asked, or its parent's was, before it was born;
	 * when a file was mapped last. */
	uint64_t read_ns, changed_ns; /* read_ns: when the latest reading began */
	uint64_t read_again_ns;	      /* not before */
	bool is_stale;		      /* some of its mappings may have been missed since */
	unsigned changes;	      /* another number after each change, and in each space */
	bool ended;		      /* the process is gone; its number may become another's */
};

struct spaces {
	struct dso_cache *dsos;
	struct {
		VEC(struct space)
	} all;
	struct map of_pid; /* index in all */
	struct {
		VEC(pid_t)
	} ended; /* told since the last spaces_drop() */
	struct {
		VEC(pid_t)
	} dropping; /* told before that */
	unsigned changes;
	uint64_t bytes, bytes_max; /* of all mappings with their paths; what finds no room is left
				      out */
	bool told;		   /* that something is */
	uint64_t closed_ns; /* when the recording was over: little is read after it; 0: it is not */
};

struct place {
	struct dso *dso;
	uint64_t address; /* in the file's terms */
	const char *path; /* opens the file from here; borrowed until the next call */
};

/*
 * Adds what the kernel told: a file that a process has mapped executable, a process made by
 * another. So places are known of processes that have ended since.
 */
void spaces_map(struct spaces *s, pid_t pid, const struct mapping *m);
void spaces_fork(struct spaces *s, pid_t parent, pid_t child, uint64_t time_ns);
/* Some of that may have been missed: every process that lives is looked at, when its turn has come.
 */
void spaces_reread(struct spaces *s);
/*
 * The process has ended. What is known of it stays until the spaces_drop() after the next, because
 * its last records may come late; the next process of that number begins anew.
 */
void spaces_end(struct spaces *s, pid_t pid);
void spaces_drop(struct spaces *s);
/* With what is mapped at ip, if that can be known. */
const struct space *spaces_get(struct spaces *s, pid_t pid, uint64_t ip);
/* Whether no more will be known of what was at ip at a time, in ns of the monotonic clock:
 * something is known there, the process was looked at since, or had not mapped any file for a
 * second. */
bool space_settled(const struct space *space, uint64_t ip, uint64_t time_ns);
void spaces_init(struct spaces *s, struct dso_cache *dsos);
bool spaces_find(struct spaces *s, pid_t pid, uint64_t ip,
		 struct place *place); /* false: no file is mapped there */
/* A place in the data of a file whose code is mapped there, its zeroed part included. */
bool spaces_find_data(struct spaces *s, pid_t pid, uint64_t address, struct place *place);
void spaces_release(struct spaces *s);

#endif
