/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/select/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/bpf/wire.h"
#include "probes/select/blocking.h"
#include "trace/meta/known_args.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/symbols.h"

struct choice {
	struct arguments *a;
	struct dso *dso;
	const struct dso_function *f;
	struct dso_prototype prototype;
	bool has_prototype;
	const struct known_arg *known[KNOWN_ARGS_MAX];
	size_t n_known;
};

static uint32_t registers_of(const struct dso *dso)
{
	return dso_machine(dso) == DSO_AARCH64 ? 8 : 6;
}

static int usage(struct err *err)
{
	if (err)
		err->exit_status = 2;
	return -EINVAL;
}

static int refuse(const struct choice *c, const char *word, const char *why, struct err *err)
{
	err_set(err, -EINVAL, "%s@%s: %s; it is %s", dso_function_bare_name(c->dso, c->f), word,
		why,
		c->has_prototype ? c->prototype.text
				 : "without debug information: name it argN or ret");
	return usage(err);
}

static const struct known_arg *known_of(const struct choice *c, uint32_t number)
{
	for (size_t i = 0; i < c->n_known; i++)
		if (c->known[i]->number == number)
			return c->known[i];
	return NULL;
}

static const char left_out[] =
	"by its debug information the compiler has left it out of the function";

/*
 * Finds the integer register of parameter i. Returns NULL, or why it has none. Behind a structure
 * passed by value the number of the register is uncertain.
 */
static const char *find_register(const struct choice *c, uint32_t i, uint32_t *number)
{
	const struct dso_parameter *p = c->prototype.parameters;

	*number = i;
	if (!c->has_prototype)
		return i < registers_of(c->dso) ? NULL : "arguments from there on are on the stack";
	if (i >= c->prototype.n)
		return "there is no such argument";
	if (p[i].passed == DSO_PASSED_FLOAT)
		return "it is a floating-point number, which is in no integer register";
	if (p[i].passed != DSO_PASSED_INTEGER)
		return "it is a structure, which is in no integer register";
	if (c->prototype.changed) {
		*number = p[i].place;
		return p[i].place == DSO_NO_PLACE ? left_out : NULL;
	}
	*number = 0;
	if (c->prototype.result.passed == DSO_PASSED_AGGREGATE)
		return "the function returns a structure, which displaces its arguments";
	for (uint32_t k = 0; k < i; k++) {
		if (p[k].passed == DSO_PASSED_AGGREGATE)
			return "it is behind a structure, so its register is not certain";
		*number += p[k].passed == DSO_PASSED_INTEGER;
	}
	return *number < registers_of(c->dso) ? NULL : "it is passed on the stack";
}

static struct meta_argument *add(struct arguments *a, uint32_t bit, uint8_t bytes)
{
	struct meta_argument *m = &a->all[a->n++];

	m->bit = bit;
	m->type = "";
	a->bytes[bit] = bytes;
	if (bit < ARG_CALLER)
		a->registers |= 1u << bit;
	else
		a->returns = true;
	return m;
}

static bool is_chosen(const struct arguments *a, uint32_t bit)
{
	return a->bytes[bit] != 0;
}

static void describe(struct meta_argument *m, const struct dso_parameter *p)
{
	if (*p->name)
		m->name = p->name;
	m->type = p->type;
	m->is_signed = p->is_signed;
	m->class = p->is_pointer ? ARGUMENT_ADDRESS : ARGUMENT_VALUE;
}

static void describe_known(struct meta_argument *m, const struct known_arg *k)
{
	m->name = k->name;
	m->type = k->type;
	m->class = k->class;
	m->is_signed = k->is_signed;
	m->key = !k->aside;
}

/* Adds parameter i, unless it was added before. Returns NULL, or why it cannot be recorded. */
static const char *add_parameter(struct choice *c, uint32_t i)
{
	const struct known_arg *known = known_of(c, i + 1);
	const struct dso_parameter *p = NULL;
	struct meta_argument *m;
	uint32_t bit;
	const char *why = find_register(c, i, &bit);

	if (why || is_chosen(c->a, bit))
		return why;
	if (c->has_prototype)
		p = &c->prototype.parameters[i];
	m = add(c->a, bit, p ? p->bytes : known ? known->bytes : 8);
	snprintf(c->a->names[bit], sizeof(c->a->names[bit]), "arg%u", i + 1);
	m->name = c->a->names[bit];
	if (known)
		describe_known(m, known);
	if (p)
		describe(m, p);
	if (known)
		m->class = known->class;
	if (m->class == ARGUMENT_ADDRESS)
		c->a->addresses |= 1u << bit;
	return NULL;
}

