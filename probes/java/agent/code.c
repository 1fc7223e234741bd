// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/code.h"

#include <stdlib.h>
#include <string.h>

#include "probes/java/agent/code_tables.h"
#include "probes/java/agent/stackmap.h"

enum {
	OP_TABLESWITCH = 0xaa,
	OP_LOOKUPSWITCH = 0xab,
	OP_IRETURN = 0xac,
	OP_RETURN = 0xb1,
	OP_INVOKESTATIC = 0xb8,
	OP_ATHROW = 0xbf,
	OP_MONITORENTER = 0xc2,
	OP_MONITOREXIT = 0xc3,
	OP_WIDE = 0xc4,
	OP_LDC_W = 0x13,
	OP_ISTORE = 0x36,
	OP_ASTORE = 0x3a,
	OP_ISTORE_0 = 0x3b,
	OP_ASTORE_0 = 0x4b,
	OP_ASTORE_3 = 0x4e,
	OP_ALOAD_0 = 0x2a,
	OP_DUP = 0x59,
	OP_IINC = 0x84,
	OP_IFEQ = 0x99,
	OP_JSR = 0xa8,
	OP_RET = 0xa9,
	OP_IFNULL = 0xc6,
	OP_IFNONNULL = 0xc7,
	OP_GOTO_W = 0xc8,
	OP_JSR_W = 0xc9,
};

#define CALL_BYTES 6 /* ldc_w, invokestatic */
#define CODE_MAX   65535

