/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mappings of a live process, from /proc/PID/maps. */
#ifndef ISPOT_SYMBOL_MAPS_H
#define ISPOT_SYMBOL_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;

/* One line of /proc/PID/maps: a mapping of a file, of the kernel or of nothing. */
struct mapping_line {
	uint64_t start, end, file_offset;
	dev_t device;
	ino_t inode;		 /* 0: no file */
	const char *permissions; /* "r-xp" */
	const char *name;	 /* a path with newlines as \\012, "[stack]", …, or "" */
};

/* Returns false to end the reading. The line is valid during the call only. */
typedef bool (*mapping_visitor)(void *ctx, const struct mapping_line *line);

/* Visits the mappings of a process in the order of their addresses. 0, or -errno */
int mappings_each(pid_t pid, mapping_visitor visit, void *ctx);

/* An executable mapping of a file. */
struct mapping {
	uint64_t start, end, file_offset;
	dev_t device;
	ino_t inode;
	char *path; /* as maps shows it: in the mount namespace of the process */
};

#define MAPPINGS_MAX 16384 /* of one process; mappings_read() ignores the others */

struct mappings {
	VEC(struct mapping)
	uint64_t vdso_start, vdso_end; /* of the kernel's code (symbol/vdso.h); 0: none */
};

/*
 * Reads the executable mappings of files, and the place of the vDSO. -ESRCH: no such process. If a
 * signal that ends ispot is pending, the list may be incomplete.
 */
int mappings_read(struct mappings *m, pid_t pid, struct err *err);
const struct mapping *mappings_find(const struct mappings *m, uint64_t address); /* NULL: none */
void mappings_release(struct mappings *m);

/*
 * Finds a path that opens the mapped file from here: the mapping's path if it leads to the same
 * inode, else /proc/PID/root/PATH, else /proc/PID/map_files/…; -ENOENT: the file was deleted or
 * replaced.
 */
int mapping_path(const struct mapping *m, pid_t pid, char *buf, size_t n, struct err *err);
/*
 * Opens the mapped file for reading, but nothing that was put in its place, such as a pipe, whose
 * opening would wait. Returns the descriptor, or -1.
 */
int mapping_open(const struct mapping *m, pid_t pid);

#endif