/* Returns NULL if the result is in a register, otherwise the reason why it is not. */
static const char *find_return(const struct choice *c)
{
	const struct dso_parameter *result = &c->prototype.result;

	if (!c->has_prototype)
		return NULL;
	if (result->passed != DSO_PASSED_INTEGER)
		return result->passed == DSO_PASSED_NOT ? "it returns nothing"
							: "it returns no integer";
	return c->prototype.changed && result->place == DSO_NO_PLACE
		       ? "the compiler, which has left out arguments, may have left it out"
		       : NULL;
}

static const char *add_return(struct choice *c)
{
	const struct dso_parameter *result = &c->prototype.result;
	const char *why = find_return(c);
	struct meta_argument *m;

	if (why || is_chosen(c->a, ARG_RETURN))
		return why;
	m = add(c->a, ARG_RETURN, c->has_prototype ? result->bytes : 8);
	if (c->has_prototype)
		describe(m, result);
	m->name = "ret";
	return NULL;
}

/* Returns the index of the parameter with this name, or UINT32_MAX. */
static uint32_t named(const struct choice *c, const char *name)
{
	for (uint32_t i = 0; i < c->prototype.n; i++)
		if (!strcmp(c->prototype.parameters[i].name, name))
			return i;
	for (size_t i = 0; i < c->n_known; i++)
		if (!strcmp(c->known[i]->name, name))
			return c->known[i]->number - 1;
	return UINT32_MAX;
}

static const char *add_word(struct choice *c, const char *word)
{
	unsigned number;
	uint32_t i;
	char rest;

	if (!strcmp(word, "ret"))
		return add_return(c);
	if (sscanf(word, "arg%u%c", &number, &rest) == 1)
		return number ? add_parameter(c, number - 1) : "arguments count from 1";
	i = named(c, word);
	return i == UINT32_MAX ? "there is no such argument" : add_parameter(c, i);
}

static int add_words(struct choice *c, const char *words, bool some, struct err *err)
{
	char *copy = xstrdup(words), *rest = copy, *word;
	int ret = 0;

	while (!ret && (word = strsep(&rest, ","))) {
		const char *why = *word ? add_word(c, word) : "an argument's name is empty";

		if (why)
			ret = refuse(c, word, why, err);
		if (some)
			ret = 0;
	}
	free(copy);
	return ret;
}

static void add_known(struct choice *c, const struct known_arg *k)
{
	if (k->number)
		add_parameter(c, k->number - 1);
	else
		add_return(c);
}

bool no_key_means(const char *name, struct dso *dso, const struct dso_function *f)
{
	return !strcmp(name, "*") || !strcmp(name, f->symbol) ||
	       !strcmp(name, dso_function_bare_name(dso, f));
}

static bool is_off(const struct no_key *no_key, const struct choice *c)
{
	for (size_t i = 0; i < no_key->n; i++)
		if (no_key_means(no_key->names[i], c->dso, c->f))
			return true;
	return false;
}

static void name_parameter(const struct choice *c, uint32_t number, const char *name)
{
	uint32_t bit;
	const char *why = number ? find_register(c, number - 1, &bit) : find_return(c);

	c->a->prototype[c->a->n_prototype++] =
		(struct meta_parameter){ .number = number, .name = name, .why = why ? why : "" };
}

/* Lists all parameters, so that a reader of the recording can see what else could be recorded. */
static void name_parameters(const struct choice *c)
{
	c->a->n_prototype = 0;
	for (uint32_t i = 0; i < c->prototype.n; i++)
		name_parameter(c, i + 1, c->prototype.parameters[i].name);
	for (size_t i = 0; i < c->n_known; i++)
		name_parameter(c, c->known[i]->number, c->known[i]->name);
	name_parameter(c, 0, "ret");
}

