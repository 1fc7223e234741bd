/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The conversation about a file that others may write: root's process sends requests over a socket
 * (parser.h), a child without rights sends answers. An answer is a row of numbers and strings. The
 * child may have been taken over by the file that it reads, so no answer is believed.
 */
#ifndef ISPOT_SYMBOL_DSO_MESSAGE_H
#define ISPOT_SYMBOL_DSO_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text;

#define NAMES_AT_ONCE 1024

enum question {
	ASK_ELF,
	ASK_IMPORTS,
	ASK_MARKERS,
	ASK_SLOTS,
	ASK_FUNCTIONS,
	ASK_VARIABLES,
	ASK_HAS_DWARF,
	ASK_LINE,
	ASK_FUNCTION_LINE,
	ASK_INLINES,
	ASK_LANGUAGE,
	ASK_ONLY_INLINED,
	ASK_PROTOTYPE,
	ASK_NAMES, /* of NAMES_AT_ONCE functions from the n-th on */
	ASK_DEMANGLED,
};

struct request {
	uint32_t question, name_bytes; /* a name follows, without a NUL */
	uint64_t address, n;
};

/* An answer as it is read. */
struct answer {
	const char *at, *end;
	bool is_bad;	   /* it ended too early, or a string has no end */
	uint64_t since_ns; /* when it was there */
};

void message_add_u64(struct text *t, uint64_t v);
void message_add_string(struct text *t, const char *s); /* NULL is written as "" */

/* What is missing is read as 0, "" and NULL, and the answer is bad from then on. */
uint64_t message_read_u64(struct answer *a);
const char *message_read_string(struct answer *a);
const void *message_read_bytes(struct answer *a, size_t n);

/* The other side of the socket. */
struct peer {
	int fd;
	pid_t pid;	      /* of the child; in it: 0 */
	uint64_t deadline_ns; /* 0: none */
};

/* All n bytes before the deadline. Returns 0, or -ETIMEDOUT, -EPIPE and the like. */
int message_send(const struct peer *peer, const void *data, size_t n);
int message_receive(const struct peer *peer, void *data, size_t n);

/* Whether a signal that ends ispot has arrived: then nobody waits to the deadline. */
bool message_is_ending(void);

#endif
