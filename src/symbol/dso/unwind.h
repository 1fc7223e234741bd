/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call chains of code without frame pointers, unwound afterwards from what PERF_SAMPLE_REGS_USER
 * and PERF_SAMPLE_STACK_USER copied: registers, the top of the stack, and the objects' own
 * .eh_frame (libunwind's remote accessors; the one file that includes it is unwind.c). libunwind
 * and not libdwfl, because it wants no copy of the process's address space built first: it asks
 * for single words, which come from the copied stack or the files.
 */
#ifndef ISPOT_SYMBOL_DSO_UNWIND_H
#define ISPOT_SYMBOL_DSO_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dso;
struct mappings;
struct unwinder;

/* The registers to ask perf for, as perf_event_attr.sample_regs_user. */
extern const uint64_t unwind_register_mask;
extern const unsigned unwind_register_sp, unwind_register_ip; /* their numbers in it */

struct unwind_input {
	/* The registers as a sample has them: one value per bit of the mask, lowest bit first. */
	const uint64_t *registers;
	uint64_t register_mask;
	const uint8_t *stack; /* bytes from the stack pointer upwards */
	size_t stack_bytes;
	/* The function has just been called: its return address is where the call has put it,
	 * whatever tables say, or where there are none. */
	bool at_entry;
	const struct mappings *maps;
	struct dso *const *dsos; /* of each mapping; NULL: that one's file is not there */
};

/* For one address space: it remembers what it found out about addresses. */
struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *u);
void unwinder_forget(struct unwinder *u); /* the mappings have changed */
/*
 * Returns the address in the latest stack that may have been the next return address, but lay in no
 * mapping; 0: none.
 */
uint64_t unwinder_refused(const struct unwinder *u);

/*
 * Returns the number of objects whose tables are not used any more: several stacks took too much
 * work.
 */
unsigned unwinder_given_up(const struct unwinder *u);

/* In the place of an address: it was in the link register, or nobody knows. */
#define UNWIND_IN_LINK 1
#define UNWIND_NOWHERE 0

/*
 * Return addresses into ips, innermost first, ips[0] the instruction itself; how many (at most
 * n). Into places where on the stack each of them lay, of the first UNWIND_NOWHERE; NULL: not
 * wanted. Those that aarch64 has signed come without their signature. Ends where the copied
 * stack ends or a frame cannot be read. Code without an unwind table (made by a JIT) is left by its
 * frame pointer, which may be none: the last frame is then wrong. 0: no instruction or stack
 * pointer among the registers.
 */
size_t unwind_stack(struct unwinder *u, const struct unwind_input *in, uint64_t *ips,
		    uint64_t *places, size_t n);

#endif
