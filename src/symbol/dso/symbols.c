/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the table of functions. libdwfl finds and merges the symbol tables (.symtab of the file or
 * of its debug file, else .dynsym with that of .gnu_debugdata, and Go's own table). The file's own
 * .dynsym is read as well, because it alone tells which symbols are exported and which versions are
 * the default.
 */
#include "symbol/dso/symbols.h"

#include <string.h>

#include "base/clock.h"
#include "symbol/demangle.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/parser.h"

enum {
	SYM_IFUNC = 1,
	SYM_EXPORTED = 2, /* seen in .dynsym */
	SYM_OLD = 4,	  /* not the default version */
	SYM_DYN_DEFAULT = 8,
	SYM_LABEL = 16, /* has no type: hand-written assembly, or a label inside a function */
};

#define GUESSED_MOST 4096

struct raw {
	const char *symbol;
	uint64_t address, size;
	unsigned flags;
};

struct raws {
	VEC(struct raw)
};

bool dso_string_ends(Elf *elf, const char *s)
{
	size_t n = 0;
	const char *image = elf_rawfile(elf, &n);

	return image && s >= image && s < image + n && memchr(s, '\0', (size_t)(image + n - s));
}

/* Turns foo@@VERSION into foo, and sets SYM_OLD if the version is not the default one. */
static const char *cut_version(struct dso *dso, const char *symbol, unsigned *flags)
{
	const char *at = strchr(symbol, '@');
	char *cut;

	if (!at || at == symbol)
		return symbol;
	if (at[1] != '@')
		*flags |= SYM_OLD;
	cut = arena_strdup(&dso->strings, symbol);
	cut[at - symbol] = '\0';
	return cut;
}

static bool is_function(const GElf_Sym *sym, unsigned *flags)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
		return true;
	case STT_GNU_IFUNC:
		*flags |= SYM_IFUNC;
		return true;
	case STT_NOTYPE:
		*flags |= SYM_LABEL;
		return GELF_ST_BIND(sym->st_info) != STB_LOCAL;
	}
	return false;
}

static void add_raw(struct dso *dso, struct raws *raws, const char *name, const GElf_Sym *sym,
		    unsigned flags)
{
	if (sym->st_shndx == SHN_UNDEF || !*name || !is_function(sym, &flags) ||
	    !dso_code_range(dso, sym->st_value))
		return;
	*vec_add(raws) = (struct raw){ .symbol = cut_version(dso, name, &flags),
				       .address = sym->st_value,
				       .size = sym->st_size,
				       .flags = flags };
}

const char *dso_merged_symbol(Dwfl_Module *module, int i, GElf_Sym *sym, Elf **elf)
{
	GElf_Addr address = 0;
	GElf_Word section;
	const char *name = dwfl_module_getsym_info(module, i, sym, &address, &section, elf, NULL);

	if (!name || !*elf || !dso_string_ends(*elf, name))
		return NULL;
	/* Addresses in a debug file may differ from the file's own (prelink); libdwfl corrects
	 * them. */
	sym->st_value = address;
	return name;
}

static Elf *read_merged(struct dso *dso, Dwfl_Module *module, struct raws *raws)
{
	int n = dwfl_module_getsymtab(module);
	Elf *first = NULL;

	for (int i = 1; i < n; i++) {
		Elf *elf = NULL;
		GElf_Sym sym;
		const char *name = dso_merged_symbol(module, i, &sym, &elf);

		if (!name)
			continue;
		if (!first)
			first = elf;
		add_raw(dso, raws, name, &sym, 0);
	}
	return first;
}

struct dynamic_symbols {
	Elf_Data *symbols, *versions;
	size_t strings; /* section number */
	size_t n;
};

static bool find_dynamic(struct dso *dso, struct dynamic_symbols *d)
{
	GElf_Shdr sh;

	*d = (struct dynamic_symbols){ 0 };
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		if (sh.sh_type == SHT_DYNSYM && sh.sh_entsize == sizeof(Elf64_Sym)) {
			d->symbols = elf_getdata(scn, NULL);
			d->strings = sh.sh_link;
			d->n = d->symbols ? d->symbols->d_size / sizeof(Elf64_Sym) : 0;
		} else if (sh.sh_type == SHT_GNU_versym) {
			d->versions = elf_getdata(scn, NULL);
		}
	}
	return d->n > 0;
}

