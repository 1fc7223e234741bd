/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the output of `valgrind --tool=callgrind` with --dump-instr=yes --collect-jumps=yes
 * --compress-pos=no --compress-strings=no. Each dump has the counts of one thread since its
 * previous dump, by instruction. The format: valgrind's manual, "Callgrind Format Specification".
 */
#ifndef ISPOT_ANALYSIS_IMBALANCE_COUNT_CALLGRIND_H
#define ISPOT_ANALYSIS_IMBALANCE_COUNT_CALLGRIND_H

struct err;

struct counts;

/* Appends the dump in a file. Returns -EINVAL if it has none. */
int callgrind_read(struct counts *c, const char *path, struct err *err);
/* Reads all of callgrind's files in a directory. */
int callgrind_read_all(struct counts *c, const char *dir, struct err *err);

#endif
