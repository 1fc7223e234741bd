/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A class file with calls put into some of its methods (code.h). Nothing else of the class
 * changes: no method, field or attribute that a program could see is added, so a class that is
 * already loaded may be replaced by it.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_REWRITE_H
#define ISPOT_PROBES_JAVA_AGENT_REWRITE_H

#include "probes/java/agent/classfile.h"

/* The class whose static methods enter(int), exit(int) and, to end what a monitor is held for,
 * leave(Object, int) are called. Its package is one that every class loader leaves to the machine's
 * own, and that is open to each module. */
#define REWRITE_HELPER	   "java/lang/IspotProbe"
#define REWRITE_LEAVE_TYPE "(Ljava/lang/Object;I)V"

/*
 * The argument of a recorded call: an id, and for an exit of blocks the id of the method's first
 * block and the number of blocks less one.
 */
#define REWRITE_ID_BITS	   20
#define REWRITE_BLOCKS_MAX 256 /* of a method: they are on the stack of a Java thread */

struct rewrite_method {
	struct class_text class_name, name, signature, source; /* class_name with slashes */
	uint32_t access;
	uint32_t line; /* 0: not known */
};

enum { REWRITE_WHOLE = 1, REWRITE_BLOCKS = 2 };
enum {
	ACCESS_STATIC = 0x8,
	ACCESS_SYNCHRONIZED = 0x20,
	ACCESS_NATIVE = 0x100,
	ACCESS_ABSTRACT = 0x400
};

struct rewrite_hooks {
	void *ctx;
	/* Bits of the above: what of the method is wanted. */
	unsigned (*wanted)(void *ctx, const struct rewrite_method *m);
	/* n ids in a row: the method (block 0) or its blocks (1…), with their lines. The first;
	 * UINT32_MAX: no more can be had. */
	uint32_t (*define)(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
			   const uint32_t *lines);
	/* Wanted and left alone; why: a clause. */
	void (*left)(void *ctx, const struct rewrite_method *m, const char *why);
};

enum { REWRITE_NOTHING = 0, REWRITE_DONE = 1, REWRITE_MALFORMED = -1 };

/* out: the new class file, where REWRITE_DONE is returned; release in any case. */
int rewrite_class(const uint8_t *bytes, size_t n, const struct rewrite_hooks *hooks,
		  struct class_out *out);

/* The helper's class file: these methods native, and calibrate(n), which calls the first two n
 * times with REWRITE_CALIBRATE. */
#define REWRITE_CALIBRATE (-2)
void rewrite_helper(struct class_out *out);

#endif
