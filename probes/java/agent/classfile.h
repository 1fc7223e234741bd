/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Java class files (JVM specification, chapter 4), as far as the rewriter needs them: a reader that
 * never reads outside its bytes, a growing output, and the constant pool. This code runs in the
 * program's Java machine, so it never ends the process: failures are kept in the object (bad,
 * failed) until the caller looks at them.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_CLASSFILE_H
#define ISPOT_PROBES_JAVA_AGENT_CLASSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads big-endian numbers from a range of bytes. After its end they are 0, and bad is set. */
struct class_reader {
	const uint8_t *p, *end;
	bool bad;
};

uint32_t class_u1(struct class_reader *r);
uint32_t class_u2(struct class_reader *r);
uint32_t class_u4(struct class_reader *r);
/* Returns the next n bytes, which belong to the range, or NULL if there are fewer. */
const uint8_t *class_bytes(struct class_reader *r, size_t n);

struct class_out {
	uint8_t *p;
	size_t n, room;
	bool failed; /* no memory */
};

void class_add(struct class_out *o, const void *p, size_t n);
void class_add_u1(struct class_out *o, uint32_t v);
void class_add_u2(struct class_out *o, uint32_t v);
void class_add_u4(struct class_out *o, uint32_t v);
void class_set_u2(struct class_out *o, size_t at, uint32_t v);
void class_set_u4(struct class_out *o, size_t at, uint32_t v);
void class_out_release(struct class_out *o);

enum { CP_UTF8 = 1, CP_INTEGER = 3, CP_CLASS = 7, CP_METHODREF = 10, CP_NAME_AND_TYPE = 12 };

struct class_text {
	const char *s; /* not NUL-terminated */
	uint32_t n;
};

struct class_pool {
	const uint8_t *bytes; /* of the class file */
	uint32_t *at;	      /* [index]: offset of the entry; 0: there is none */
	uint32_t n;	      /* constant_pool_count */
	struct class_out added;
	uint32_t n_added;
};

/* Reads the pool, count first. Returns false if it is malformed or memory is exhausted. */
bool class_pool_read(struct class_pool *pool, const uint8_t *bytes, struct class_reader *r);
void class_pool_release(struct class_pool *pool);
/* Returns the text of a CP_UTF8 or the name of a CP_CLASS; for other entries, an empty text. */
struct class_text class_pool_text(const struct class_pool *pool, uint32_t index);
bool class_text_is(struct class_text t, const char *s);
/* Add an entry and return its index. class_pool_full() tells whether all of them fit. */
uint32_t class_pool_add_utf8(struct class_pool *pool, const char *s);
uint32_t class_pool_add_u2(struct class_pool *pool, uint32_t tag, uint32_t a);
uint32_t class_pool_add_pair(struct class_pool *pool, uint32_t tag, uint32_t a, uint32_t b);
uint32_t class_pool_add_integer(struct class_pool *pool, uint32_t v);
bool class_pool_full(const struct class_pool *pool);

#endif