/* Returns the bytes of an instruction, or 0 if they vary or the instruction is unknown. */
static uint32_t fixed_size(uint32_t op)
{
	static const struct {
		uint8_t first, last, bytes;
	} rows[] = {
		{ 0x00, 0x0f, 1 }, { 0x10, 0x10, 2 }, { 0x11, 0x11, 3 }, { 0x12, 0x12, 2 },
		{ 0x13, 0x14, 3 }, { 0x15, 0x19, 2 }, { 0x1a, 0x35, 1 }, { 0x36, 0x3a, 2 },
		{ 0x3b, 0x83, 1 }, { 0x84, 0x84, 3 }, { 0x85, 0x98, 1 }, { 0x99, 0xa8, 3 },
		{ 0xa9, 0xa9, 2 }, { 0xac, 0xb1, 1 }, { 0xb2, 0xb8, 3 }, { 0xb9, 0xba, 5 },
		{ 0xbb, 0xbb, 3 }, { 0xbc, 0xbc, 2 }, { 0xbd, 0xbd, 3 }, { 0xbe, 0xbf, 1 },
		{ 0xc0, 0xc1, 3 }, { 0xc2, 0xc3, 1 }, { 0xc5, 0xc5, 4 }, { 0xc6, 0xc7, 3 },
		{ 0xc8, 0xc9, 5 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (op >= rows[i].first && op <= rows[i].last)
			return rows[i].bytes;
	return 0;
}

static int32_t s4_at(const uint8_t *p)
{
	return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

static uint32_t padding(uint32_t pc)
{
	return 3 - (pc & 3);
}

/* Returns the number of words of a switch after its padding, or 0 if it is malformed. */
static uint32_t switch_words(const struct code *c, uint32_t pc)
{
	uint32_t at = pc + 1 + padding(pc);
	int64_t words;

	if (at + 8 > c->n)
		return 0;
	if (c->bytes[pc] == OP_LOOKUPSWITCH)
		words = 2 + 2 * (int64_t)s4_at(c->bytes + at + 4);
	else if (at + 12 <= c->n)
		words = 3 + (int64_t)s4_at(c->bytes + at + 8) - s4_at(c->bytes + at + 4) + 1;
	else
		return 0;
	return words < 2 || words > CODE_MAX / 4 ? 0 : (uint32_t)words;
}

uint32_t bytecode_size(const struct code *c, uint32_t pc, uint32_t new_pc, uint32_t *new_size)
{
	uint32_t op = c->bytes[pc], size = fixed_size(op), words;

	if (op == OP_WIDE && pc + 1 < c->n)
		size = c->bytes[pc + 1] == OP_IINC ? 6 : 4;
	*new_size = size;
	if (op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH) {
		words = switch_words(c, pc);
		size = words ? 1 + padding(pc) + 4 * words : 0;
		*new_size = 1 + padding(new_pc) + 4 * words;
	}
	return size && size <= c->n - pc ? size : 0;
}

/* ---- reading ---- */

static uint32_t u2_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static bool is_attribute(const struct code *c, const uint8_t *name, const char *wanted)
{
	return class_text_is(class_pool_text(c->pool, u2_at(name)), wanted);
}

uint32_t bytecode_line(const struct code *c, uint32_t pc)
{
	struct class_reader r = { .p = c->attributes, .end = c->end };
	uint32_t line = 0, best = 0;

	for (uint32_t i = 0; i < c->n_attributes && !r.bad; i++) {
		const uint8_t *name = class_bytes(&r, 2);
		uint32_t n = class_u4(&r);
		struct class_reader in = { .p = class_bytes(&r, n) };

		if (!in.p || !is_attribute(c, name, "LineNumberTable"))
			continue;
		in.end = in.p + n;
		for (uint32_t k = class_u2(&in); k && !in.bad; k--) {
			uint32_t start = class_u2(&in), number = class_u2(&in);

			if (!in.bad && start <= pc && (!line || start >= best)) {
				best = start;
				line = number;
			}
		}
	}
	return line;
}

uint32_t bytecode_enter_pc(const struct code *c, uint32_t k)
{
	uint32_t size, unused;

	for (uint32_t pc = 0; pc < c->n && (size = bytecode_size(c, pc, pc, &unused)); pc += size)
		if (c->bytes[pc] == OP_MONITORENTER && !k--)
			return pc;
	return CODE_NONE;
}

bool bytecode_read(struct code *c, const struct class_pool *pool, const uint8_t *info, size_t n)
{
	struct class_reader r = { .p = info, .end = info + n };
	uint32_t size, unused;

	*c = (struct code){ .pool = pool };
	c->max_stack = class_u2(&r);
	c->max_locals = class_u2(&r);
	c->n = class_u4(&r);
	c->bytes = class_bytes(&r, c->n);
	c->n_handlers = class_u2(&r);
	c->handlers = class_bytes(&r, 8 * (size_t)c->n_handlers);
	c->n_attributes = class_u2(&r);
	c->attributes = r.p;
	c->end = r.end;
	if (r.bad || !c->n || c->n > CODE_MAX)
		return false;
	for (uint32_t pc = 0; pc < c->n; pc += size) {
		size = bytecode_size(c, pc, pc, &unused);
		if (!size)
			return false;
		c->n_enters += c->bytes[pc] == OP_MONITORENTER;
	}
	c->first_line = bytecode_line(c, 0);
	return true;
}

/* ---- the object that a method is of ---- */

/* Returns whether the instruction stores into the first variable. */
static bool stores_first(const struct code *c, uint32_t pc)
{
	const uint8_t *p = c->bytes + pc;

	if (*p == OP_WIDE)
		return p[1] >= OP_ISTORE && p[1] <= OP_ASTORE && !u2_at(p + 2);
	if (*p >= OP_ISTORE && *p <= OP_ASTORE)
		return !p[1];
	return *p >= OP_ISTORE_0 && *p <= OP_ASTORE_3 && (*p - OP_ISTORE_0) % 4 == 0;
}

/*
 * Returns the number of local variables of the object and the parameters, or 0 if the signature is
 * malformed.
 */
static uint32_t locals_of(const char *signature, size_t n)
{
	uint32_t locals = 1;

	for (size_t i = 1; i < n && signature[i] != ')'; i++, locals++) {
		while (i < n && signature[i] == '[')
			i++;
		while (i < n && signature[i] == 'L' && signature[i] != ';') {
			const char *end = memchr(signature + i, ';', n - i);

			if (!end)
				return 0;
			i = (size_t)(end - signature);
		}
	}
	return locals;
}

bool bytecode_keeps_this(const struct code *c, const char *signature, size_t n)
{
	struct class_reader r = { .p = c->attributes, .end = c->end };
	uint32_t size, unused, locals = locals_of(signature, n);
	bool keeps = locals;

	for (uint32_t pc = 0; keeps && pc < c->n; pc += size) {
		size = bytecode_size(c, pc, pc, &unused);
		keeps = !stores_first(c, pc);
	}
	for (uint32_t i = 0; keeps && i < c->n_attributes; i++) {
		const uint8_t *name = class_bytes(&r, 2);
		uint32_t bytes = class_u4(&r);
		const uint8_t *info = class_bytes(&r, bytes);

		keeps = info && (!is_attribute(c, name, "StackMapTable") ||
				 stackmap_keeps_first(info, bytes, locals));
	}
	return keeps;
}

/* ---- where instructions come to be ---- */

/* Returns the bytes of the call at an end of the whole method, with the instruction that puts the
 * monitor on the stack. */
static uint32_t end_bytes(const struct code_layout *l)
{
	static const uint32_t monitor_bytes[] = { [CODE_OF_THIS] = 1, [CODE_OF_CLASS] = 3 };

	return CALL_BYTES + monitor_bytes[l->monitor];
}

/* Returns the bytes of the call at the begin of the whole method. */
static uint32_t begin_bytes(const struct code_layout *l)
{
	return CALL_BYTES + l->awaits;
}

/* Returns the bytes of the calls before an instruction. A jump to the instruction runs these calls,
 * too. */
static uint32_t before(const struct code_layout *l, uint32_t op)
{
	if (l->whole && op >= OP_IRETURN && op <= OP_RETURN)
		return end_bytes(l);
	return l->blocks && op == OP_MONITOREXIT ? CALL_BYTES + l->of_blocks : 0;
}

static uint32_t behind(const struct code_layout *l, uint32_t op)
{
	return l->blocks && op == OP_MONITORENTER ? CALL_BYTES : 0;
}

static bool is_short_branch(uint32_t op)
{
	return (op >= OP_IFEQ && op <= OP_JSR) || op == OP_IFNULL || op == OP_IFNONNULL;
}

/* Returns the new place to which a jump from pc leads, or CODE_NONE if there is no instruction. */
static uint32_t target(const struct code *c, const struct code_layout *l, uint32_t pc,
		       int32_t offset)
{
	int64_t to = (int64_t)pc + offset;

	return to < 0 || to >= c->n ? CODE_NONE : l->at[to];
}

static const char *check_branch(const struct code *c, const struct code_layout *l, uint32_t pc)
{
	uint32_t op = c->bytes[pc], to;
	int64_t distance;

	if (op == OP_JSR || op == OP_JSR_W || op == OP_RET)
		return "it has subroutines, as compilers before Java 6 made them";
	if (!is_short_branch(op))
		return NULL;
	to = target(c, l, pc, (int16_t)u2_at(c->bytes + pc + 1));
	if (to == CODE_NONE)
		return "its code is malformed";
	distance = (int64_t)to - l->at[pc];
	return distance != (int16_t)distance ? "its code is too long: a branch would be too far"
					     : NULL;
}

static bool place(struct code_layout *l, const struct code *c)
{
	uint32_t at = l->whole ? begin_bytes(l) : 0, end = at, size, new_size;

	memset(l->at, 0xff, (c->n + 1) * sizeof(*l->at));
	memset(l->raw, 0xff, (c->n + 1) * sizeof(*l->raw));
	for (uint32_t pc = 0; pc < c->n; pc += size) {
		uint32_t op = c->bytes[pc];

		l->raw[pc] = end;
		l->at[pc] = at;
		size = bytecode_size(c, pc, at + before(l, op), &new_size);
		if (!size)
			return false;
		end = at + before(l, op) + new_size;
		at = end + behind(l, op);
	}
	l->raw[c->n] = end;
	l->at[c->n] = l->handler = at;
	l->n = at + (l->whole ? end_bytes(l) + 1 : 0); /* and athrow */
	return true;
}

const char *bytecode_layout(struct code_layout *l, const struct code *c)
{
	const char *why = NULL;
	uint32_t size, unused;

	l->at = malloc((c->n + 1) * sizeof(*l->at));
	l->raw = malloc((c->n + 1) * sizeof(*l->raw));
	if (!l->at || !l->raw)
		return "there is no memory";
	if (!place(l, c))
		return "its code is malformed";
	if (l->n > CODE_MAX || c->max_stack + 2 > CODE_MAX)
		return "its code is too long";
	for (uint32_t pc = 0; !why && pc < c->n; pc += size) {
		size = bytecode_size(c, pc, pc, &unused);
		why = check_branch(c, l, pc);
	}
	return why;
}

void bytecode_layout_release(struct code_layout *l)
{
	free(l->at);
	free(l->raw);
	l->at = l->raw = NULL;
}

/* ---- writing ---- */

static void write_call(struct class_out *out, uint32_t method, uint32_t integer)
{
	class_add_u1(out, OP_LDC_W);
	class_add_u2(out, integer);
	class_add_u1(out, OP_INVOKESTATIC);
	class_add_u2(out, method);
}

static void write_begin(struct class_out *out, const struct code_layout *l,
			const struct code_names *names)
{
	if (l->awaits)
		class_add_u1(out, OP_ALOAD_0);
	write_call(out, l->awaits ? names->leave : names->enter,
		   l->awaits ? names->awaits : names->method);
}

static void write_end(struct class_out *out, const struct code_layout *l,
		      const struct code_names *names)
{
	if (l->monitor == CODE_OF_THIS)
		class_add_u1(out, OP_ALOAD_0);
	if (l->monitor == CODE_OF_CLASS) {
		class_add_u1(out, OP_LDC_W);
		class_add_u2(out, names->self);
	}
	write_call(out, l->monitor ? names->leave : names->exit, names->method);
}

static void write_block_end(struct class_out *out, const struct code_layout *l,
			    const struct code_names *names)
{
	if (l->of_blocks)
		class_add_u1(out, OP_DUP);
	write_call(out, l->of_blocks ? names->leave : names->exit, names->block_exit);
}

/* Writes the new offset for a word of a switch or of a wide branch. */
static bool write_offset(struct class_out *out, const struct code *c, const struct code_layout *l,
			 uint32_t pc, const uint8_t *word)
{
	uint32_t to = target(c, l, pc, s4_at(word));

	class_add_u4(out, to - l->at[pc]);
	return to != CODE_NONE;
}

static bool write_switch(struct class_out *out, const struct code *c, const struct code_layout *l,
			 uint32_t pc)
{
	uint32_t words = switch_words(c, pc);
	const uint8_t *p = c->bytes + pc + 1 + padding(pc);
	bool is_table = c->bytes[pc] == OP_TABLESWITCH, ok;

	class_add_u1(out, c->bytes[pc]);
	class_add(out, "\0\0\0", padding(l->at[pc]));
	ok = write_offset(out, c, l, pc, p);
	for (uint32_t i = 1; i < words; i++) {
		bool is_offset = is_table ? i >= 3 : i >= 3 && i % 2 == 1;

		if (is_offset)
			ok = write_offset(out, c, l, pc, p + 4 * i) && ok;
		else
			class_add(out, p + 4 * i, 4);
	}
	return ok;
}

static bool write_instruction(struct class_out *out, const struct code *c,
			      const struct code_layout *l, uint32_t pc, uint32_t size)
{
	const uint8_t *p = c->bytes + pc;

	if (*p == OP_TABLESWITCH || *p == OP_LOOKUPSWITCH)
		return write_switch(out, c, l, pc);
	if (*p == OP_GOTO_W) {
		class_add_u1(out, *p);
		return write_offset(out, c, l, pc, p + 1);
	}
	if (!is_short_branch(*p)) {
		class_add(out, p, size);
		return true;
	}
	class_add_u1(out, *p);
	class_add_u2(out, target(c, l, pc, (int16_t)u2_at(p + 1)) - l->at[pc]);
	return true;
}

static bool write_instructions(struct class_out *out, const struct code *c,
			       const struct code_layout *l, const struct code_names *names)
{
	uint32_t size, unused, k = 0;
	bool ok = true;

	if (l->whole)
		write_begin(out, l, names);
	for (uint32_t pc = 0; ok && pc < c->n; pc += size) {
		uint32_t op = c->bytes[pc];

		size = bytecode_size(c, pc, pc, &unused);
		if (before(l, op) && op == OP_MONITOREXIT)
			write_block_end(out, l, names);
		else if (before(l, op))
			write_end(out, l, names);
		ok = write_instruction(out, c, l, pc, size);
		if (behind(l, op))
			write_call(out, names->enter, names->block_enter[k++]);
	}
	if (l->whole) {
		write_end(out, l, names);
		class_add_u1(out, OP_ATHROW);
	}
	return ok;
}

bool bytecode_write(const struct code *c, const struct code_layout *l,
		    const struct code_names *names, struct class_out *out)
{
	uint32_t stack = c->max_stack + 2;

	class_add_u2(out, stack < 3 ? 3 : stack);
	class_add_u2(out, c->max_locals);
	class_add_u4(out, l->n);
	return write_instructions(out, c, l, names) && bytecode_handlers(c, l, out) &&
	       bytecode_attributes(c, l, names, out);
}
