/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the parameters and the result of a function from DWARF. */
#include "symbol/dso/prototype.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

#define DEPTH_MAX 16 /* of nested types; only damaged files are deeper */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), type) != NULL;
}

static void name_type(Dwarf_Die *die, struct text *out, unsigned depth);

static void name_target(Dwarf_Die *die, struct text *out, unsigned depth)
{
	Dwarf_Die target;

	if (depth < DEPTH_MAX && type_of(die, &target))
		name_type(&target, out, depth + 1);
	else
		text_add(out, "void");
}

static void add_star(struct text *out, const char *star)
{
	if (out->n && out->s[out->n - 1] != '*')
		text_add(out, " ");
	text_add(out, star);
}

static void name_type(Dwarf_Die *die, struct text *out, unsigned depth)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_pointer_type:
	case DW_TAG_array_type:
		name_target(die, out, depth);
		add_star(out, "*");
		return;
	case DW_TAG_reference_type:
		name_target(die, out, depth);
		add_star(out, "&");
		return;
	case DW_TAG_rvalue_reference_type:
		name_target(die, out, depth);
		add_star(out, "&&");
		return;
	case DW_TAG_const_type:
		text_add(out, "const ");
		name_target(die, out, depth);
		return;
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		name_target(die, out, depth);
		return;
	case DW_TAG_subroutine_type:
		text_add(out, "function");
		return;
	case DW_TAG_structure_type:
		text_printf(out, "struct %s", name ? name : "{}");
		return;
	case DW_TAG_union_type:
		text_printf(out, "union %s", name ? name : "{}");
		return;
	case DW_TAG_enumeration_type:
		text_printf(out, "enum %s", name ? name : "{}");
		return;
	}
	text_add(out, name ? name : "?");
}

static void classify_base(Dwarf_Die *die, struct dso_parameter *p)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;
	int bytes = dwarf_bytesize(die);

	dwarf_formudata(dwarf_attr(die, DW_AT_encoding, &attr), &encoding);
	p->bytes = bytes > 0 ? (uint32_t)bytes : 8;
	p->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	    encoding == DW_ATE_decimal_float)
		p->passed = DSO_PASSED_FLOAT;
	else
		p->passed = p->bytes <= 8 ? DSO_PASSED_INTEGER : DSO_PASSED_AGGREGATE;
}

/*
 * Finds how a value of the type is passed: in an integer register, in a floating-point register, or
 * otherwise.
 */
static void classify(Dwarf_Die *die, struct dso_parameter *p)
{
	Dwarf_Die type = *die;
	int bytes;

	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		switch (dwarf_tag(&type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!type_of(&type, &type))
				return;
			continue;
		case DW_TAG_base_type:
			classify_base(&type, p);
			return;
		case DW_TAG_enumeration_type:
			bytes = dwarf_bytesize(&type);
			p->bytes = bytes > 0 ? (uint32_t)bytes : 4;
			p->passed = DSO_PASSED_INTEGER;
			return;
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
		case DW_TAG_array_type:
			p->is_pointer = true;
			p->bytes = 8;
			p->passed = DSO_PASSED_INTEGER;
			return;
		}
		bytes = dwarf_bytesize(&type);
		p->bytes = bytes > 0 ? (uint32_t)bytes : 0;
		return;
	}
}

static void describe(struct dso *dso, Dwarf_Die *die, struct dso_parameter *p)
{
	const char *name = dwarf_diename(die);
	struct text words = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Die type;

	*p = (struct dso_parameter){ .passed = DSO_PASSED_AGGREGATE };
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &attr))
		name = dwarf_formstring(&attr);
	p->name = arena_strdup(&dso->strings, name ? name : "");
	if (!type_of(die, &type)) {
		p->type = "void";
		p->passed = DSO_PASSED_NOT;
		return;
	}
	name_type(&type, &words, 0);
	p->type = arena_strdup(&dso->strings, words.s ? words.s : "");
	text_release(&words);
	classify(&type, p);
}

/*
 * Returns the blank between a type and a name: none behind a pointer's star, nor behind an empty
 * type.
 */
static const char *blank_after(const char *type)
{
	size_t n = strlen(type);

	return n && type[n - 1] != '*' ? " " : "";
}

static const char *print_prototype(struct dso *dso, const char *name, const struct dso_prototype *p)
{
	struct text words = { 0 };
	const char *kept;

	text_printf(&words, "%s%s%s(", p->result.type, blank_after(p->result.type), name);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct dso_parameter *q = &p->parameters[i];

		text_printf(&words, "%s%s%s%s", i ? ", " : "", q->type,
			    *q->name ? blank_after(q->type) : "", q->name);
	}
	text_add(&words, p->n || p->variadic ? "" : "void");
	text_add(&words, p->variadic ? p->n ? ", ...)" : "...)" : ")");
	kept = arena_strdup(&dso->strings, words.s);
	text_release(&words);
	return kept;
}

