/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts calls into a method's Code attribute. To record the whole method, they are at its begin,
 * before each return, and in a handler of every exception. To record its synchronized blocks, they
 * are after each monitorenter and before each monitorexit. Everything that names an instruction is
 * adjusted: branches, switches with their padding, the exception table, the stack map, lines and
 * local variables.
 *
 * The machine takes a synchronized method's monitor before the first instruction and releases it
 * after the last one, so both calls are made with the monitor held.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_CODE_H
#define ISPOT_PROBES_JAVA_AGENT_CODE_H

#include "probes/java/agent/classfile.h"

#define CODE_NONE UINT32_MAX

/* The parts of a Code attribute. All pointers are into the class file. */
struct code {
	const struct class_pool *pool;
	uint32_t max_stack, max_locals;
	const uint8_t *bytes; /* the instructions */
	uint32_t n;
	const uint8_t *handlers; /* 8 bytes each */
	uint32_t n_handlers;
	const uint8_t *attributes, *end; /* behind their count */
	uint32_t n_attributes;
	uint32_t first_line; /* 0: not known */
	uint32_t n_enters;   /* monitorenter instructions */
};

/* How the end of the whole method releases its monitor. */
enum code_monitor {
	CODE_NO_MONITOR, /* it has none, or no instruction at its end can be sure to have it */
	CODE_OF_THIS,
	CODE_OF_CLASS,
};

/* The places of the instructions in the new code. */
struct code_layout {
	bool whole, blocks;	   /* which calls are put in */
	bool awaits;		   /* the whole method waits for the lock that its object is */
	enum code_monitor monitor; /* of the whole */
	bool of_blocks;		   /* the monitors of blocks are reported when they are released */
	uint32_t *at;  /* [old]: the target of jumps to it; CODE_NONE: no instruction is there */
	uint32_t *raw; /* [old]: after the previous instruction, before the calls that are put in */
	uint32_t handler; /* of every exception */
	uint32_t n;	  /* new length */
};

/* Indices in the constant pool of what the calls need. */
struct code_names {
	uint32_t enter, exit;	     /* methods that take an int and return nothing */
	uint32_t leave;		     /* a method that takes an object and an int */
	uint32_t throwable, object;  /* classes */
	uint32_t self;		     /* the class of the method */
	uint32_t stack_map_name;     /* "StackMapTable" */
	bool has_stack_maps;	     /* class files of this version have stack maps */
	uint32_t method;	     /* integer: argument of both calls of the whole method */
	uint32_t awaits;	     /* integer: argument of the first call, if the method awaits */
	const uint32_t *block_enter; /* [monitorenter]: integer */
	uint32_t block_exit;	     /* integer, of all blocks */
};

/* Reads the info of a Code attribute. Returns false if it is malformed. */
bool bytecode_read(struct code *c, const struct class_pool *pool, const uint8_t *info, size_t n);
/* Returns the source line of an instruction, or 0 if it is unknown. */
uint32_t bytecode_line(const struct code *c, uint32_t pc);
/* Returns the place of the k-th monitorenter. */
uint32_t bytecode_enter_pc(const struct code *c, uint32_t k);

/*
 * Finds the new places of the instructions. The caller sets in l which calls are put in, and the
 * monitors. Returns NULL, or why the calls cannot be put in, as a clause. Release l in any case.
 */
const char *bytecode_layout(struct code_layout *l, const struct code *c);
void bytecode_layout_release(struct code_layout *l);
/* Returns whether the object of a method is in the first variable all the time, so that the
 * verifier knows it there. */
bool bytecode_keeps_this(const struct code *c, const char *signature, size_t n);
/* Writes the info of the new attribute. Returns false if the old one is malformed; then the output
 * is of no use. */
bool bytecode_write(const struct code *c, const struct code_layout *l,
		    const struct code_names *names, struct class_out *out);

/* ---- parts ---- */

/* Returns the bytes of the instruction at pc, or 0 if it is malformed or unknown. *new_size: its
 * bytes at new_pc, where its padding may differ. */
uint32_t bytecode_size(const struct code *c, uint32_t pc, uint32_t new_pc, uint32_t *new_size);

#endif
