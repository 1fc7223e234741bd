// SPDX-License-Identifier: GPL-3.0-or-later
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "import/internal.h"
#include "import/perfdata.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/symbols.h"
#include "trace/format.h"
#include "trace/meta/argument.h"
#include "trace/meta/known_args.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

struct mapping {
	uint64_t start, end, offset;
	uint32_t object;
};

struct process {
	uint32_t pid;
	struct {
		VEC(struct mapping)
	} mappings;
};

void names_init(struct names *n)
{
	*n = (struct names){ .dsos = dso_cache_new() };
	strtab_add(&n->strings, "");
}

/* ---- events ---- */

static const char *const exit_suffixes[] = { "__return", "_return", "__exit",
					     "_exit",	 "__ret",   "_ret" };

/*
 * Returns the length of the name without the suffix that marks the end of a call, or 0 if there is
 * no such suffix.
 */
static size_t exit_base(const char *name)
{
	size_t n = strlen(name);

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	if (n && name[n] && name[n - 1] == '_') /* perf's suffix for several probes of one name */
		n--;
	for (size_t i = 0; i < sizeof(exit_suffixes) / sizeof(*exit_suffixes); i++) {
		size_t k = strlen(exit_suffixes[i]);

		if (n > k && !memcmp(name + n - k, exit_suffixes[i], k))
			return n - k;
	}
	return 0;
}

static const char *own_name(const struct perfdata_event *e)
{
	const char *colon = e->name ? strrchr(e->name, ':') : NULL;

	/* modifiers: "probe_x:f:u" */
	if (colon && e->name != colon && memchr(e->name, ':', (size_t)(colon - e->name)))
		colon = strchr(e->name, ':');
	return colon ? colon + 1 : e->name ? e->name : "";
}

static size_t own_length(const struct perfdata_event *e)
{
	return strcspn(own_name(e), ":");
}

/* Whether another event is the other end of this one's calls. */
static bool has_pair(const struct perfdata *p, const struct perfdata_event *e, size_t base)
{
	const char *name = own_name(e);
	size_t n = base ? base : own_length(e);

	vec_for_each (&p->events, const struct perfdata_event, other) {
		char *of = xstrndup(own_name(other), own_length(other));
		size_t of_base = exit_base(of);
		size_t length = base ? strlen(of) : of_base;
		bool same = other != e && !base == !!of_base && length == n && !memcmp(of, name, n);

		free(of);
		if (same)
			return true;
	}
	return false;
}

void names_roles(struct names *n, const struct perfdata *p)
{
	while (n->roles.n < p->events.n) {
		const struct perfdata_event *e = &p->events.data[n->roles.n];
		struct event_role *r = vec_add(&n->roles);
		char *name = xstrndup(own_name(e), own_length(e));
		size_t base = exit_base(name);

		r->is_switch = e->name && !strcmp(e->name, "sched:sched_switch");
		r->is_waking = e->name && !strcmp(e->name, "sched:sched_waking");
		r->paired = has_pair(p, e, base);
		r->is_exit = base && r->paired;
		if (r->is_exit)
			name[base] = '\0';
		r->base = strtab_add(&n->strings, name);
		free(name);
	}
}

/* ---- mappings ---- */

static struct process *process_of(struct names *n, uint32_t pid)
{
	uint32_t i = map_add(&n->by_pid, pid, (uint32_t)n->processes.n);

	if (i == n->processes.n)
		vec_add(&n->processes)->pid = pid;
	return &n->processes.data[i];
}

static void forget_places(struct names *n)
{
	if (n->by_place.n)
		map_release(&n->by_place);
}

void names_map(struct names *n, const struct happening *h)
{
	struct process *p;

	if (h->text[0] != '/' || h->b <= h->a)
		return;
	p = process_of(n, h->pid);
	*vec_add(&p->mappings) = (struct mapping){ .start = h->a,
						   .end = h->b,
						   .offset = h->sp,
						   .object = strtab_add(&n->objects, h->text) };
	forget_places(n);
}

