/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "analysis/sequence/fold.h"
#include "analysis/sequence/pattern.h"
#include "base/mem.h"
#include "base/text.h"

#define NAME_MAX_BYTES 400
#define EXPANDED_MAX   1024 /* longer patterns are dropped when the dictionary is rewritten */

void patterns_init(struct patterns *p, uint32_t n_functions)
{
	*p = (struct patterns){ .n_functions = n_functions };
	vec_reserve(&p->lengths, n_functions + 64);
	while (p->lengths.n < n_functions)
		*vec_add(&p->lengths) = 0;
}

void patterns_release(struct patterns *p)
{
	vec_for_each (&p->all, struct pattern, q)
		free(q->elements);
	vec_release(&p->all);
	vec_release(&p->lengths);
	map_release(&p->loop_of);
	map_release(&p->pair_of);
	*p = (struct patterns){ 0 };
}

static uint32_t add(struct patterns *p, const uint32_t *symbols, uint32_t n)
{
	struct pattern *q = vec_add(&p->all);

	q->n = n;
	q->parent = PATTERN_NONE;
	q->elements = xcalloc(n, sizeof(*q->elements));
	for (uint32_t i = 0; i < n; i++)
		q->elements[i].symbol = symbols[i];
	*vec_add(&p->lengths) = 0;
	return p->n_functions + (uint32_t)p->all.n - 1;
}

/* Adds a symbol to a hash. Symbols are added from last to first, so that the hashes of all suffixes
 * come in one pass. */
static uint64_t hash_more(uint64_t hash, uint32_t symbol)
{
	return hash_u64(hash * 0x9e3779b97f4a7c15ull + symbol + 1);
}

/* Adds a loop to the map under its present elements. */
static void add_loop(struct patterns *p, uint32_t loop)
{
	const struct pattern *q = pattern_of(p, loop);
	uint64_t hash = 0;

	for (uint32_t i = q->n; i--;)
		hash = hash_more(hash, q->elements[i].symbol);
	while (map_get(&p->loop_of, hash) != MAP_NONE)
		hash++;
	map_put(&p->loop_of, hash, loop);
	p->lengths.data[q->elements[q->n - 1].symbol] |= 1ull << (q->n - 1);
	if (q->n > p->longest)
		p->longest = q->n;
	p->version++;
}

uint32_t patterns_add_loop(struct patterns *p, const uint32_t *symbols, uint32_t n)
{
	uint32_t symbol;

	if (p->n_loops >= PATTERN_LOOPS) {
		p->refused++;
		return PATTERN_NONE;
	}
	p->n_loops++;
	symbol = add(p, symbols, n);
	add_loop(p, symbol);
	return symbol;
}

uint32_t patterns_add_pair(struct patterns *p, uint32_t left, uint32_t right)
{
	uint32_t symbols[2] = { left, right }, symbol;

	if (p->n_pairs >= PATTERN_PAIRS) {
		p->refused++;
		return PATTERN_NONE;
	}
	p->n_pairs++;
	symbol = add(p, symbols, 2);
	map_put(&p->pair_of, (uint64_t)left << 32 | right, symbol);
	return symbol;
}

uint32_t patterns_add_choice(struct patterns *p, uint32_t room)
{
	static const uint32_t nothing[PATTERN_ELEMENTS];
	uint32_t symbol = add(p, nothing, room);
	struct pattern *q = pattern_of(p, symbol);

	q->choice = true;
	q->n = 0;
	return symbol;
}

uint32_t patterns_add_form(struct patterns *p, const uint32_t *symbols, uint32_t n)
{
	return add(p, symbols, n);
}

bool patterns_choose(struct patterns *p, uint32_t choice, uint32_t form, uint32_t room)
{
	struct pattern *q = pattern_of(p, choice);

	for (uint32_t i = 0; i < q->n; i++)
		if (q->elements[i].symbol == form)
			return true;
	if (q->n == room)
		return false;
	q->elements[q->n++].symbol = form;
	return true;
}

