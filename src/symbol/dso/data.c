/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the variable that contains an address. The table of variables is read when it is first
 * used.
 */
#include "symbol/dso/data.h"

#include <string.h>

#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

/* The largest page size, in bytes: mappings begin at whole pages. */
#define PAGE_BYTES 65536

static void add_variable(struct dso *dso, const char *name, const GElf_Sym *sym)
{
	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT || sym->st_shndx == SHN_UNDEF || !*name ||
	    !sym->st_size || sym->st_value + sym->st_size < sym->st_value)
		return;
	*vec_add(&dso->variables) = (struct dso_variable){ .symbol = name,
							   .address = sym->st_value,
							   .size = sym->st_size };
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/*
 * Orders variables at one address: larger ones first, then those with more public names. The first
 * one is used.
 */
static int compare_variables(const void *a, const void *b)
{
	const struct dso_variable *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (underscores(x->symbol) != underscores(y->symbol))
		return underscores(x->symbol) < underscores(y->symbol) ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

static void load(struct dso *dso)
{
	Dwfl_Module *module;
	int n;

	if (dso_is_foreign(dso)) {
		parser_variables(dso);
		return;
	}
	module = dso_module(dso);
	n = module ? dwfl_module_getsymtab(module) : 0;
	dso->variables_loaded = true;
	for (int i = 1; i < n; i++) {
		Elf *elf = NULL;
		GElf_Sym sym;
		const char *name = dso_merged_symbol(module, i, &sym, &elf);

		if (name)
			add_variable(dso, name, &sym);
	}
	vec_sort(&dso->variables, compare_variables);
}

/*
 * Returns the demangled name. Copies of a library's variables carry an @VERSION, which is cut off.
 */
static const char *name_of(struct dso *dso, struct dso_variable *v)
{
	char *symbol, *name;

	if (v->name)
		return v->name;
	symbol = xstrdup(v->symbol);
	symbol[strcspn(symbol, "@")] = '\0';
	name = dso_demangle(dso, symbol);
	v->name = arena_strdup(&dso->strings, name);
	free(name);
	free(symbol);
	return v->name;
}

/* Variables may contain others, but no deeper than a few levels. */
#define NESTING_MAX 16

const char *dso_variable_at(struct dso *dso, uint64_t address, uint64_t *offset)
{
	size_t low;

	if (!dso->variables_loaded)
		load(dso);
	low = vec_search(i, 0, dso->variables.n, dso->variables.data[i].address <= address);
	for (size_t back = 0; low > 0 && back < NESTING_MAX; back++) {
		struct dso_variable *v;

		low--;
		while (low > 0 &&
		       dso->variables.data[low - 1].address == dso->variables.data[low].address)
			low--;
		v = &dso->variables.data[low];
		if (address - v->address >= v->size)
			continue;
		*offset = address - v->address;
		return name_of(dso, v);
	}
	return NULL;
}

bool dso_is_data(const struct dso *dso, uint64_t address)
{
	vec_for_each (&dso->segments, struct dso_segment, s)
		if (!s->executable && address >= s->address &&
		    address - s->address < s->memory_size)
			return true;
	return false;
}

uint64_t dso_load_bias(const struct dso *dso, uint64_t start, uint64_t file_offset)
{
	vec_for_each (&dso->segments, struct dso_segment, s) {
		uint64_t first = s->file_offset & ~(uint64_t)(PAGE_BYTES - 1);

		if (s->executable && file_offset >= first &&
		    file_offset < s->file_offset + s->file_size)
			return start - (s->address + file_offset - s->file_offset);
	}
	return UINT64_MAX;
}