static void find_prototype(struct choice *c)
{
	c->has_prototype = dso_prototype(c->dso, c->f, &c->prototype);
	if (c->has_prototype && !c->prototype.variadic && c->prototype.n < DSO_PARAMETERS_MAX)
		c->a->parameters = c->prototype.n;
	if (c->has_prototype)
		name_parameters(c);
}

int arguments_choose(struct arguments *a, const char *words, bool some, struct dso *dso,
		     const struct dso_function *f, const struct no_key *no_key, struct err *err)
{
	struct choice c = { .a = a, .dso = dso, .f = f };
	int ret;

	*a = (struct arguments){ .parameters = META_UNKNOWN };
	c.n_known = known_args(f->symbol, c.known);
	if (!*words && !c.n_known)
		return 0;
	find_prototype(&c);
	ret = *words ? add_words(&c, words, some, err) : 0;
	for (size_t i = 0; i < c.n_known && !is_off(no_key, &c); i++)
		add_known(&c, c.known[i]); /* those that cannot be recorded are skipped */
	return ret;
}

static void add_occasional(struct choice *c, uint32_t i, uint32_t intact)
{
	const struct dso_parameter *p = c->has_prototype ? &c->prototype.parameters[i] : NULL;
	uint32_t bit;

	if ((p && p->is_pointer) || find_register(c, i, &bit) || bit >= WIRE_ARGS_FEW ||
	    !(intact & 1u << bit) || add_parameter(c, i))
		return;
	c->a->all[c->a->n - 1].occasional = true;
}

void arguments_add_occasional(struct arguments *a, struct dso *dso, const struct dso_function *f,
			      uint32_t intact, const struct no_key *no_key)
{
	struct choice c = { .a = a, .dso = dso, .f = f };
	uint32_t n = WIRE_ARGS_FEW;

	if (a->n || is_off(no_key, &c))
		return;
	c.n_known = known_args(f->symbol, c.known);
	find_prototype(&c);
	if (c.has_prototype)
		n = c.prototype.n;
	for (uint32_t i = 0; i < n; i++)
		add_occasional(&c, i, intact);
	a->occasional = a->n > 0;
}

bool arguments_keep_intact(struct arguments *a, uint32_t intact, bool returns)
{
	const uint32_t gone =
		(a->registers & ~intact) | (a->returns && !returns ? 1u << ARG_RETURN : 0);
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (!(gone >> a->all[i].bit & 1))
			a->all[n++] = a->all[i];
	a->n = n;
	a->registers &= intact;
	a->addresses &= intact;
	a->returns &= returns;
	return !gone;
}

#define COUNT_MAX (1ull << 40)

bool argument_may_count(uint64_t value)
{
	return value < COUNT_MAX;
}

uint64_t argument_value(const struct arguments *a, uint32_t bit, uint64_t raw)
{
	unsigned shift = a->bytes[bit] && a->bytes[bit] < 8 ? 64 - 8 * a->bytes[bit] : 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (a->all[i].bit == bit && a->all[i].is_signed)
			return (uint64_t)((int64_t)(raw << shift) >> shift);
	return raw << shift >> shift;
}

void arguments_add_caller(struct arguments *a, const struct dso_function *f)
{
	a->caller = blocking_kind(f->symbol) != NULL;
	if (!a->caller || !a->occasional)
		return;
	/* a wait does not depend on how much work there is, and each call has its call site */
	a->occasional = false;
	a->n = a->registers = a->addresses = 0;
	memset(a->bytes, 0, sizeof(a->bytes));
}

uint32_t arguments_values(const struct arguments *a, const struct wire_args *entry,
			  uint64_t values[WIRE_ARGS_MAX + 1])
{
	uint32_t n = 1;

	*values = 0;
	for (uint32_t i = 0; i < WIRE_ARGS_MAX; i++) {
		const uint64_t value = argument_value(a, i, entry->values[i]);

		if (!(a->registers & 1u << i) || (a->occasional && !argument_may_count(value)))
			continue;
		*values |= 1u << i;
		values[n++] = value;
	}
	return *values ? n : 0;
}