static unsigned dynamic_flags(const struct dynamic_symbols *d, int i)
{
	GElf_Versym version;

	if (!d->versions || !gelf_getversym(d->versions, i, &version))
		return SYM_EXPORTED | SYM_DYN_DEFAULT;
	return SYM_EXPORTED | (version & 0x8000 ? SYM_OLD : SYM_DYN_DEFAULT);
}

static void read_dynamic(struct dso *dso, struct raws *raws)
{
	struct dynamic_symbols d;

	if (!find_dynamic(dso, &d))
		return;
	for (int i = 1; (size_t)i < d.n; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(d.symbols, i, &sym))
			break;
		name = elf_strptr(dso->elf, d.strings, sym.st_name);
		if (name)
			add_raw(dso, raws, name, &sym, dynamic_flags(&d, i));
	}
}

static int compare_raw(const void *a, const void *b)
{
	const struct raw *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

/* Merges a symbol that is in both .symtab and .dynsym, or has several versions, into one. */
static void merge(struct raws *raws)
{
	size_t n = 0;

	vec_sort(raws, compare_raw);
	vec_for_each (raws, struct raw, r) {
		struct raw *last = n ? &raws->data[n - 1] : NULL;

		if (last && last->address == r->address && !strcmp(last->symbol, r->symbol)) {
			unsigned label = last->flags & r->flags & SYM_LABEL;

			last->flags = ((last->flags | r->flags) & ~SYM_LABEL) | label;
			if (last->size < r->size)
				last->size = r->size;
		} else {
			raws->data[n++] = *r;
		}
	}
	raws->n = n;
}

/* Drops labels that are inside a function whose size is known. */
static void drop_labels(struct raws *raws)
{
	uint64_t end = 0;
	size_t n = 0;

	vec_for_each (raws, struct raw, r) {
		if ((r->flags & SYM_LABEL) && r->address < end)
			continue;
		if (r->size && r->address + r->size > end && !(r->flags & SYM_LABEL))
			end = r->address + r->size;
		raws->data[n++] = *r;
	}
	raws->n = n;
}

/*
 * Returns the distance to the next function, or the size of an alias that has one; 0 if there is
 * neither.
 */
static uint64_t distance_to_next(const struct raws *raws, size_t i)
{
	const struct raw *r = &raws->data[i];

	for (size_t j = i + 1; j < raws->n; j++) {
		if (raws->data[j].address != r->address)
			return raws->data[j].address - r->address;
		if (raws->data[j].size)
			return raws->data[j].size;
	}
	return 0;
}

/*
 * Returns the size of the function's unwind entry, else the distance to the next function or to the
 * section's end. In a stripped file, functions without a symbol may come in between; as a function
 * without an unwind entry is hand-written code, it is taken to be short.
 */
static uint64_t guess_size(struct dso *dso, const struct raws *raws, size_t i, uint64_t room)
{
	uint64_t address = raws->data[i].address, size = distance_to_next(raws, i), start, covered;

	if (!size || size > room)
		size = room;
	if (dso_frame_range(dso, address, &start, &covered) && start == address)
		return covered < size ? covered : size;
	return size > GUESSED_MOST && !strcmp(dso->symbol_source, ".dynsym") ? GUESSED_MOST : size;
}

/* A size that reaches beyond the section is cut to the section. */
static void set_size(struct dso *dso, const struct raws *raws, size_t i, struct dso_function *f)
{
	const struct raw *r = &raws->data[i];
	uint64_t room = dso_code_range(dso, r->address)->end - r->address;

	f->size_guessed = !r->size;
	f->size = f->size_guessed  ? guess_size(dso, raws, i, room)
		  : r->size < room ? r->size
				   : room;
}

static void add_function(struct dso *dso, const struct raws *raws, size_t i)
{
	const struct raw *r = &raws->data[i];
	uint64_t offset = dso_address_to_offset(dso, r->address);
	struct dso_function *f;

	if (offset == UINT64_MAX)
		return; /* the file is cut off before this function */
	f = vec_add(&dso->functions);
	f->symbol = r->symbol;
	if (!symbol_is_mangled(r->symbol))
		f->name = f->bare_name = r->symbol;
	f->address = r->address;
	f->file_offset = offset;
	f->ifunc = r->flags & SYM_IFUNC;
	f->default_version = (r->flags & SYM_DYN_DEFAULT) || !(r->flags & SYM_OLD);
	f->exported = r->flags & SYM_EXPORTED;
	set_size(dso, raws, i, f);
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* Orders aliases with the most public first, which is the name that people use. */
static int compare_functions(const void *a, const void *b)
{
	const struct dso_function *x = a, *y = b;
	size_t nx, ny;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->default_version != y->default_version)
		return x->default_version ? -1 : 1;
	if (x->exported != y->exported)
		return x->exported ? -1 : 1;
	nx = symbol_is_mangled(x->symbol) ? 0 : underscores(x->symbol);
	ny = symbol_is_mangled(y->symbol) ? 0 : underscores(y->symbol);
	if (nx != ny)
		return nx < ny ? -1 : 1;
	nx = strlen(x->symbol);
	ny = strlen(y->symbol);
	if (nx != ny)
		return nx < ny ? -1 : 1;
	return strcmp(x->symbol, y->symbol);
}

static const char *source_of(struct dso *dso, Elf *elf, Dwfl_Module *module)
{
	const char *debug = NULL;
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		if (sh.sh_type == SHT_SYMTAB)
			return ".symtab";
	}
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, &debug);
	if (debug && elf != dwfl_module_getelf(module, &(GElf_Addr){ 0 }))
		return strstr(debug, "debuginfod_client") ? "debuginfod" : "debuglink";
	return ".dynsym";
}