uint32_t patterns_pair(const struct patterns *p, uint32_t left, uint32_t right)
{
	return p->n_pairs ? map_get(&p->pair_of, (uint64_t)left << 32 | right) : PATTERN_NONE;
}

static bool has_elements(const struct pattern *q, const uint32_t *symbols, uint32_t n)
{
	if (q->n != n || q->hidden)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (q->elements[i].symbol != symbols[i])
			return false;
	return true;
}

static uint32_t find_loop(const struct patterns *p, uint64_t hash, const uint32_t *symbols,
			  uint32_t n)
{
	uint32_t symbol;

	while ((symbol = map_get(&p->loop_of, hash)) != MAP_NONE &&
	       !has_elements(pattern_of(p, symbol), symbols, n))
		hash++;
	return symbol;
}

uint32_t patterns_loop(const struct patterns *p, const uint32_t *symbols, uint32_t n, uint32_t *k)
{
	uint64_t lengths = n ? p->lengths.data[symbols[n - 1]] : 0, hash = 0;

	for (uint32_t i = 1; i <= n && lengths >> (i - 1); i++) {
		uint32_t symbol;

		hash = hash_more(hash, symbols[n - i]);
		if (!(lengths >> (i - 1) & 1))
			continue;
		symbol = find_loop(p, hash, symbols + n - i, i);
		if (symbol == PATTERN_NONE)
			continue;
		*k = i;
		return symbol;
	}
	return PATTERN_NONE;
}

uint32_t patterns_repeats(const struct patterns *p, uint32_t below, uint32_t symbol, uint32_t most)
{
	for (uint32_t depth = 1; depth <= most; depth++) {
		const struct pattern *q = pattern_of(p, below);

		if (!q)
			return 0;
		below = q->elements[q->n - 1].symbol;
		if (below == symbol)
			return depth;
	}
	return 0;
}

uint32_t patterns_resolve(const struct patterns *p, uint32_t symbol)
{
	const struct pattern *q = pattern_of(p, symbol);

	return q && q->n == 1 ? q->elements[0].symbol : symbol;
}

/* Whether an element of q was rewritten, or q contains all elements of the loop in a row. */
static bool is_touched(const struct patterns *p, const struct pattern *q,
		       const struct pattern *loop)
{
	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t k = 0;

		if (patterns_resolve(p, q->elements[i].symbol) != q->elements[i].symbol)
			return true;
		while (k < loop->n && i + k < q->n &&
		       q->elements[i + k].symbol == loop->elements[k].symbol)
			k++;
		if (k == loop->n)
			return true;
	}
	return false;
}

/* Folds the elements of a loop again. If it becomes another loop, references to it are updated. */
static void fold_again(struct patterns *p, uint32_t symbol)
{
	struct pattern *q = pattern_of(p, symbol);
	struct fold fold = { .known = p->version };
	uint32_t k = 0, same;

	q->hidden = true;
	for (uint32_t i = 0; i < q->n; i++)
		fold_push(&fold, p, patterns_resolve(p, q->elements[i].symbol), false);
	same = patterns_loop(p, fold.symbols, fold.n, &k);
	q->hidden = false;
	if (k == fold.n && same != PATTERN_NONE) {
		fold.symbols[0] = same;
		fold.n = 1;
	}
	q->n = fold.n;
	for (uint32_t i = 0; i < q->n; i++)
		q->elements[i].symbol = fold.symbols[i];
	if (q->n > 1)
		add_loop(p, symbol);
	/* patterns that had become symbol now become what symbol has become */
	for (uint32_t i = 0; q->n == 1 && i < p->all.n; i++)
		if (p->all.data[i].n == 1 && p->all.data[i].elements[0].symbol == symbol)
			p->all.data[i].elements[0].symbol = q->elements[0].symbol;
	p->version++;
}

