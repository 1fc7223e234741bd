/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads lines, inlined calls and languages from DWARF. Compile units are found in a table of their
 * ranges, made here: libdw before 0.191 looks only at .debug_aranges, which clang does not write.
 * The functions of a unit are found in a table, too, made when the first of them is needed:
 * searching the unit for each of its functions takes time that grows with the square of their
 * number.
 */
#include "symbol/dso/lines.h"

#include <string.h>

#include <dwarf.h>

#include "base/hash.h"
#include "base/mem.h"
#include "symbol/demangle.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

/*
 * Limits the nesting of scopes (classes in namespaces, blocks in blocks): only damaged files are
 * deeper.
 */
#define SCOPES_MAX 64

struct unit_range {
	uint64_t start, end;
	Dwarf_Die unit; /* has the line table */
	Dwarf_Die body; /* has the functions; another DIE with -gsplit-dwarf */
};

struct function_range {
	uint64_t start, end;
	Dwarf_Die die;
};

struct unit_functions {
	VEC(struct function_range) /* sorted; of those with one start, the longest is last */
};

struct dso_lines {
	Dwarf *dwarf; /* NULL: the file has no DWARF */
	Dwarf_Addr bias;
	struct {
		VEC(struct unit_range)
	} units;
	struct map by_body; /* unit_range's body.addr -> index of functions */
	struct {
		VEC(struct unit_functions)
	} functions;
	struct strtab names;
};

static int compare_units(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Functions that the linker dropped leave ranges at address 0, which is not code. */
static void add_unit(struct dso *dso, struct dso_lines *lines, Dwarf_Die *unit, Dwarf_Die *body)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		if (start < end && dso_code_range(dso, start + lines->bias))
			*vec_add(&lines->units) = (struct unit_range){ start, end, *unit, *body };
	}
}