static bool has_debugdata(struct dso *dso)
{
	size_t names = 0;
	GElf_Shdr sh;

	elf_getshdrstrndx(dso->elf, &names);
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(dso->elf, scn)) && gelf_getshdr(scn, &sh);) {
		const char *name = elf_strptr(dso->elf, names, sh.sh_name);

		if (name && !strcmp(name, ".gnu_debugdata"))
			return true;
	}
	return false;
}

struct go {
	struct dso *dso;
	struct raws *raws;
};

static void add_go(void *ctx, const char *name, uint64_t address, uint64_t size)
{
	struct go *go = ctx;

	if (*name && dso_code_range(go->dso, address))
		*vec_add(go->raws) = (struct raw){ name, address, size, 0 };
}

/* Programs of Go that are stripped keep their own table of functions. */
static void read_go(struct dso *dso, struct raws *raws)
{
	const size_t n = raws->n;

	if (!dso->go || (n && strcmp(dso->symbol_source, ".dynsym") != 0))
		return;
	dso_go_functions(dso, add_go, &(struct go){ dso, raws });
	if (raws->n > n)
		dso->symbol_source = ".gopclntab";
}

static void load(struct dso *dso)
{
	struct raws raws = { 0 };
	Dwfl_Module *module;
	Elf *first;

	if (dso_is_foreign(dso)) {
		parser_functions(dso);
		return;
	}
	module = dso_module(dso);
	dso->symbols_loaded = true;
	dso->symbol_source = "none";
	first = module ? read_merged(dso, module, &raws) : NULL;
	read_dynamic(dso, &raws);
	if (raws.n)
		dso->symbol_source = first ? source_of(dso, first, module) : ".dynsym";
	if (!strcmp(dso->symbol_source, ".dynsym") && has_debugdata(dso))
		dso->symbol_source = ".gnu_debugdata";
	read_go(dso, &raws);
	merge(&raws);
	drop_labels(&raws);
	vec_reserve(&dso->functions, raws.n);
	for (size_t i = 0; i < raws.n; i++)
		add_function(dso, &raws, i);
	vec_release(&raws);
	vec_sort(&dso->functions, compare_functions);
	if (!dso->functions.n)
		dso->symbol_source = "none";
}

size_t dso_functions(struct dso *dso, const struct dso_function **functions)
{
	if (!dso->symbols_loaded)
		load(dso);
	*functions = dso->functions.data;
	return dso->functions.n;
}

const char *dso_symbol_source(struct dso *dso)
{
	if (!dso->symbols_loaded)
		load(dso);
	return dso->symbol_source;
}

/* Returns a writable pointer: the dso owns the functions, which are const for everybody else. */
static struct dso_function *own(struct dso *dso, const struct dso_function *f)
{
	return &dso->functions.data[f - dso->functions.data];
}

static const char *store_name(struct dso *dso, char *name)
{
	const char *kept = arena_strdup(&dso->strings, name);

	free(name);
	return kept;
}

char *dso_demangle(struct dso *dso, const char *symbol)
{
	bool of_others = symbol_is_mangled(symbol) && dso_is_foreign(dso);

	return of_others ? parser_demangle(dso, symbol) : demangle(symbol);
}

const char *dso_function_name(struct dso *dso, const struct dso_function *f)
{
	if (!f->name && dso_is_foreign(dso))
		parser_names(dso, own(dso, f));
	else if (!f->name)
		own(dso, f)->name = store_name(dso, demangle(f->symbol));
	return f->name;
}