/* An assembler describes its functions without parameters, so their number is unknown. */
static bool is_assembler(Dwarf_Die *die)
{
	Dwarf_Die cu;

	return dwarf_diecu(die, &cu, NULL, NULL) && dwarf_srclang(&cu) == DW_LANG_Mips_Assembler;
}

static bool origin_of(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), origin) != NULL;
}

/*
 * Finds the DIE of the parameter in this copy of the function: one whose origin is parameter, or
 * parameter itself.
 */
static bool instance_of(Dwarf_Die *function, Dwarf_Die *parameter, Dwarf_Die *out)
{
	Dwarf_Die child, origin;

	if (dwarf_child(function, &child))
		return false;
	do {
		if (child.addr == parameter->addr ||
		    (origin_of(&child, &origin) && origin.addr == parameter->addr)) {
			*out = child;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/*
 * Returns the index of the register among the argument registers, which DWARF numbers in another
 * order.
 */
static uint32_t argument_register(struct dso *dso, const Dwarf_Op *at)
{
	static const uint8_t x86[] = { 5, 4, 1, 2, 8, 9 }; /* rdi rsi rdx rcx r8 r9 */
	uint32_t number = at->atom - DW_OP_reg0;

	if (dso_machine(dso) == DSO_AARCH64)
		return number < 8 ? number : DSO_NO_PLACE;
	for (uint32_t i = 0; i < sizeof(x86); i++)
		if (x86[i] == number)
			return i;
	return DSO_NO_PLACE;
}

static uint32_t find_place(struct dso *dso, Dwarf_Die *instance, Dwarf_Addr entry)
{
	Dwarf_Attribute attr;
	Dwarf_Op *at;
	size_t n;

	if (!dwarf_attr(instance, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, entry, &at, &n, 1) < 1 || n != 1)
		return DSO_NO_PLACE;
	return argument_register(dso, at);
}

static bool is_marked_changed(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Word convention;

	return dwarf_attr(function, DW_AT_calling_convention, &attr) &&
	       !dwarf_formudata(&attr, &convention) && convention == DW_CC_nocall;
}

/*
 * clang removes parameters of a function that no other file sees and does not mark the function.
 * The parameters reveal the change: one has another place than the convention gives it, or some
 * have a place and others none.
 */
static bool is_changed_unsaid(const struct dso_prototype *p)
{
	bool some = false, none = false, others = false;
	uint32_t number = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct dso_parameter *q = &p->parameters[i];

		if (q->passed == DSO_PASSED_AGGREGATE)
			return false;
		if (q->passed != DSO_PASSED_INTEGER)
			continue;
		some |= q->place != DSO_NO_PLACE;
		none |= q->place == DSO_NO_PLACE;
		others |= q->place != DSO_NO_PLACE && q->place != number;
		number++;
	}
	return p->result.passed != DSO_PASSED_AGGREGATE && number <= 6 &&
	       (others || (some && none));
}

/*
 * gcc makes copies of a function without those parameters that are always the same (.constprop), or
 * that are used only in part, and without unused results (.isra).
 */
static void find_changes(const struct dso_function *f, Dwarf_Die *function,
			 struct dso_prototype *out)
{
	bool constprop = strstr(f->symbol, ".constprop."), isra = strstr(f->symbol, ".isra.");
	Dwarf_Attribute attr;

	out->changed =
		constprop || isra || is_marked_changed(function) ||
		(!dwarf_attr_integrate(function, DW_AT_external, &attr) && is_changed_unsaid(out));
	out->result.place = out->changed && (isra || !constprop) ? DSO_NO_PLACE : 0;
}

static void add_parameter(struct dso *dso, const struct dso_function *f, Dwarf_Die *function,
			  Dwarf_Die *die, struct dso_prototype *out)
{
	struct dso_parameter *p;
	Dwarf_Die instance;

	if (out->n == DSO_PARAMETERS_MAX)
		return;
	p = &out->parameters[out->n++];
	describe(dso, die, p);
	p->place = DSO_NO_PLACE;
	if (instance_of(function, die, &instance))
		p->place = find_place(dso, &instance, dso_dwarf_address(dso, f->address));
}

bool dso_prototype(struct dso *dso, const struct dso_function *f, struct dso_prototype *out)
{
	Dwarf_Die function, source, child;

	if (dso_is_foreign(dso))
		return parser_prototype(dso, f, out);
	*out = (struct dso_prototype){ .text = "" };
	if (!dso_subprogram(dso, f->address, &function) || is_assembler(&function))
		return false;
	describe(dso, &function, &out->result);
	/* the parameters of gcc's copies may be in any order */
	if (!strchr(f->symbol, '.') || !origin_of(&function, &source))
		source = function;
	if (!dwarf_child(&source, &child))
		do {
			if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
				out->variadic = true;
			if (dwarf_tag(&child) == DW_TAG_formal_parameter)
				add_parameter(dso, f, &function, &child, out);
		} while (!dwarf_siblingof(&child, &child));
	find_changes(f, &function, out);
	out->text = print_prototype(dso, dso_function_bare_name(dso, f), out);
	return true;
}