void patterns_rewrite(struct patterns *p, uint32_t loop)
{
	bool changed = true;

	for (unsigned rounds = 0; changed && rounds < PATTERN_ELEMENTS; rounds++) {
		changed = false;
		for (uint32_t i = 0; i < p->all.n; i++) {
			struct pattern *q = &p->all.data[i];

			if (q->n == 1 || p->n_functions + i == loop ||
			    !is_touched(p, q, pattern_of(p, loop)))
				continue;
			fold_again(p, p->n_functions + i);
			changed = true;
		}
	}
}

struct row {
	VEC(uint32_t)
};

static void expand(const struct patterns *p, uint32_t symbol, struct row *out)
{
	const struct pattern *q = pattern_of(p, symbol);

	if (!q) {
		*vec_add(out) = symbol;
		return;
	}
	for (uint32_t i = 0; i < q->n && out->n <= EXPANDED_MAX; i++)
		expand(p, q->elements[i].symbol, out);
}

struct length {
	uint32_t index, n;
};

static int shorter_first(const void *a, const void *b)
{
	const struct length *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Adds a loop of the old dictionary to the new one, with its calls folded by the new loops. */
static void rewrite(const struct patterns *old, uint32_t index, struct patterns *p)
{
	struct row calls = { 0 };
	struct fold fold = { .known = p->version };
	uint32_t k;

	expand(old, old->n_functions + index, &calls);
	if (calls.n <= EXPANDED_MAX) {
		vec_for_each (&calls, uint32_t, symbol)
			fold_push(&fold, p, *symbol, false);
		if (fold.n >= 2 && fold.n <= PATTERN_ELEMENTS &&
		    (patterns_loop(p, fold.symbols, fold.n, &k) == PATTERN_NONE || k < fold.n))
			patterns_add_loop(p, fold.symbols, fold.n);
	}
	vec_release(&calls);
}

void patterns_normalise(struct patterns *p)
{
	struct {
		VEC(struct length)
	} order = { 0 };
	struct patterns fresh;

	patterns_init(&fresh, p->n_functions);
	fresh.refused = p->refused;
	for (uint32_t i = 0; i < p->all.n; i++) {
		struct row calls = { 0 };

		if (p->all.data[i].n == 1)
			continue;
		expand(p, p->n_functions + i, &calls);
		*vec_add(&order) = (struct length){ i, (uint32_t)calls.n };
		vec_release(&calls);
	}
	vec_sort(&order, shorter_first);
	vec_for_each (&order, struct length, l)
		rewrite(p, l->index, &fresh);
	vec_release(&order);
	patterns_release(p);
	*p = fresh;
}

void pattern_count(struct pattern_element *e, uint32_t repetitions)
{
	if (!e->times++ || repetitions < e->least)
		e->least = repetitions;
	if (repetitions > e->most)
		e->most = repetitions;
	e->repeated += repetitions > 1;
}

bool pattern_is_part(const struct pattern *p)
{
	return p->parent != PATTERN_NONE && p->in_parent == p->seen;
}

void pattern_element_name(const struct patterns *p, const struct pattern_element *e,
			  const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out)
{
	bool loop = e->repeated && e->repeated >= e->times / 100;
	const struct pattern *q = pattern_of(p, e->symbol);
	bool brackets = q && (loop || q->choice);

	text_add(out, brackets ? "(" : "");
	patterns_name(p, e->symbol, name, ctx, out);
	text_add(out, brackets ? ")" : "");
	if (loop && e->least == e->most)
		text_printf(out, "×%u", e->most);
	else if (loop)
		text_add(out, "×n");
}

void patterns_name(const struct patterns *p, uint32_t symbol,
		   const char *(*name)(void *ctx, uint32_t id), void *ctx, struct text *out)
{
	const struct pattern *q = pattern_of(p, symbol);

	if (!q)
		text_add(out, name(ctx, symbol));
	for (uint32_t i = 0; q && i < q->n; i++) {
		text_add(out, !i ? "" : q->choice ? " | " : " ");
		if (out->n > NAME_MAX_BYTES) {
			text_add(out, "…");
			return;
		}
		pattern_element_name(p, &q->elements[i], name, ctx, out);
	}
	if (q && q->more)
		text_add(out, " | …");
}