static void load_units(struct dso *dso, struct dso_lines *lines)
{
	Dwarf_Die unit, sub;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (dwarf_get_units(lines->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0) {
		bool is_split;

		if (type == DW_UT_type || type == DW_UT_split_type || type == DW_UT_partial)
			continue;
		is_split = type == DW_UT_skeleton && dso_split_unit(dso, cu, &unit, &sub);
		add_unit(dso, lines, &unit, is_split ? &sub : &unit);
	}
	vec_sort(&lines->units, compare_units);
}

static struct dso_lines *get_lines(struct dso *dso)
{
	struct dso_lines *lines = dso->lines;
	Dwfl_Module *module;

	if (lines)
		return lines;
	lines = dso->lines = xcalloc(1, sizeof(*lines));
	module = dso_module(dso);
	lines->dwarf = module ? dwfl_module_getdwarf(module, &lines->bias) : NULL;
	dso_no_other_files(dso, lines->dwarf);
	if (lines->dwarf) {
		dwarf_new_oom_handler(lines->dwarf, mem_exhausted);
		load_units(dso, lines);
	}
	return lines;
}

void dso_lines_free(struct dso_lines *lines)
{
	if (!lines)
		return;
	vec_release(&lines->units);
	vec_for_each (&lines->functions, struct unit_functions, f)
		vec_release(f);
	vec_release(&lines->functions);
	map_release(&lines->by_body);
	strtab_release(&lines->names);
	free(lines);
}

bool dso_has_dwarf(struct dso *dso)
{
	if (dso_is_foreign(dso))
		return parser_has_dwarf(dso);
	return get_lines(dso)->dwarf != NULL;
}

/* address is one of DWARF's. */
static struct unit_range *find_unit(struct dso_lines *lines, uint64_t address)
{
	size_t low = vec_search(i, 0, lines->units.n, lines->units.data[i].start <= address);

	if (!low || address >= lines->units.data[low - 1].end)
		return NULL;
	return &lines->units.data[low - 1];
}

static struct dso_line line_at(struct dso *dso, uint64_t address)
{
	struct dso_lines *lines = get_lines(dso);
	struct unit_range *unit = find_unit(lines, address - lines->bias);
	Dwarf_Line *line = unit ? dwarf_getsrc_die(&unit->unit, address - lines->bias) : NULL;
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0;

	if (!file || dwarf_lineno(line, &number) || number < 0)
		return (struct dso_line){ "", 0 };
	return (struct dso_line){ file, (uint32_t)number };
}

struct dso_line dso_line_at(struct dso *dso, uint64_t address)
{
	return dso_is_foreign(dso) ? parser_line(dso, address) : line_at(dso, address);
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

static const char *die_name(struct dso_lines *lines, Dwarf_Die *die)
{
	const char *name = linkage_name(die), *kept;
	char *demangled;

	if (!name)
		name = dwarf_diename(die);
	demangled = demangle(name ? name : "");
	kept = strtab_get(&lines->names, strtab_add(&lines->names, demangled));
	free(demangled);
	return kept;
}

/*
 * Returns the name of a file number, from the table of the unit that contains the attribute: an
 * abstract origin may be in another unit. dwarf_decl_file() exists only for one of the two
 * attributes, and aborts on damaged tables.
 */
static const char *file_of(Dwarf_Attribute *attr)
{
	Dwarf_Word number;
	Dwarf_Files *files;
	const char *name = NULL;
	Dwarf_Die unit;
	size_t n;

	if (!dwarf_formudata(attr, &number) &&
	    dwarf_cu_die(attr->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
	    !dwarf_getsrcfiles(&unit, &files, &n) && number < n)
		name = dwarf_filesrc(files, number, NULL, NULL);
	return name ? name : "";
}

static struct dso_line call_line(Dwarf_Die *die)
{
	struct dso_line line = { "", 0 };
	Dwarf_Word number = 0;
	Dwarf_Attribute attr;

	if (dwarf_attr(die, DW_AT_call_line, &attr) && !dwarf_formudata(&attr, &number))
		line.line = (uint32_t)number;
	if (dwarf_attr(die, DW_AT_call_file, &attr))
		line.file = file_of(&attr);
	return line;
}

/* A walk over the functions of a unit, also those in namespaces and classes. */
struct walk {
	bool (*visit)(void *ctx, Dwarf_Die *function); /* false: ends the walk */
	void *ctx;
	bool within_functions; /* also visits the functions inside functions */
	const void *last; /* DIE visited last: they must ascend, so that no damaged file loops */
};

/*
 * Returns false if the visitor ended the walk. dwarf_getfuncs() is not used, as a damaged file can
 * make it recurse without a limit.
 */
static bool walk_functions(struct walk *w, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth == SCOPES_MAX || dwarf_child(parent, &die))
		return true;
	do {
		bool inside = w->within_functions;

		if (w->last && (const char *)die.addr <= (const char *)w->last)
			return true;
		w->last = die.addr;
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (!w->visit(w->ctx, &die))
				return false;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			break;
		case DW_TAG_module:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			inside = true;
			break;
		default:
			inside = false;
		}
		if (inside && !walk_functions(w, &die, depth + 1))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static bool add_function(void *unit_functions, Dwarf_Die *die)
{
	struct unit_functions *functions = unit_functions;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < end)
			*vec_add(functions) = (struct function_range){ start, end, *die };
	return true;
}

static const struct unit_functions *functions_of(struct dso_lines *lines, struct unit_range *unit)
{
	uint64_t key = (uintptr_t)unit->body.addr;
	uint32_t i = map_get(&lines->by_body, key);
	struct unit_functions *functions;
	struct walk all;

	if (i != MAP_NONE)
		return &lines->functions.data[i];
	map_put(&lines->by_body, key, (uint32_t)lines->functions.n);
	functions = vec_add(&lines->functions);
	all = (struct walk){ .visit = add_function, .ctx = functions, .within_functions = true };
	walk_functions(&all, &unit->body, 0);
	vec_sort(functions, compare_functions);
	return functions;
}

/*
 * Finds the DIE of the function that contains the address, also if its code was inlined from
 * elsewhere.
 */
static bool find_subprogram(struct dso_lines *lines, struct unit_range *unit, uint64_t address,
			    Dwarf_Die *out)
{
	const struct unit_functions *functions = functions_of(lines, unit);
	size_t low = vec_search(i, 0, functions->n, functions->data[i].start <= address);

	if (!low || address >= functions->data[low - 1].end)
		return false;
	*out = functions->data[low - 1].die;
	return true;
}

/* Finds the block or inlined copy in parent that contains the address. */
static bool scope_of(Dwarf_Die *parent, uint64_t address, Dwarf_Die *scope)
{
	if (dwarf_child(parent, scope))
		return false;
	do {
		int tag = dwarf_tag(scope);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(scope, address) > 0)
			return true;
	} while (dwarf_siblingof(scope, scope) == 0);
	return false;
}

static size_t inlines_at(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t room)
{
	struct dso_lines *lines = get_lines(dso);
	uint64_t at = address - lines->bias;
	struct unit_range *unit = find_unit(lines, at);
	Dwarf_Die scopes[SCOPES_MAX + 1];
	size_t n = 0, found = 0;

	if (!unit || !find_subprogram(lines, unit, at, &scopes[0]))
		return 0;
	while (n < SCOPES_MAX && scope_of(&scopes[n], at, &scopes[n + 1]))
		n++;
	for (; n && found < room; n--)
		if (dwarf_tag(&scopes[n]) == DW_TAG_inlined_subroutine) {
			chain[found].name = die_name(lines, &scopes[n]);
			chain[found++].call = call_line(&scopes[n]);
		}
	return found;
}

size_t dso_inlines_at(struct dso *dso, uint64_t address, struct dso_inline *chain, size_t room)
{
	return dso_is_foreign(dso) ? parser_inlines(dso, address, chain, room)
				   : inlines_at(dso, address, chain, room);
}

bool dso_subprogram(struct dso *dso, uint64_t address, Dwarf_Die *die)
{
	struct dso_lines *lines = get_lines(dso);
	struct unit_range *unit = find_unit(lines, address - lines->bias);

	return unit && find_subprogram(lines, unit, address - lines->bias, die);
}

Dwarf_Addr dso_dwarf_address(struct dso *dso, uint64_t address)
{
	return address - get_lines(dso)->bias;
}

/*
 * The line table is the second choice: it has the source of the first instruction, which may have
 * been inlined from another function.
 */
static struct dso_line function_line(struct dso *dso, const struct dso_function *f)
{
	struct dso_lines *lines = get_lines(dso);
	struct unit_range *unit = find_unit(lines, f->address - lines->bias);
	struct dso_line line = { "", 0 };
	Dwarf_Attribute attr;
	Dwarf_Word number = 0;
	Dwarf_Die die;

	if (!unit || !find_subprogram(lines, unit, f->address - lines->bias, &die))
		return dso_line_at(dso, f->address);
	if (dwarf_attr_integrate(&die, DW_AT_decl_line, &attr) && !dwarf_formudata(&attr, &number))
		line.line = (uint32_t)number;
	if (dwarf_attr_integrate(&die, DW_AT_decl_file, &attr))
		line.file = file_of(&attr);
	return line.line && *line.file ? line : dso_line_at(dso, f->address);
}

struct dso_line dso_function_line(struct dso *dso, const struct dso_function *f)
{
	return dso_is_foreign(dso) ? parser_function_line(dso, f) : function_line(dso, f);
}

static enum dso_language language_of(int dwarf_language)
{
	static const struct {
		int dwarf;
		enum dso_language language;
	} rows[] = {
		{ DW_LANG_C, LANG_C },
		{ DW_LANG_C89, LANG_C },
		{ DW_LANG_C99, LANG_C },
		{ DW_LANG_C11, LANG_C },
		{ 0x2c /* C17, DWARF 6 */, LANG_C },
		{ DW_LANG_C_plus_plus, LANG_CXX },
		{ DW_LANG_C_plus_plus_03, LANG_CXX },
		{ DW_LANG_C_plus_plus_11, LANG_CXX },
		{ DW_LANG_C_plus_plus_14, LANG_CXX },
		{ 0x2b /* C++17, DWARF 6 */, LANG_CXX },
		{ 0x2d /* C++20 */, LANG_CXX },
		{ DW_LANG_Rust, LANG_RUST },
		{ DW_LANG_Go, LANG_GO },
		{ DW_LANG_Fortran77, LANG_FORTRAN },
		{ DW_LANG_Fortran90, LANG_FORTRAN },
		{ DW_LANG_Fortran95, LANG_FORTRAN },
		{ DW_LANG_Fortran03, LANG_FORTRAN },
		{ DW_LANG_Fortran08, LANG_FORTRAN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].dwarf == dwarf_language)
			return rows[i].language;
	}
	return LANG_UNKNOWN;
}

