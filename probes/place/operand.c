/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/operand.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/place/plan.h"
#include "probes/select/marker.h"
#include "symbol/dso/dso.h"

#define NO_REGISTER WIRE_NO_REGISTER

/* Registers by their index in the kernel's struct pt_regs; %ah and the like are 8 bits higher. */
static const struct {
	const char *names[5]; /* of 64, 32, 16 and 8 bits, and the second of 8 bits */
	uint8_t number;
} x86_registers[] = {
	{ { "rax", "eax", "ax", "al", "ah" }, 10 }, { { "rbx", "ebx", "bx", "bl", "bh" }, 5 },
	{ { "rcx", "ecx", "cx", "cl", "ch" }, 11 }, { { "rdx", "edx", "dx", "dl", "dh" }, 12 },
	{ { "rsi", "esi", "si", "sil" }, 13 },	    { { "rdi", "edi", "di", "dil" }, 14 },
	{ { "rbp", "ebp", "bp", "bpl" }, 4 },	    { { "rsp", "esp", "sp", "spl" }, 19 },
	{ { "r8", "r8d", "r8w", "r8b" }, 9 },	    { { "r9", "r9d", "r9w", "r9b" }, 8 },
	{ { "r10", "r10d", "r10w", "r10b" }, 7 },   { { "r11", "r11d", "r11w", "r11b" }, 6 },
	{ { "r12", "r12d", "r12w", "r12b" }, 3 },   { { "r13", "r13d", "r13w", "r13b" }, 2 },
	{ { "r14", "r14d", "r14w", "r14b" }, 1 },   { { "r15", "r15d", "r15w", "r15b" }, 0 },
};

static bool word_is(const char *s, size_t n, const char *word)
{
	return word && strlen(word) == n && !strncmp(s, word, n);
}

/* Parses a register like "%eax" and moves *s behind it. */
static uint8_t x86_register(const char **s, uint8_t *shift)
{
	const char *name = *s + 1;
	size_t n = 0;

	if (**s != '%')
		return NO_REGISTER;
	while (isalnum((unsigned char)name[n]))
		n++;
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(x86_registers[0]); i++)
		for (unsigned k = 0; k < 5; k++)
			if (word_is(name, n, x86_registers[i].names[k])) {
				*s = name + n;
				*shift = k == 4 ? 8 : 0;
				return x86_registers[i].number;
			}
	return NO_REGISTER;
}

/* Parses a register like "x19", "w1" or "sp" and moves *s behind it. */
static uint8_t arm64_register(const char **s)
{
	char *end;
	unsigned long n;

	if (!strncmp(*s, "sp", 2)) {
		*s += 2;
		return 31;
	}
	if ((**s != 'x' && **s != 'w') || !isdigit((unsigned char)(*s)[1]))
		return NO_REGISTER;
	n = strtoul(*s + 1, &end, 10);
	if (n > 30)
		return NO_REGISTER;
	*s = end;
	return (uint8_t)n;
}

static bool skip_char(const char **s, char c)
{
	*s += strspn(*s, " ");
	if (**s != c)
		return false;
	++*s;
	return true;
}

static long long read_number(const char **s)
{
	char *end;
	long long value = strtoll(*s, &end, 0);

	*s = end;
	return value;
}

static const char unreadable[] = "it is in no register and on no stack that can be read";

/* Parses "$5", "%eax", "-80(%rbx)" or "(%rdi,%rcx,8)". Returns NULL, or why it cannot be read. */
static const char *parse_x86(const char *s, struct wire_operand *o)
{
	uint8_t unused;

	if (skip_char(&s, '$')) {
		o->kind = WIRE_OPERAND_CONSTANT;
		o->value = read_number(&s);
		return *s ? unreadable : NULL;
	}
	if (*s == '%') {
		o->kind = WIRE_OPERAND_REGISTER;
		o->base = x86_register(&s, &o->shift);
		return o->base == NO_REGISTER ? "it is a floating-point number" : NULL;
	}
	o->kind = WIRE_OPERAND_MEMORY;
	if (*s != '(')
		o->value = read_number(&s);
	if (!skip_char(&s, '('))
		return "it is in a variable, not in a register";
	if (*s != ',' && (o->base = x86_register(&s, &unused)) == NO_REGISTER)
		return "it is in a variable, not in a register";
	if (skip_char(&s, ',')) {
		o->index = x86_register(&s, &unused);
		if (o->index == NO_REGISTER)
			return unreadable;
		if (skip_char(&s, ','))
			o->shift =
				(uint8_t)__builtin_ctzll((unsigned long long)read_number(&s) | 8);
	}
	return skip_char(&s, ')') ? NULL : unreadable;
}

