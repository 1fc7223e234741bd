/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The messages about a file that others may write. Root's process sends requests over a socket
 * (parser.h), and a child without privileges sends answers, which are sequences of numbers and
 * strings. The file may have taken control of the child that reads it, so no answer is trusted.
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
	ASK_NAMES, /* NAMES_AT_ONCE functions, beginning with the n-th */
	ASK_DEMANGLED,
};

struct request {
	uint32_t question, name_bytes; /* a name without a NUL follows */
	uint64_t address, n;
};

/* The reader of an answer. */
struct answer {
	const char *at, *end;
	bool is_bad;	   /* it ended too early, or a string has no end */
	uint64_t since_ns; /* when it arrived */
};

void message_add_u64(struct text *t, uint64_t v);
void message_add_string(struct text *t, const char *s); /* NULL is written as "" */

/* What an answer lacks is read as 0, "" or NULL, and sets is_bad. */
uint64_t message_read_u64(struct answer *a);
const char *message_read_string(struct answer *a);
const void *message_read_bytes(struct answer *a, size_t n);

/* The other side of the socket. */
struct peer {
	int fd;
	pid_t pid;	      /* of the child; 0 in the child itself */
	uint64_t deadline_ns; /* 0: none */
};

/*
 * Transfer all n bytes before the deadline. Return 0, or a negative errno like -ETIMEDOUT or
 * -EPIPE.
 */
int message_send(const struct peer *peer, const void *data, size_t n);
int message_receive(const struct peer *peer, void *data, size_t n);

/* Whether a signal that ends ispot is pending, so that nobody waits until the deadline. */
bool message_is_ending(void);

#endif
