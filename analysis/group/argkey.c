/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/group/argkey.h"
#include "analysis/group/argkey_find.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "trace/meta/meta.h"

#define PLACE	 (1ull << 63) /* marks a key that is an index of names */
#define NEGATIVE 65	      /* size class of negative values */

static bool matches(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

/* Whether the pattern matches the function's name without parameters, as reports show it. */
static bool is_named_bare(const struct meta_function *f, const char *pattern)
{
	char *bare = symbol_is_mangled(f->symbol) ? demangle_bare(f->symbol) : NULL;
	bool is = bare && matches(pattern, bare);

	free(bare);
	return is;
}

static bool is_named(const struct meta_function *f, const char *pattern)
{
	return f->symbol && (matches(pattern, f->symbol) || matches(pattern, f->name) ||
			     is_named_bare(f, pattern));
}

static void forget(struct argkeys *a, uint32_t id)
{
	a->n_split -= a->functions[id].n > 0;
	a->functions[id] = (struct argkey_function){ 0 };
}

static void add(struct argkeys *a, uint32_t id, const struct meta_argument *arg)
{
	struct argkey_function *f = &a->functions[id];

	if (f->mask & 1u << arg->bit)
		return;
	a->n_split += !f->n;
	f->by[f->n++] = arg;
	f->mask |= 1u << arg->bit;
}

static void split_by_default(struct argkeys *a, uint32_t id)
{
	const struct meta_function *f = &a->meta->functions.data[id];

	for (uint32_t i = 0; i < f->n_arguments; i++)
		if (f->arguments[i].key)
			add(a, id, &f->arguments[i]);
}

static int split(struct argkeys *a, const char *function, const char *arg, bool first,
		 struct err *err)
{
	const struct meta_function *without = NULL;
	unsigned found = 0, with = 0;

	for (uint32_t id = 0; id < a->meta->functions.n; id++) {
		const struct meta_function *f = &a->meta->functions.data[id];
		const struct meta_argument *found_arg;

		if (!is_named(f, function))
			continue;
		found++;
		found_arg = argkey_find(f, arg, false);
		if (!found_arg) {
			without = f;
			continue;
		}
		if (first)
			forget(a, id);
		with++;
		add(a, id, found_arg);
		a->functions[id].asked = true;
	}
	if (!found)
		return argkey_no_function(a->meta, function, arg, err);
	return with ? 0 : argkey_not_recorded(a->meta, without, arg, err);
}

static int malformed(const char *key, struct err *err)
{
	err_set(err, -EINVAL,
		"--key '%s': not a function and its argument; give FUNC@ARG, such as pthread_mutex_lock@arg1 or read@fd,count",
		key);
	err->exit_status = 2;
	return -EINVAL;
}

/*
 * Parses one --key in place. A comma is followed by a further argument, or, if there is an '@'
 * before the next comma, by another function. Commas of C++ parameters come before the first '@'.
 */
static int parse(struct argkeys *a, const char *key, char *s, struct err *err)
{
	char *function = s, *arg = strchr(s, '@');
	bool first = true;

	while (arg && arg > function) {
		char *next;
		int rc;

		*arg++ = '\0';
		next = strchr(arg, ',');
		if (next)
			*next++ = '\0';
		if (!*arg)
			return malformed(key, err);
		rc = split(a, function, arg, first, err);
		if (rc || !next)
			return rc;
		first = next[strcspn(next, "@,")] == '@';
		if (first)
			function = next;
		arg = first ? strchr(next, '@') : next - 1;
	}
	return malformed(key, err);
}

static int unsplit(struct argkeys *a, const char *function, struct err *err)
{
	unsigned found = 0;
	const char *near;

	for (uint32_t id = 0; id < a->meta->functions.n; id++)
		if (is_named(&a->meta->functions.data[id], function)) {
			found++;
			forget(a, id);
		}
	if (found || !strcmp(function, "*"))
		return 0;
	near = argkey_nearest(a->meta, function);
	return err_set(err, -ENOENT,
		       "--no-key %s: the recording has no function of that name; %s%s%s", function,
		       near ? "did you mean " : "`ispot report -v` lists them", near ? near : "",
		       near ? "?" : "");
}

/* Returns the variable's name, or if it is not known the object's: an offset in the object's file
 * is the same in every run. */
static const char *place_base(const struct meta_address *m)
{
	return *m->symbol ? m->symbol : text_base_name(m->object);
}

static void read_places(struct argkeys *a)
{
	vec_for_each (&a->meta->addresses, const struct meta_address, m) {
		struct text name = { 0 };

		text_add(&name, place_base(m));
		if (m->offset)
			text_printf(&name, "+0x%" PRIx64, m->offset);
		if (name.n && *place_base(m))
			map_put(&a->place_of, m->address, strtab_add(&a->names, name.s));
		text_release(&name);
	}
}

int argkeys_init(struct argkeys *a, const struct meta *meta, const char *const *keys, size_t n_keys,
		 const char *const *no_keys, size_t n_no_keys, struct err *err)
{
	int rc = 0;

	*a = (struct argkeys){ .meta = meta };
	a->functions = xcalloc(meta->functions.n + 1, sizeof(*a->functions));
	read_places(a);
	for (uint32_t id = 0; id < meta->functions.n; id++)
		split_by_default(a, id);
	for (size_t i = 0; i < n_no_keys && !rc; i++)
		rc = unsplit(a, no_keys[i], err);
	for (size_t i = 0; i < n_keys && !rc; i++) {
		char *copy = xstrdup(keys[i]);

		rc = parse(a, keys[i], copy, err);
		free(copy);
	}
	return rc;
}

void argkeys_release(struct argkeys *a)
{
	free(a->functions);
	strtab_release(&a->names);
	map_release(&a->place_of);
	map_release(&a->tuple_of);
	vec_release(&a->tuples);
	*a = (struct argkeys){ 0 };
}

/* Returns the size class: 0 for 0, k for values from 2^(k-1) to below 2^k. */
static uint64_t size_class(const struct meta_argument *arg, uint64_t value)
{
	if (arg->is_signed && (int64_t)value < 0)
		return NEGATIVE;
	return value ? 64 - (uint64_t)__builtin_clzll(value) : 0;
}

uint64_t argkeys_place_id(const struct argkeys *a, uint64_t address)
{
	uint32_t place = map_get(&a->place_of, address);

	return place == MAP_NONE ? address : PLACE | place;
}

static uint64_t reduced(const struct argkeys *a, const struct meta_argument *arg, uint64_t value)
{
	switch (arg->class) {
	case ARGUMENT_SIZE:
		return size_class(arg, value);
	case ARGUMENT_ADDRESS:
		return argkeys_place_id(a, value);
	default:
		return value;
	}
}

static uint64_t tuple(struct argkeys *a, const struct argkey_values *v)
{
	uint64_t hash = hash_bytes(v, sizeof(*v));
	uint32_t i;

	while ((i = map_get(&a->tuple_of, hash)) != MAP_NONE &&
	       memcmp(&a->tuples.data[i], v, sizeof(*v)))
		hash++;
	if (i != MAP_NONE)
		return i;
	if (a->tuples.n >= ARGKEY_TUPLES)
		return ARGKEY_TUPLES;
	i = (uint32_t)a->tuples.n;
	*vec_add(&a->tuples) = *v;
	map_put(&a->tuple_of, hash, i);
	return i;
}

static enum keyed_has key_of(void *ctx, const struct thread *t, const struct call *c, uint64_t *key)
{
	struct argkeys *a = ctx;
	const struct argkey_function *f = &a->functions[c->id];
	struct argkey_values v = { { 0 } };

	(void)t;
	if (!f->n)
		return KEYED_SKIP;
	if ((c->arg_mask & f->mask) != f->mask)
		return KEYED_WITHOUT;
	for (uint32_t i = 0; i < f->n; i++)
		v.values[i] = reduced(a, f->by[i], c->args[f->by[i]->bit]);
	*key = f->n == 1 ? v.values[0] : tuple(a, &v);
	return KEYED_KEY;
}

static void name_size(uint64_t class, struct text *name)
{
	char low[TEXT_NUMBER], high[TEXT_NUMBER];

	if (class == NEGATIVE)
		text_add(name, "negative");
	else if (class < 2)
		text_printf(name, "%" PRIu64, class);
	else if (class == 64)
		text_add(name, "huge");
	else
		text_printf(name, "%s..%s", text_bytes(low, 1ull << (class - 1)),
			    text_bytes(high, 1ull << class));
}

static void name_place(const struct argkeys *a, uint64_t value, struct text *name)
{
	if (value & PLACE)
		text_add(name, strtab_get(&a->names, (uint32_t)value));
	else
		text_printf(name, "0x%" PRIx64, value);
}

static void name_value(const struct argkeys *a, const struct meta_argument *arg, uint64_t value,
		       struct text *name)
{
	if (arg->class != ARGUMENT_ADDRESS)
		text_printf(name, "%s=", arg->name);
	if (arg->class == ARGUMENT_ADDRESS)
		name_place(a, value, name);
	else if (arg->class == ARGUMENT_SIZE)
		name_size(value, name);
	else if (arg->is_signed || arg->class == ARGUMENT_FD)
		text_printf(name, "%" PRId64, (int64_t)value);
	else
		text_printf(name, value < 65536 ? "%" PRIu64 : "0x%" PRIx64, value);
}

static void name_of(void *ctx, const struct keyed_group *g, struct text *name)
{
	const struct argkeys *a = ctx;
	const struct argkey_function *f = &a->functions[g->function];

	if (g->has != KEYED_KEY) {
		text_add(name, "(not recorded)");
		return;
	}
	if (f->n > 1 && g->key >= a->tuples.n) {
		text_add(name, "(others)");
		return;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		text_add(name, i ? " " : "");
		name_value(a, f->by[i], f->n > 1 ? a->tuples.data[g->key].values[i] : g->key, name);
	}
}

struct keyed_rule argkeys_rule(struct argkeys *a)
{
	return (struct keyed_rule){
		.kind = BLOCK_FUNCTION, .ctx = a, .key = key_of, .name = name_of
	};
}

const char *argkeys_place(const struct argkeys *a, uint64_t address, char hex[24])
{
	uint32_t place = map_get(&a->place_of, address);

	if (place != MAP_NONE)
		return strtab_get(&a->names, place);
	snprintf(hex, 24, "0x%" PRIx64, address);
	return hex;
}

/* ---- functions that are reported by their keys, once the lost time of the keys is known ---- */

#define KEYS_FEW    4
#define JUDGED_PART 4 /* of a function's lost time: a smaller one does not stand for it */

/* The lost time of a function's keys: the largest one, the sum, and that of those with
 * interference. */
struct key_losses {
	double most, sum, judged_sum;
	bool judged; /* at least one key has interference */
	bool shared; /* at least one of these is used by several threads */
};

/* Whether each thread waits at an address of its own, as in a queue in which every waiter has its
 * own condition variable. Such an address is just another name of the thread. */
static bool are_threads_own(const struct argkey_function *f, const struct block *whole,
			    const struct key_losses *keys)
{
	return f->n == 1 && f->by[0]->class == ARGUMENT_ADDRESS && !keys->shared &&
	       block_counts(whole);
}

/*
 * Whether the keys show no more than the function as a whole: many keys without a dominant one, or
 * keys that cannot be judged, but for a small part. If only the function as a whole cannot be
 * judged, its keys are shown.
 */
static bool none_stands_out(const struct block *whole, const struct key_losses *keys, uint32_t n)
{
	if (block_counts(whole) && keys->judged &&
	    keys->judged_sum * JUDGED_PART < block_suspect_threads(whole))
		return true;
	if (block_counts(whole) && !keys->judged && keys->sum >= block_suspect_threads(whole) / 2)
		return true;
	return n > KEYS_FEW && keys->most < block_suspect_threads(whole) / 2 &&
	       (block_counts(whole) || !keys->judged);
}

static void mark_alike(const struct argkeys *a, const struct keyed *k, struct block *const *of,
		       struct blocks *groups, const uint32_t *n_groups)
{
	struct key_losses *keys = xcalloc(a->meta->functions.n + 1, sizeof(*keys));

	vec_for_each (groups, const struct block, g) {
		struct key_losses *f = &keys[k->groups.data[g->id].function];

		double suspect = block_suspect_threads(g);

		if (suspect > f->most)
			f->most = suspect;
		if (suspect > 0)
			f->sum += suspect;
		f->judged |= block_counts(g);
		if (block_counts(g) && suspect > 0)
			f->judged_sum += suspect;
		f->shared |= g->threads > 1 && block_counts(g);
	}
	for (uint32_t id = 0; id < a->meta->functions.n; id++)
		if (of[id] && of[id]->split && !a->functions[id].asked)
			of[id]->alike = none_stands_out(of[id], &keys[id], n_groups[id]) ||
					are_threads_own(&a->functions[id], of[id], &keys[id]);
	vec_for_each (groups, struct block, g) {
		const struct block *whole = of[k->groups.data[g->id].function];

		g->alike = whole && whole->alike;
		g->asked = whole && a->functions[whole->id].asked;
	}
	free(keys);
}

void argkeys_finish(const struct argkeys *a, const struct keyed *k, struct blocks *functions,
		    struct blocks *groups)
{
	size_t kept = 0;
	struct block **of = xcalloc(a->meta->functions.n + 1, sizeof(struct block *));
	uint32_t *n_groups = xcalloc(a->meta->functions.n + 1, sizeof(*n_groups));

	vec_for_each (functions, struct block, b)
		of[b->id] = b;
	vec_for_each (&k->groups, const struct keyed_group, g)
		n_groups[g->function]++;
	for (size_t i = 0; i < groups->n; i++) {
		struct block *g = &groups->data[i];
		uint32_t function = k->groups.data[g->id].function;
		bool lone = n_groups[function] == 1;

		if (of[function] && lone) {
			of[function]->key = g->key;
			of[function]->asked = a->functions[function].asked;
		} else if (of[function])
			of[function]->split = true;
		if (lone)
			block_release(g);
		else
			groups->data[kept++] = *g;
	}
	groups->n = kept;
	mark_alike(a, k, of, groups, n_groups);
	free(of);
	free(n_groups);
}