/* Parses "5", "x1", "[sp, 24]" or "[x0, x1]". Returns NULL, or why it cannot be read. */
static const char *parse_arm64(const char *s, struct wire_operand *o)
{
	if (skip_char(&s, '[')) {
		o->kind = WIRE_OPERAND_MEMORY;
		o->base = arm64_register(&s);
		if (o->base == NO_REGISTER)
			return unreadable;
		if (skip_char(&s, ',')) {
			s += strspn(s, " #");
			if (*s == 'x')
				o->index = arm64_register(&s);
			else
				o->value = read_number(&s);
		}
		if (skip_char(&s, ','))
			o->shift = (s += strspn(s, " "), !strncmp(s, "lsl ", 4))
					   ? (uint8_t)strtoul(s + 4 + strspn(s + 4, "#"),
							      (char **)&s, 10)
					   : 64;
		return skip_char(&s, ']') && o->shift < 4 ? NULL : unreadable;
	}
	if (isdigit((unsigned char)*s) || *s == '-' || *s == '#') {
		s += *s == '#';
		o->kind = WIRE_OPERAND_CONSTANT;
		o->value = read_number(&s);
		return *s ? unreadable : NULL;
	}
	o->kind = WIRE_OPERAND_REGISTER;
	o->base = arm64_register(&s);
	return o->base == NO_REGISTER ? "it is a floating-point number" : NULL;
}

/* Parses one operand, "[-]N[f]@LOCATION"; without "N@" it is a whole register. */
static const char *parse_one(const char *s, int machine, struct wire_operand *o)
{
	const char *at = strchr(s, '@');
	long long bytes = 8;

	*o = (struct wire_operand){ .base = NO_REGISTER, .index = NO_REGISTER };
	if (at) {
		char *end;

		bytes = strtoll(s, &end, 10);
		if (*end == 'f')
			return "it is a floating-point number";
		s = at + 1;
	}
	o->is_signed = bytes < 0;
	o->bytes = (uint8_t)llabs(bytes);
	if (o->bytes != 1 && o->bytes != 2 && o->bytes != 4 && o->bytes != 8)
		return "it is no integer";
	return machine == DSO_AARCH64 ? parse_arm64(s, o) : parse_x86(s, o);
}

/*
 * Returns the length of an operand. Blanks separate operands, but not within brackets: "[sp, 24]".
 */
static size_t length_of(const char *s)
{
	size_t n = 0;

	for (int depth = 0; s[n] && (depth || s[n] != ' '); n++)
		depth += (s[n] == '[') - (s[n] == ']' && depth > 0);
	return n;
}

uint32_t operands_parse(const char *note, int machine, struct wire_operands *out,
			const char *why[WIRE_ARGS_MAX])
{
	uint32_t count = 0;

	memset(out, 0, sizeof(*out));
	for (note += strspn(note, " "); *note; note += strspn(note, " ")) {
		size_t n = length_of(note);
		char *one = xstrndup(note, n);

		if (count < WIRE_ARGS_MAX)
			why[count] = parse_one(one, machine, &out->at[count]);
		count++;
		free(one);
		note += n;
	}
	return count;
}

/* ---- which arguments are recorded ---- */

/* The operands that all begins of a marker have. */
struct offered {
	uint32_t n;
	const char *why[WIRE_ARGS_MAX];
	uint8_t bytes[WIRE_ARGS_MAX];
	bool is_signed[WIRE_ARGS_MAX];
};

static void find_operands(const struct planned *p, struct offered *all)
{
	*all = (struct offered){ .n = UINT32_MAX };
	vec_for_each (&p->what.marker->begins, const struct marker_point, at) {
		const char *why[WIRE_ARGS_MAX] = { 0 };
		struct wire_operands row;
		uint32_t n = operands_parse(at->arguments, dso_machine(p->what.dso), &row, why);

		all->n = n < all->n ? n : all->n;
		for (uint32_t i = 0; i < WIRE_ARGS_MAX && i < n; i++) {
			all->why[i] = all->why[i] ? all->why[i] : why[i];
			all->bytes[i] = row.at[i].bytes;
			all->is_signed[i] = row.at[i].is_signed;
		}
	}
}

