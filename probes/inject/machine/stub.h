/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Emits the code that records a call, to which a patched place of a function jumps first. A record
 * is complete when its first word, the time, is written.
 *
 * On x86-64 a stub saves three or four registers in the red zone: at a function's entry and at its
 * exits the red zone is unused, and the flags have no meaning. A stub pushes nothing, so that
 * unwinding through it works, and touches no return address. If an entry lies after instructions
 * that use the red zone or set flags, the stub steps over the red zone, and saves the flags. For
 * aarch64 see stub_arm64.c.
 */
#ifndef ISPOT_PROBES_INJECT_STUB_H
#define ISPOT_PROBES_INJECT_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_BYTES_MOST 512 /* bytes of the largest stub, without the function's instructions */

/* Code that is made here and runs at an address of the target. */
struct stub_code {
	uint8_t *bytes;
	uint64_t address;
	size_t n, room; /* n stops at room if the code does not fit */
};

struct stub_facts {
	uint64_t claim, full, begin, end, values; /* addresses of the routines of blob.h */
	uint64_t miss;				  /* 0: no function is given up */
	uint64_t enter, leave;
	uint32_t ring_bytes;
};

struct stub_entry {
	uint32_t id;	  /* below INPROC_IDS_MAX */
	int32_t sp;	  /* added to the stack pointer at the place, gives that at the entry */
	bool saves_flags; /* the function reads the flags later */
	bool saves_red_zone;
	bool waits; /* it takes or releases locks, or waits: it is given up later than others */
	uint32_t values; /* bit i: integer argument i is recorded */
	bool sometimes;	 /* they are recorded of about one call in 16 */
};

/*
 * With `sometimes`, the values of a call are recorded if the position of its record in the ring is
 * below STUB_ALWAYS_BELOW, as for the first 4,096 records of a thread, or if the square of the
 * position times STUB_SOMETIMES_FACTOR is below STUB_SOMETIMES_BELOW. Counting the calls would take
 * longer. The squares follow no loop of the program, so all calls of a loop have their turn.
 */
#define STUB_ALWAYS_BELOW     (4096u * 16)
#define STUB_SOMETIMES_FACTOR 0x9e3779b1u
#define STUB_SOMETIMES_BELOW  (1u << 28)
/* aarch64: a stub passes the routine enter a word with the values that it wants. These bits of the
 * word say that the stub has `sometimes`, and `waits`. */
#define STUB_SOMETIMES (1u << 29)
#define STUB_WAITS     (1u << 30)

void stub_emit_entry(struct stub_code *c, const struct stub_facts *f, const struct stub_entry *e);
void stub_emit_exit(struct stub_code *c, const struct stub_facts *f, uint32_t id, int32_t sp,
		    bool returns);

/*
 * If one call in several is recorded, a stub has two parts: a gate, which counts a call and lets
 * most calls pass in a nanosecond, and the rest, which lies after the function's own instructions.
 * At an exit the stack pointer is that of the entry.
 */
struct stub_gate {
	size_t back; /* where the rest returns to */
	size_t retry, passes;
	size_t claim, inner, left, due; /* branches to the rest */
};

void stub_emit_entry_gate(struct stub_code *c, const struct stub_entry *e, struct stub_gate *g);
void stub_emit_entry_rest(struct stub_code *c, const struct stub_facts *f,
			  const struct stub_entry *e, const struct stub_gate *g);
void stub_emit_exit_gate(struct stub_code *c, uint32_t id, struct stub_gate *g);
void stub_emit_exit_rest(struct stub_code *c, const struct stub_facts *f, uint32_t id, bool returns,
			 const struct stub_gate *g);

/*
 * The code before and behind the displaced instructions of a site (probes/patch/plan.h): the
 * entry's, the exit's, and what lies behind the instructions. They have the same bytes wherever
 * they are, except for their operands.
 */
struct stub_site {
	const struct stub_facts *facts;
	struct stub_entry entry;
	bool is_entry, is_exit, is_sampled;
	bool returns; /* the returned value is recorded */
	struct stub_gate in, out;
};

void stub_emit_site_entry(struct stub_code *c, struct stub_site *s);
void stub_emit_site_exit(struct stub_code *c, struct stub_site *s);
void stub_emit_site_rest(struct stub_code *c, const struct stub_site *s);

void stub_emit_nop(struct stub_code *c);
void stub_emit_return(struct stub_code *c);
void stub_emit_jump(struct stub_code *c, uint64_t to); /* a relative jump */
/* Returns where a jump of n bytes leads that stands at this address, or 0 if it is none. */
uint64_t stub_jump_goal(uint64_t at, const uint8_t *jump, size_t n);
/* Returns the bytes of the breakpoint there, or 0 if there is none. */
size_t stub_breakpoint_bytes(const uint8_t *code);
void stub_emit(struct stub_code *c, const void *bytes, size_t n);

#endif
