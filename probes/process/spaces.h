/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Translates addresses in processes to places in files. The executable mappings of a process are
 * read when it is first looked up, and again (at limited intervals) if an address lies outside all
 * of them.
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
	} dsos; /* the file of maps.data[i]; NULL: cannot be read */
	struct {
		VEC(char *)
	} paths;
	/*
	 * Monotonic times: when /proc was last read (for the process, or for its parent before the
	 * fork), and when a file was last mapped.
	 */
	uint64_t read_ns, changed_ns; /* read_ns: start of the latest reading */
	uint64_t read_again_ns;	      /* /proc is not read again before this time */
	/* records of its mappings may have been missed since the reading */
	bool is_stale;
	unsigned changes; /* changes with each change, and differs between spaces */
	bool ended;	  /* the process has ended; another may get its number */
};

struct spaces {
	struct dso_cache *dsos;
	struct {
		VEC(struct space)
	} all;
	struct map of_pid; /* process -> index in all */
	struct {
		VEC(pid_t)
	} ended; /* processes reported since the last spaces_drop() */
	struct {
		VEC(pid_t)
	} dropping; /* processes reported before that */
	unsigned changes;
	/* of all mappings with their paths; mappings beyond the limit are left out */
	uint64_t bytes, bytes_max;
	bool told;	    /* the user was told that mappings are left out */
	uint64_t closed_ns; /* end of the recording, after which little is read; 0: not yet */
};

struct place {
	struct dso *dso;
	uint64_t address; /* address in the file */
	/* a path through which ispot can open the file; borrowed until the next call */
	const char *path;
};

/*
 * Adds what the kernel reported: that a process has mapped an executable file, or was created by
 * another. So places are known even for processes that have ended since.
 */
void spaces_map(struct spaces *s, pid_t pid, const struct mapping *m);
void spaces_fork(struct spaces *s, pid_t parent, pid_t child, uint64_t time_ns);
/*
 * Tells that such reports may have been missed: each living process is read again when it is looked
 * up next.
 */
void spaces_reread(struct spaces *s);
/*
 * Tells that the process has ended. Its mappings stay until the spaces_drop() after the next,
 * because its last records may arrive late. The next process with its number starts with nothing.
 */
void spaces_end(struct spaces *s, pid_t pid);
void spaces_drop(struct spaces *s);
/* Returns the process's space, including what is mapped at ip if that can be known. */
const struct space *spaces_get(struct spaces *s, pid_t pid, uint64_t ip);
/*
 * Whether nothing more can become known about the address ip at a time (CLOCK_MONOTONIC, ns): a
 * mapping is known there, the process was read since then, or it had not mapped any file for a
 * second.
 */
bool space_settled(const struct space *space, uint64_t ip, uint64_t time_ns);
void spaces_init(struct spaces *s, struct dso_cache *dsos);
bool spaces_find(struct spaces *s, pid_t pid, uint64_t ip,
		 struct place *place); /* false: no file is mapped there */
/*
 * Finds a place in the data of a file whose code is mapped in the process, including its
 * zero-initialized part.
 */
bool spaces_find_data(struct spaces *s, pid_t pid, uint64_t address, struct place *place);
void spaces_release(struct spaces *s);

#endif