static const char *type_of(const struct offered *all, uint32_t i)
{
	static const char *const names[2][9] = {
		{ [1] = "uint8_t", [2] = "uint16_t", [4] = "uint32_t", [8] = "uint64_t" },
		{ [1] = "int8_t", [2] = "int16_t", [4] = "int32_t", [8] = "int64_t" },
	};

	return names[all->is_signed[i]][all->bytes[i]];
}

static void choose(struct arguments *a, const struct offered *all, uint32_t i)
{
	struct meta_argument *m;

	if (a->bytes[i])
		return;
	m = &a->all[a->n++];
	*m = (struct meta_argument){ .bit = i, .class = ARGUMENT_VALUE };
	snprintf(a->names[i], sizeof(a->names[i]), "arg%u", i + 1);
	m->name = a->names[i];
	m->type = type_of(all, i);
	m->is_signed = all->is_signed[i];
	a->bytes[i] = 8; /* the program widens the value */
	a->registers |= 1u << i;
}

static int refuse(const struct planned *p, const char *word, const char *why,
		  const struct offered *all, struct err *err)
{
	char named[64] = "it has none";

	if (all->n)
		snprintf(named, sizeof(named), "it has %u argument%s, named arg1%s", all->n,
			 all->n == 1 ? "" : "s", all->n == 1 ? "" : ", arg2, …");
	err_set(err, -EINVAL, "%s@%s: %s; %s", p->what.function->symbol, word, why, named);
	if (err)
		err->exit_status = 2;
	return -EINVAL;
}

static int choose_word(struct planned *p, const char *word, const struct offered *all,
		       struct err *err)
{
	unsigned number;
	char rest;

	if (!strcmp(word, "ret"))
		return refuse(p, word, "a marker returns nothing", all, err);
	if (sscanf(word, "arg%u%c", &number, &rest) != 1 || !number || number > all->n)
		return refuse(p, word, "there is no such argument", all, err);
	if (number > WIRE_ARGS_MAX)
		return refuse(p, word, "only the first eight can be recorded", all, err);
	if (all->why[number - 1])
		return refuse(p, word, all->why[number - 1], all, err);
	choose(&p->arguments, all, number - 1);
	return 0;
}

static int choose_words(struct planned *p, const struct offered *all, struct err *err)
{
	char *copy = xstrdup(p->what.arguments), *rest = copy, *word;
	int ret = 0;

	while (!ret && (word = strsep(&rest, ",")))
		if (choose_word(p, word, all, err) && p->what.by_name)
			ret = err->code;
	free(copy);
	return ret;
}

/* Returns the row for the operands recorded at a place, or 0 if the table is full. */
static uint8_t row_of(const struct planned *p, const struct marker_point *at,
		      struct operand_rows *rows)
{
	const char *why[WIRE_ARGS_MAX];
	struct wire_operands row;

	operands_parse(at->arguments, dso_machine(p->what.dso), &row, why);
	for (uint32_t i = 0; i < WIRE_ARGS_MAX; i++)
		if (!(p->arguments.registers & 1u << i))
			row.at[i] = (struct wire_operand){ 0 };
	if (!rows->n)
		*vec_add(rows) = (struct wire_operands){ 0 };
	for (uint32_t i = 1; i < rows->n; i++)
		if (!memcmp(&rows->data[i], &row, sizeof(row)))
			return (uint8_t)i;
	if (rows->n == WIRE_OPERAND_ROWS)
		return 0;
	*vec_add(rows) = row;
	return (uint8_t)(rows->n - 1);
}

static void name_arguments(struct arguments *a, const struct offered *all)
{
	for (uint32_t i = 0; i < all->n && i < WIRE_ARGS_MAX; i++)
		a->prototype[a->n_prototype++] = (struct meta_parameter){
			.number = i + 1, .name = "", .why = all->why[i] ? all->why[i] : ""
		};
}

int operands_choose(struct planned *p, struct operand_rows *rows, struct err *err)
{
	const struct marker *m = p->what.marker;
	bool own = !strncmp(m->function.symbol, "marker:", 7);
	struct offered all;
	int ret = 0;

	find_operands(p, &all);
	p->arguments.parameters = all.n;
	name_arguments(&p->arguments, &all);
	if (*p->what.arguments)
		ret = choose_words(p, &all, err);
	for (uint32_t i = 0; own && !*p->what.arguments && i < all.n && i < WIRE_ARGS_MAX; i++)
		if (!all.why[i])
			choose(&p->arguments, &all, i);
	for (size_t i = 0; i < m->begins.n && p->arguments.n && !ret; i++)
		p->what.marker->begins.data[i].operands = row_of(p, &m->begins.data[i], rows);
	return ret;
}
