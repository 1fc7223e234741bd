/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executable file mappings of a live process, from /proc/PID/maps. */
#ifndef ISPOT_SYMBOL_MAPS_H
#define ISPOT_SYMBOL_MAPS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct err;

struct mapping {
	uint64_t start, end, file_offset;
	dev_t device;
	ino_t inode;
	char *path; /* as in maps: in the process's mount namespace */
};

#define MAPPINGS_MAX 16384 /* of a process: further ones are not looked at */

struct mappings {
	VEC(struct mapping)
	uint64_t vdso_start, vdso_end; /* the kernel's own code (symbol/vdso.h); 0: not seen */
};

/* -ESRCH: no such process. If a signal waits to end ispot, not all of many thousands. Only
 * executable mappings of files, and where the vdso is. */
int mappings_read(struct mappings *m, pid_t pid, struct err *err);
const struct mapping *mappings_find(const struct mappings *m, uint64_t address); /* NULL: none */
void mappings_release(struct mappings *m);

/* A path that opens the mapped file from here: path itself if it is the same inode, else
 * /proc/PID/root/PATH, else /proc/PID/map_files/…; -ENOENT: deleted or replaced. */
int mapping_path(const struct mapping *m, pid_t pid, char *buf, size_t n, struct err *err);

#endif
