/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code that records a call: what a patched place of a function jumps to first. A stub keeps
 * three or four registers in the red zone, which belongs to nobody at a function's entry and at its
 * exit, where flags mean nothing either; it pushes nothing, so that unwinding through it works, and
 * touches no return address. At an entry behind instructions for which either means something the
 * stub steps over the red zone, and saves the flags. A record is complete when its first word, the
 * time, is written.
 */
#ifndef ISPOT_PROBES_INJECT_STUB_H
#define ISPOT_PROBES_INJECT_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_BYTES_MOST 448 /* of a record, without the function's own instructions */

/* Code that is made here, and runs at an address of the target. */
struct stub_code {
	uint8_t *bytes;
	uint64_t address;
	size_t n, room; /* n stays room where there is none for more */
};

struct stub_facts {
	uint64_t claim, full, begin, end; /* addresses of blob.h's four */
	uint32_t ring_bytes;
};

struct stub_entry {
	uint32_t id;	  /* below INPROC_IDS_MAX */
	int32_t sp;	  /* the stack pointer at the place plus this is its value at the entry */
	bool keeps_flags; /* the function reads what they say */
	bool keeps_red_zone;
};

void stub_entry(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e);
void stub_exit(struct stub_code *c, const struct stub_facts *f, uint32_t id, int32_t sp);

/*
 * Where one call in several is recorded the stub is a gate, which lets the others pass in a
 * nanosecond, counted, and the rest, which lies behind the function's own instructions. Of an exit
 * the stack pointer is that of the entry.
 */
struct stub_gate {
	size_t back; /* where the rest goes on */
	size_t retry;
	size_t claim, inner, take; /* branches to the rest */
};

void stub_entry_gate(struct stub_code *c, const struct stub_entry *e, struct stub_gate *g);
void stub_entry_rest(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e,
		     const struct stub_gate *g);
void stub_exit_gate(struct stub_code *c, uint32_t id, struct stub_gate *g);
void stub_exit_rest(struct stub_code *c, const struct stub_facts *f, uint32_t id,
		    const struct stub_gate *g);

void stub_jump(struct stub_code *c, uint64_t to); /* relative, 5 bytes */
void stub_put(struct stub_code *c, const void *bytes, size_t n);

#endif