static enum dso_language language_at(struct dso *dso, uint64_t address)
{
	struct dso_lines *lines = get_lines(dso);
	struct unit_range *unit = find_unit(lines, address - lines->bias);
	enum dso_language language = unit ? language_of(dwarf_srclang(&unit->body)) : LANG_UNKNOWN;
	const struct dso_function *f;

	if (language != LANG_UNKNOWN)
		return language;
	f = dso_function_at(dso, address);
	if (f && symbol_is_rust(f->symbol))
		return LANG_RUST;
	if (f && symbol_is_cxx(f->symbol))
		return LANG_CXX;
	return dso->go ? LANG_GO : LANG_UNKNOWN;
}

enum dso_language dso_language_at(struct dso *dso, uint64_t address)
{
	return dso_is_foreign(dso) ? parser_language(dso, address) : language_at(dso, address);
}

struct inline_search {
	const char *name; /* the name that is searched for */
	const char *last; /* its last component, which DW_AT_name holds */
	size_t last_bytes;
	bool inlined, concrete;
};

static bool means(struct inline_search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die), *linkage;
	char *bare;
	bool same;

	if (!name || strncmp(name, search->last, search->last_bytes) != 0)
		return false;
	if (!strcmp(name, search->name))
		return true;
	linkage = linkage_name(die);
	if (!linkage)
		return false;
	bare = demangle_bare(linkage);
	same = !strcmp(bare, search->name) || !strcmp(linkage, search->name);
	free(bare);
	return same;
}

