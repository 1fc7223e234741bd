/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a function can be patched: at its entry and at each exit, five bytes of whole instructions
 * that do the same at another address. Control may enter such a place only at its first
 * instruction: no branch of the file and no other symbol leads behind it. In functions with a
 * switch or a landing pad, which may be entered where no branch shows it, a place begins only
 * behind an instruction that moves the stack pointer.
 *
 * The first instruction stays where it is if it changes no flags and another tool's probe may sit
 * on it: that tool executes a copy of the instruction and continues behind it.
 */
#ifndef ISPOT_PROBES_INJECT_SITES_H
#define ISPOT_PROBES_INJECT_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct dso;
struct dso_function;

#define SITE_JUMP_BYTES 5
#define SITE_BYTES_MOST 15

struct inject_site {
	uint64_t address; /* in the file's terms */
	uint8_t n;	  /* bytes of instructions that move */
	uint8_t before;	  /* of them, bytes that stand before the record of an exit */
	bool is_exit;	  /* else the record stands before them all */
	bool returns;	  /* an exit by ret, else by a jump to goal */
	uint64_t goal;
	int32_t sp; /* bytes from the stack pointer here up to its value at the function's entry */
	uint8_t original[SITE_BYTES_MOST];
};

struct inject_sites {
	VEC(struct inject_site)
	char why[112]; /* why the function cannot be patched, a clause; "": all its sites are there
			*/
};

/* What is known of a file's code as a whole: where anything in it jumps. */
struct inject_file;

/* A file for x86-64. Free it with inject_file_free(). */
struct inject_file *inject_file_new(struct dso *dso);
void inject_file_free(struct inject_file *file);
void inject_sites_find(struct inject_sites *s, struct inject_file *file,
		       const struct dso_function *f);
void inject_sites_release(struct inject_sites *s);

#endif