void names_fork(struct names *n, uint32_t parent, uint32_t child)
{
	struct process *to, *from;

	process_of(n, child); /* may add a process, which moves the others */
	from = process_of(n, parent);
	to = process_of(n, child);
	if (to == from || to->mappings.n)
		return;
	for (size_t i = 0; i < from->mappings.n; i++)
		*vec_add(&to->mappings) = from->mappings.data[i];
}

void names_exec(struct names *n, uint32_t pid)
{
	process_of(n, pid)->mappings.n = 0;
	forget_places(n);
}

/* Returns the latest mapping that contains the address: it has replaced earlier ones. */
static const struct mapping *mapping_at(struct names *n, uint32_t pid, uint64_t address)
{
	const struct process *p = process_of(n, pid);

	for (size_t i = p->mappings.n; i-- > 0;)
		if (address >= p->mappings.data[i].start && address < p->mappings.data[i].end)
			return &p->mappings.data[i];
	return NULL;
}

/* ---- functions ---- */

static void describe(struct import_function *f, struct dso *dso, const struct dso_function *of)
{
	struct dso_line line = dso_line_at(dso, of->address);

	f->symbol = xstrdup(of->symbol);
	f->name = xstrdup(dso_function_name(dso, of));
	f->address = of->address;
	f->size_bytes = of->size;
	f->file = xstrdup(line.file);
	f->line = line.line;
}

static uint32_t add_function(struct names *n, uint32_t object, uint64_t offset, uint32_t base,
			     const char *event)
{
	struct dso *dso = NULL;
	const struct dso_function *of = NULL;
	uint64_t address = offset, key;
	struct import_function *f;
	uint32_t i;

	if (object != MAP_NONE && !dso_get(n->dsos, strtab_get(&n->objects, object), &dso, NULL)) {
		address = dso_offset_to_address(dso, offset);
		of = address == UINT64_MAX ? NULL : dso_function_at(dso, address);
	}
	/*
	 * in a file without symbols, entry and exit may have different addresses, so the name is
	 * the key
	 */
	key = hash_u64(of     ? of->address
		       : base ? 0
			      : address) ^
	      hash_u64((uint64_t)object << 32 | base);
	i = map_get(&n->by_key, key);
	if (i != MAP_NONE)
		return i;
	i = (uint32_t)n->functions.n;
	f = vec_add(&n->functions);
	*f = (struct import_function){ .base = base, .object = object, .probe_address = address };
	if (of)
		describe(f, dso, of);
	else {
		f->symbol = xstrdup(event);
		f->name = xstrdup(event);
		f->file = xstrdup("");
		f->address = address;
	}
	map_put(&n->by_key, key, i);
	return i;
}

uint32_t names_function(struct names *n, uint32_t pid, uint64_t address, uint32_t event)
{
	const struct event_role *r = &n->roles.data[event];
	const char *name = strtab_get(&n->strings, r->base);
	uint32_t base = r->paired ? r->base : 0, i;
	uint64_t key = hash_u64(address) ^ hash_u64((uint64_t)pid << 32 | base);
	const struct mapping *m;

	i = map_get(&n->by_place, key);
	if (i != MAP_NONE)
		return i;
	m = mapping_at(n, pid, address);
	i = add_function(n, m ? m->object : MAP_NONE, m ? address - m->start + m->offset : address,
			 base, name);
	map_put(&n->by_place, key, i);
	return i;
}

/* ---- arguments ---- */

/* Reads the function's prototype from DWARF; without DWARF it has no parameters. */
static void prototype_of(const struct names *n, const struct import_function *f,
			 struct dso_prototype *prototype)
{
	const struct dso_function *of = NULL;
	struct dso *dso = NULL;

	*prototype = (struct dso_prototype){ .n = 0 };
	if (f->object != MAP_NONE &&
	    !dso_get(n->dsos, strtab_get(&n->objects, f->object), &dso, NULL))
		of = dso_function_at(dso, f->address);
	if (!of || !dso_prototype(dso, of, prototype))
		*prototype = (struct dso_prototype){ .n = 0 };
}

