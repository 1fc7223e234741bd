/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One method's Code attribute with calls put in: at its begin, before each return and in a handler
 * of every exception (the whole method), and behind each monitorenter and before each monitorexit
 * (its synchronized blocks). Every place that names an instruction follows: branches, switches with
 * their padding, exception table, stack map, lines, local variables.
 *
 * A synchronized method's monitor is taken before its first instruction and given back behind its
 * last, so both calls are inside.
 */
#ifndef ISPOT_PROBES_JAVA_AGENT_CODE_H
#define ISPOT_PROBES_JAVA_AGENT_CODE_H

#include "probes/java/agent/classfile.h"

#define CODE_NONE UINT32_MAX

/* The parts of a Code attribute; everything is borrowed. */
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
	CODE_NO_MONITOR, /* it has none, or no instruction there gets at it for sure */
	CODE_OF_THIS,
	CODE_OF_CLASS,
};

/* Where the instructions come to be. */
struct code_layout {
	bool whole, blocks;	   /* which calls are put in */
	enum code_monitor monitor; /* of the whole */
	bool of_blocks;		   /* theirs are told when they are given back */
	uint32_t *at;	  /* [old]: where a jump to it goes; CODE_NONE: not an instruction */
	uint32_t *raw;	  /* [old]: behind the instruction before it and before calls put in */
	uint32_t handler; /* of every exception */
	uint32_t n;	  /* new length */
};

/* Indices of what the calls need in the constant pool. */
struct code_names {
	uint32_t enter, exit;	     /* methods that take an int and return nothing */
	uint32_t leave;		     /* and one that takes an object before it */
	uint32_t throwable, object;  /* classes */
	uint32_t self;		     /* the one that the method is in */
	uint32_t stack_map_name;     /* "StackMapTable" */
	bool has_stack_maps;	     /* the class's version has them */
	uint32_t method;	     /* integer: what both calls of the whole method are given */
	const uint32_t *block_enter; /* [monitorenter]: integer */
	uint32_t block_exit;	     /* integer, of all blocks */
};

/* The info of a Code attribute. False: malformed. */
bool bytecode_read(struct code *c, const struct class_pool *pool, const uint8_t *info, size_t n);
/* The source line of an instruction, 0: not known. */
uint32_t bytecode_line(const struct code *c, uint32_t pc);
/* Where the k-th monitorenter is. */
uint32_t bytecode_enter_pc(const struct code *c, uint32_t k);

/* l: which calls, and monitors. NULL, or why they cannot be put in: a clause. Release in any case.
 */
const char *bytecode_layout(struct code_layout *l, const struct code *c);
void bytecode_layout_release(struct code_layout *l);
/* A method of an object has it in its first variable all the time, and the verifier knows. */
bool bytecode_keeps_this(const struct code *c, const char *signature, size_t n);
/* The info of the new attribute. False: malformed, nothing of use was put. */
bool bytecode_write(const struct code *c, const struct code_layout *l,
		    const struct code_names *names, struct class_out *out);

/* ---- parts ---- */

/* Bytes of the instruction at pc, which comes to be at new_pc; 0: malformed or unknown. */
uint32_t bytecode_size(const struct code *c, uint32_t pc, uint32_t new_pc, uint32_t *new_size);

#endif
