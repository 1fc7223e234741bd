/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinds call chains of code without frame pointers afterwards, from what PERF_SAMPLE_REGS_USER
 * and PERF_SAMPLE_STACK_USER copied (registers and the top of the stack) and from .eh_frame of the
 * objects, with libunwind's remote accessors; unwind.c is the only file that includes libunwind.
 * libdwfl would need a copy of the process's address space first; libunwind asks for single words,
 * which come from the copied stack or the files.
 */
#ifndef ISPOT_SYMBOL_DSO_UNWIND_H
#define ISPOT_SYMBOL_DSO_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;
struct mappings;
struct unwinder;

/* The registers to request from perf, as perf_event_attr.sample_regs_user. */
extern const uint64_t unwind_register_mask;
extern const unsigned unwind_register_sp, unwind_register_ip; /* their bit numbers */

struct unwind_input {
	/*
	 * The registers as in a sample: one value for each bit of the mask, the lowest bit first.
	 */
	const uint64_t *registers;
	uint64_t register_mask;
	const uint8_t *stack; /* upwards from the stack pointer */
	size_t stack_bytes;
	/*
	 * The function was just called: its return address is still where the call put it, whatever
	 * the tables say, or if there are none.
	 */
	bool at_entry;
	const struct mappings *maps;
	struct dso *const *dsos; /* one for each mapping; NULL: its file could not be opened */
};

/* An unwinder caches what it found out about addresses, so each address space needs its own. */
struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *u);
void unwinder_forget(struct unwinder *u); /* after the mappings changed */
/*
 * Returns an address in the latest stack that may have been the next return address but is in no
 * mapping, or 0 if there was none.
 */
uint64_t unwinder_refused(const struct unwinder *u);

/*
 * Returns the number of objects whose tables are not used any more because several stacks took too
 * much work.
 */
unsigned unwinder_given_up(const struct unwinder *u);

/*
 * Stored instead of a place: the return address was in the link register, or its place is unknown.
 */
#define UNWIND_IN_LINK 1
#define UNWIND_NOWHERE 0

/*
 * Writes return addresses to ips, innermost first; ips[0] is the instruction itself. Returns how
 * many it wrote (at most n), or 0 if the registers lack the instruction or stack pointer. If places
 * is not NULL, it receives the place on the stack of each address; that of the first is
 * UNWIND_NOWHERE. aarch64's signatures are removed from the addresses. The chain ends where the
 * copied stack ends or a frame cannot be read. Code without an unwind table (made by a JIT) is left
 * by its frame pointer; if the code keeps none, the last frame is wrong.
 */
size_t unwind_stack(struct unwinder *u, const struct unwind_input *in, uint64_t *ips,
		    uint64_t *places, size_t n);

#endif