/* Returns the parameter with the value's name, if it is passed in a register as numbers are. */
static const struct dso_parameter *parameter_of(const struct dso_prototype *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->parameters[i].passed == DSO_PASSED_INTEGER &&
		    !strcmp(p->parameters[i].name, name))
			return &p->parameters[i];
	return NULL;
}

/*
 * Returns the integer register in which the calling convention passes the parameter, or MAP_NONE if
 * that is uncertain.
 */
static uint32_t register_of(const struct dso_prototype *p, const struct dso_parameter *of)
{
	uint32_t n = 0;

	if (!of || p->changed || p->result.passed == DSO_PASSED_AGGREGATE)
		return MAP_NONE;
	for (const struct dso_parameter *before = p->parameters; before < of; before++) {
		if (before->passed == DSO_PASSED_AGGREGATE)
			return MAP_NONE;
		n += before->passed == DSO_PASSED_INTEGER;
	}
	return n < ARG_CALLER ? n : MAP_NONE;
}

/* Returns a well-known function's argument, as a lock or a file, by its name. */
static const struct known_arg *known_of(const struct import_function *f, const char *name)
{
	const struct known_arg *rows[KNOWN_ARGS_MAX];
	size_t n = known_args(f->symbol, rows);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i]->name, name))
			return rows[i];
	return NULL;
}

/*
 * Bits stand for registers, and readers find a lock's address by its bit. So a value whose register
 * is unknown gets one of the last bits.
 */
static uint32_t free_bit(const struct import_function *f, uint32_t wanted)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < f->n_arguments; i++)
		taken |= 1u << f->arguments[i].bit;
	if (wanted != MAP_NONE && !(taken >> wanted & 1))
		return wanted;
	for (uint32_t bit = ARG_CALLER; wanted != ARG_RETURN && bit-- > ARG_FIRST;)
		if (!(taken >> bit & 1))
			return bit;
	return MAP_NONE;
}

static uint32_t new_bit(const struct names *n, const struct import_function *f, const char *name,
			bool is_returned)
{
	const struct known_arg *known = known_of(f, name);
	struct dso_prototype prototype;
	uint32_t wanted;

	if (is_returned)
		return free_bit(f, ARG_RETURN);
	prototype_of(n, f, &prototype);
	wanted = register_of(&prototype, parameter_of(&prototype, name));
	if (wanted == MAP_NONE && known && known->number)
		wanted = known->number - 1;
	return free_bit(f, wanted);
}

/* perf gives the value of a return probe the name arg1 if the user has not named it. */
static const char *argument_name(const struct format_field *field, bool is_returned)
{
	return is_returned && meta_argument_number(field->name) ? "ret" : field->name;
}

uint32_t names_argument(struct names *n, uint32_t function, const struct format_field *field,
			bool is_returned)
{
	struct import_function *f = &n->functions.data[function];
	const char *name = argument_name(field, is_returned);
	struct import_argument *a;
	uint32_t bit;

	for (uint32_t i = 0; i < f->n_arguments; i++)
		if ((f->arguments[i].bit == ARG_RETURN) == is_returned &&
		    !strcmp(f->arguments[i].name, name))
			return f->arguments[i].bit;
	bit = new_bit(n, f, name, is_returned);
	if (bit == MAP_NONE)
		return MAP_NONE;
	a = &f->arguments[f->n_arguments++];
	*a = (struct import_argument){ .bit = bit, .is_signed = field->is_signed };
	a->name = strtab_get(&n->strings, strtab_add(&n->strings, name));
	a->type = strtab_get(&n->strings, strtab_add(&n->strings, field->type));
	return bit;
}

/* ---- lines ---- */

static void write_line(struct trace_writer *w, struct text *line)
{
	trace_writer_meta(w, line->s);
	line->n = 0;
}

/*
 * Returns the argument's number, known only from its name or DWARF, as the kernel's format does not
 * contain it.
 */
