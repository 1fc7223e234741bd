/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a function can be patched: five bytes of whole instructions at its entry and at each exit,
 * which do the same at another address, and behind whose first nothing arrives: no branch of the
 * whole file, no other symbol, and, where switches or exceptions may arrive, only instructions
 * before which the stack pointer has moved, as it is the same wherever those do.
 *
 * The first instruction is left alone where it is one that a probe of another tool sits on without
 * harm, and that changes no flags: that tool executes a copy of it, and goes on behind it.
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
	int32_t sp; /* so far is the stack pointer of the function's entry above that here */
	uint8_t original[SITE_BYTES_MOST];
};

struct inject_sites {
	VEC(struct inject_site)
	char why[112]; /* not, a clause; "": they are all there */
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
