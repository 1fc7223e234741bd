/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts calls into some methods of a class file (code.h). Nothing else of the class changes: it gets
 * no method, field or attribute that a program could see, so the new class file may replace a class
 * that is loaded already.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_REWRITE_H
#define ISPOT_PROBES_JAVA_AGENT_REWRITE_H

#include "probes/java/agent/classfile.h"

/*
 * The helper: the class whose static methods the calls call, which are enter(int), exit(int) and
 * leave(Object, int). The last one is for an exit that releases a monitor. Every class loader
 * leaves the helper's package to the machine's own loader, and every module may use it.
 */
#define REWRITE_HELPER	   "java/lang/IspotProbe"
#define REWRITE_LEAVE_TYPE "(Ljava/lang/Object;I)V"

/*
 * The argument of a call has an id in these bits. For the exit from a block, this is the id of the
 * method's first block, and the bits above are the number of its blocks less one.
 */
#define REWRITE_ID_BITS	   20
#define REWRITE_BLOCKS_MAX 256 /* of a method: their ids are kept on the stack of a Java thread */

struct rewrite_method {
	struct class_text class_name, name, signature, source; /* class_name with slashes */
	uint32_t access;
	uint32_t line; /* 0: not known */
};

/*
 * REWRITE_LOCK: the method only waits for the lock that its object is. It calls leave() with the
 * object at its begin and at its end, and has no id.
 */
enum { REWRITE_WHOLE = 1, REWRITE_BLOCKS = 2, REWRITE_LOCK = 4 };
#define REWRITE_AWAITS (-3)
#define REWRITE_TOOK   (-4)
enum {
	ACCESS_STATIC = 0x8,
	ACCESS_SYNCHRONIZED = 0x20,
	ACCESS_NATIVE = 0x100,
	ACCESS_ABSTRACT = 0x400
};

struct rewrite_hooks {
	void *ctx;
	/* Returns what to record of the method, as bits of the above. */
	unsigned (*wanted)(void *ctx, const struct rewrite_method *m);
	/* Gives n consecutive ids to the method, or to its blocks with their lines. Returns the
	 * first id, or UINT32_MAX if there are no more. */
	uint32_t (*define)(void *ctx, const struct rewrite_method *m, bool block, uint32_t n,
			   const uint32_t *lines);
	/* Called for a wanted method that is not rewritten. why: a clause. */
	void (*left)(void *ctx, const struct rewrite_method *m, const char *why);
};

enum { REWRITE_NOTHING = 0, REWRITE_DONE = 1, REWRITE_MALFORMED = -1 };

/* out: the new class file, if REWRITE_DONE is returned. Release it in any case. */
int rewrite_class(const uint8_t *bytes, size_t n, const struct rewrite_hooks *hooks,
		  struct class_out *out);

/* Makes the helper's class file. The three methods are native; calibrate(n) calls the first two n
 * times with REWRITE_CALIBRATE. */
#define REWRITE_CALIBRATE (-2)
void rewrite_helper(struct class_out *out);

#endif