static bool check_die(void *inline_search, Dwarf_Die *die)
{
	struct inline_search *search = inline_search;
	Dwarf_Word how = 0;
	Dwarf_Attribute attr;

	if (!means(search, die))
		return true;
	if (dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges))
		search->concrete = true;
	else if (!dwarf_formudata(dwarf_attr(die, DW_AT_inline, &attr), &how))
		search->inlined |= how == DW_INL_inlined || how == DW_INL_declared_inlined;
	return !search->concrete;
}

/* "ns::list<a::b>::find" -> "find" */
static const char *last_component(const char *name, size_t *n)
{
	const char *last = name;
	int depth = 0;

	for (const char *s = name; *s; s++) {
		depth += *s == '<';
		depth -= *s == '>' && depth > 0;
		if (!depth && s[0] == ':' && s[1] == ':')
			last = s + 2;
	}
	*n = strcspn(last, "<(");
	return last;
}

static bool only_inlined(struct dso *dso, const char *name)
{
	struct dso_lines *lines = get_lines(dso);
	struct inline_search search = { .name = name };
	struct walk all;
	char *bare = demangle_bare(name);
	Dwarf_Die unit, sub;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	search.last = last_component(bare, &search.last_bytes);
	while (lines->dwarf && !search.concrete &&
	       dwarf_get_units(lines->dwarf, cu, &cu, NULL, &type, &unit, NULL) == 0) {
		bool is_split = type == DW_UT_skeleton && dso_split_unit(dso, cu, &unit, &sub);

		all = (struct walk){ .visit = check_die, .ctx = &search };
		walk_functions(&all, is_split ? &sub : &unit, 0);
	}
	free(bare);
	return search.inlined && !search.concrete;
}

bool dso_only_inlined(struct dso *dso, const char *name)
{
	return dso_is_foreign(dso) ? parser_only_inlined(dso, name) : only_inlined(dso, name);
}