const char *dso_function_bare_name(struct dso *dso, const struct dso_function *f)
{
	if (!f->bare_name && dso_is_foreign(dso))
		parser_names(dso, own(dso, f));
	else if (!f->bare_name)
		own(dso, f)->bare_name = store_name(dso, demangle_bare(f->symbol));
	return f->bare_name;
}

/*
 * Returns the first function at the address of f[n - 1]. The search is binary, because a file may
 * give any number of names to an address.
 */
static size_t first_at(const struct dso_function *f, size_t n, uint64_t address)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;

		if (f[mid].address < address)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/* Functions may contain others (assembly), but no deeper than a few levels. */
#define NESTING_MAX 16

const struct dso_function *dso_function_at(struct dso *dso, uint64_t address)
{
	const struct dso_function *f;
	const size_t n = dso_functions(dso, &f);
	size_t low = vec_search(i, 0, n, f[i].address <= address);

	for (size_t back = 0; low > 0 && back < NESTING_MAX; back++) {
		low = first_at(f, low, f[low - 1].address);
		if (address - f[low].address < f[low].size) {
			dso_function_name(dso, &f[low]);
			return &f[low];
		}
	}
	return NULL;
}

static const struct dso_function *sorting; /* qsort() passes no argument */

static int compare_by_name(const void *a, const void *b)
{
	const struct dso_function *x = &sorting[*(const uint32_t *)a],
				  *y = &sorting[*(const uint32_t *)b];
	int order = strcmp(x->symbol, y->symbol);

	if (order)
		return order;
	if (x->default_version != y->default_version)
		return x->default_version ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void index_names(struct dso *dso)
{
	uint64_t began_ns;

	dso->by_name = xmalloc((dso->functions.n + 1) * sizeof(*dso->by_name));
	for (size_t i = 0; i < dso->functions.n; i++)
		dso->by_name[i] = (uint32_t)i;
	sorting = dso->functions.data;
	began_ns = clock_now_ns();
	qsort(dso->by_name, dso->functions.n, sizeof(*dso->by_name), compare_by_name);
	parser_has_worked(dso, began_ns);
}

/* Returns the first index in by_name whose symbol is not below the first n bytes of symbol. */
static size_t lower_bound(struct dso *dso, const char *symbol, size_t n)
{
	const struct dso_function *f;
	const size_t n_functions = dso_functions(dso, &f);

	if (!dso->by_name)
		index_names(dso);
	return vec_search(i, 0, n_functions, strncmp(f[dso->by_name[i]].symbol, symbol, n) < 0);
}

static size_t find_range(struct dso *dso, const char *symbol, size_t n, const uint32_t **indices)
{
	size_t low = lower_bound(dso, symbol, n), end = low;
	const struct dso_function *f = dso->functions.data;

	while (end < dso->functions.n && !strncmp(f[dso->by_name[end]].symbol, symbol, n))
		end++;
	*indices = dso->by_name + low;
	return end - low;
}

size_t dso_find(struct dso *dso, const char *symbol, const uint32_t **indices)
{
	return find_range(dso, symbol, strlen(symbol) + 1, indices);
}

size_t dso_find_clones(struct dso *dso, const char *symbol, const uint32_t **indices)
{
	char *prefix = xasprintf("%s.", symbol);
	size_t n = find_range(dso, prefix, strlen(prefix), indices);

	free(prefix);
	return n;
}

static void load_imports(struct dso *dso)
{
	struct dynamic_symbols d;

	if (dso_is_foreign(dso)) {
		parser_imports(dso);
		return;
	}
	dso->imports_loaded = true;
	if (!find_dynamic(dso, &d))
		return;
	for (int i = 1; (size_t)i < d.n; i++) {
		GElf_Sym sym;
		const char *name;
		unsigned type;

		if (!gelf_getsym(d.symbols, i, &sym))
			break;
		type = GELF_ST_TYPE(sym.st_info);
		if (sym.st_shndx != SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE))
			continue;
		name = elf_strptr(dso->elf, d.strings, sym.st_name);
		if (name && *name)
			*vec_add(&dso->imports) = name;
	}
}

size_t dso_imports(struct dso *dso, const char *const **names)
{
	if (!dso->imports_loaded)
		load_imports(dso);
	*names = dso->imports.data;
	return dso->imports.n;
}

bool dso_has_import(struct dso *dso, const char *symbol)
{
	const char *const *names;
	size_t n = dso_imports(dso, &names);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], symbol))
			return true;
	return false;
}