static uint32_t number_of(const struct dso_prototype *p, const struct import_function *f,
			  const struct import_argument *a)
{
	const struct known_arg *known = known_of(f, a->name);
	const struct dso_parameter *of = parameter_of(p, a->name);
	uint64_t n = meta_argument_number(a->name);

	if (a->bit == ARG_RETURN)
		return 0;
	if (of)
		return (uint32_t)(of - p->parameters) + 1;
	if (known)
		return known->number;
	return n && n < ARGUMENT_UNPLACED ? (uint32_t)n : ARGUMENT_UNPLACED + a->bit;
}

static struct meta_argument describe_argument(const struct dso_prototype *p,
					      const struct import_function *f,
					      const struct import_argument *a)
{
	const struct known_arg *known = known_of(f, a->name);
	const struct dso_parameter *of =
		a->bit == ARG_RETURN ? &p->result : parameter_of(p, a->name);
	struct meta_argument m = {
		.bit = a->bit, .name = a->name, .type = a->type, .is_signed = a->is_signed
	};

	if (of && of->passed == DSO_PASSED_INTEGER) {
		m.type = of->type;
		m.class = of->is_pointer ? ARGUMENT_ADDRESS : ARGUMENT_VALUE;
	} else if (known) {
		m.type = known->type;
	}
	if (known) {
		m.class = known->class;
		m.key = !known->aside;
	}
	return m;
}

static void write_function(const struct names *n, const struct import_function *f,
			   struct text *line)
{
	struct meta_argument arguments[IMPORT_ARGUMENTS_MAX + 1];
	struct meta_parameter parameters[IMPORT_ARGUMENTS_MAX + 1];
	struct dso_prototype prototype;
	struct meta_function m = {
		.id = (uint32_t)(f - n->functions.data),
		.object = f->object == MAP_NONE ? n->objects.n : f->object,
		.name = f->name,
		.symbol = f->symbol,
		.address = f->address,
		.size_bytes = f->size_bytes,
		.probe_offset = f->probe_address - f->address,
		.class = CLASS_UNKNOWN,
		.exit = f->exits ? EXIT_RETURN : EXIT_NONE,
		.file = f->file,
		.line = f->line,
		.block = "function",
		.chosen = true,
		.parameters = META_UNKNOWN,
		.n_arguments = f->n_arguments,
		.arguments = arguments,
		.n_prototype = f->n_arguments,
		.prototype = parameters,
	};

	if (f->n_arguments)
		prototype_of(n, f, &prototype);
	for (uint32_t i = 0; i < f->n_arguments; i++) {
		arguments[i] = describe_argument(&prototype, f, &f->arguments[i]);
		parameters[i] = (struct meta_parameter){
			.number = number_of(&prototype, f, &f->arguments[i]),
			.name = f->arguments[i].name,
			.why = "",
		};
	}
	meta_print_function(&m, line);
}

void names_write(const struct names *n, struct trace_writer *w)
{
	struct text line = { 0 };

	for (uint32_t i = 0; i < n->objects.n; i++) {
		const char *path = strtab_get(&n->objects, i);
		struct dso *dso = NULL;
		struct meta_object o = { .id = i, .path = path, .build_id = "" };

		if (!dso_get(n->dsos, path, &dso, NULL))
			o.build_id = dso_build_id(dso);
		meta_print_object(&o, &line);
		write_line(w, &line);
	}
	vec_for_each (&n->functions, const struct import_function, f) {
		write_function(n, f, &line);
		write_line(w, &line);
	}
	text_release(&line);
}

void names_release(struct names *n)
{
	vec_for_each (&n->processes, struct process, p)
		vec_release(&p->mappings);
	vec_release(&n->processes);
	vec_for_each (&n->functions, struct import_function, f) {
		free(f->symbol);
		free(f->name);
		free(f->file);
	}
	vec_release(&n->functions);
	vec_release(&n->roles);
	map_release(&n->by_pid);
	map_release(&n->by_key);
	map_release(&n->by_place);
	strtab_release(&n->strings);
	strtab_release(&n->objects);
	dso_cache_free(n->dsos);
}
