/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sequence/turns.h"

#include <stdlib.h>

#include "analysis/sequence/track.h"
#include "base/mem.h"

#define MANY (TURNS_CALLEES + 1)

struct turns_function {
	uint32_t n; /* number of callees; MANY: too many */
	uint32_t callees[TURNS_CALLEES];
	uint64_t next[TURNS_CALLEES]; /* [callee]: mask of the callees that came directly after
				       * it */
	uint64_t begins;	      /* mask of the callees that rows began with */
	uint32_t longest, n_bodies;
	uint64_t bodies[TURNS_BODIES + 1];
	/* set by decide(); NULL: no choices */
	struct turn *turns; /* [callee] */
};

void turns_init(struct turns *t, uint32_t n_functions)
{
	*t = (struct turns){ .n_functions = n_functions };
	t->functions = xcalloc(n_functions + 1, sizeof(struct turns_function *));
}

void turns_release(struct turns *t)
{
	for (uint32_t i = 0; t->functions && i < t->n_functions; i++) {
		if (t->functions[i])
			free(t->functions[i]->turns);
		free(t->functions[i]);
	}
	free(t->functions);
	map_release(&t->callee_of);
	map_release(&t->form_of);
	*t = (struct turns){ 0 };
}

static struct turns_function *function_of(struct turns *t, uint32_t id)
{
	if (!t->functions[id])
		t->functions[id] = xcalloc(1, sizeof(*t->functions[id]));
	return t->functions[id];
}

static uint64_t key_of(uint32_t function, uint32_t callee)
{
	return (uint64_t)function << 32 | callee;
}

static uint32_t number_of(struct turns *t, struct turns_function *f, uint32_t function,
			  uint32_t callee)
{
	uint32_t i = map_get(&t->callee_of, key_of(function, callee));

	if (i != MAP_NONE)
		return i;
	if (f->n >= TURNS_CALLEES) {
		f->n = MANY;
		return MAP_NONE;
	}
	f->callees[f->n] = callee;
	map_put(&t->callee_of, key_of(function, callee), f->n);
	return f->n++;
}

void turns_next(struct turns *t, uint32_t function, uint32_t *last, uint32_t callee)
{
	struct turns_function *f = function_of(t, function);
	uint32_t i;

	if (f->n == MANY || (*last && f->callees[*last - 1] == callee))
		return;
	i = number_of(t, f, function, callee);
	if (i == MAP_NONE)
		return;
	if (*last)
		f->next[*last - 1] |= 1ull << i;
	else
		f->begins |= 1ull << i;
	*last = i + 1;
}

void turns_row(struct turns *t, uint32_t function, uint64_t elements, uint32_t n)
{
	struct turns_function *f = function_of(t, function);

	if (n > f->longest)
		f->longest = n;
	for (uint32_t i = 0; i < f->n_bodies; i++)
		if (f->bodies[i] == elements)
			return;
	if (f->n_bodies <= TURNS_BODIES)
		f->bodies[f->n_bodies++] = elements;
}

/* Sets, for each callee, the mask of the callees that can come after it, at any distance. */
static void reach(const struct turns_function *f, uint64_t *to)
{
	for (uint32_t i = 0; i < f->n; i++)
		to[i] = f->next[i];
	for (uint32_t k = 0; k < f->n; k++)
		for (uint32_t i = 0; i < f->n; i++)
			if (to[i] >> k & 1)
				to[i] |= to[k];
}

/* Returns the callees of the loop that a row reaches from outside of the loop. */
static uint64_t entries_of(const struct turns_function *f, uint64_t loop)
{
	uint64_t entries = f->begins & loop;

	for (uint32_t i = 0; i < f->n; i++)
		if (!(loop >> i & 1))
			entries |= f->next[i] & loop;
	return entries;
}

static void make_choice(struct turns *t, struct turns_function *f, struct patterns *p,
			uint64_t loop)
{
	uint64_t entries = entries_of(f, loop);
	bool natural = !(entries & (entries - 1));
	uint32_t choice = patterns_add_choice(p, TURNS_FORMS);

	t->n_choices++;
	for (uint32_t i = 0; i < f->n; i++)
		if (loop >> i & 1)
			f->turns[i] =
				(struct turn){ choice, !natural || entries >> i & 1, !natural };
}

static void decide(struct turns *t, struct turns_function *f, struct patterns *p)
{
	uint64_t to[TURNS_CALLEES], left;

	f->turns = xcalloc(f->n, sizeof(*f->turns));
	left = f->n == TURNS_CALLEES ? UINT64_MAX : (1ull << f->n) - 1;
	for (uint32_t i = 0; i < f->n; i++)
		f->turns[i].choice = PATTERN_NONE;
	reach(f, to);
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t loop = 1ull << i;

		if (!(left & loop))
			continue;
		for (uint32_t j = i + 1; j < f->n; j++)
			if (to[i] >> j & 1 && to[j] >> i & 1)
				loop |= 1ull << j;
		left &= ~loop;
		if (loop & (loop - 1))
			make_choice(t, f, p, loop);
	}
}

void turns_decide(struct turns *t, struct patterns *p)
{
	for (uint32_t id = 0; id < t->n_functions; id++) {
		struct turns_function *f = t->functions[id];

		if (f && f->n != MANY && f->n_bodies > TURNS_BODIES && f->longest > TURNS_ROW)
			decide(t, f, p);
	}
}

struct turn turns_of(const struct turns *t, uint32_t function, uint32_t callee)
{
	const struct turns_function *f = t->functions[function];
	uint32_t i = f && f->turns ? map_get(&t->callee_of, key_of(function, callee)) : MAP_NONE;

	return i == MAP_NONE ? (struct turn){ .choice = PATTERN_NONE } : f->turns[i];
}

static bool is_form(const struct patterns *p, uint32_t symbol, const struct track *row)
{
	const struct pattern *q = pattern_of(p, symbol);

	if (q->n != row->n_row)
		return false;
	for (uint32_t i = 0; i < q->n; i++)
		if (q->elements[i].symbol != row->row[i].symbol)
			return false;
	return true;
}

/* Returns the form for a row of an iteration, or PATTERN_NONE if the choice has too many forms. */
static uint32_t row_form(struct turns *t, struct patterns *p, uint32_t choice,
			 const struct track *row)
{
	uint64_t hash = hash_u64(choice);
	uint32_t symbol, symbols[TRACK_ROW];

	for (uint32_t i = 0; i < row->n_row; i++) {
		symbols[i] = row->row[i].symbol;
		hash = hash_u64(hash * 0x9e3779b97f4a7c15ull + symbols[i]);
	}
	while ((symbol = map_get(&t->form_of, hash)) != MAP_NONE && !is_form(p, symbol, row))
		hash++;
	if (symbol != PATTERN_NONE || pattern_of(p, choice)->n == TURNS_FORMS)
		return symbol;
	symbol = patterns_add_form(p, symbols, row->n_row);
	map_put(&t->form_of, hash, symbol);
	return symbol;
}

/* Adds the lost time of an iteration to that of its form. */
static void note_form(struct pattern *choice, uint32_t form, double lost_ns)
{
	for (uint32_t i = 0; i < choice->n; i++)
		if (choice->elements[i].symbol == form)
			choice->elements[i].lost_ns += lost_ns;
}

void turns_add(struct turns *t, struct patterns *p, const struct track_user *u, uint32_t choice,
	       const struct track *iteration)
{
	const struct element *first = iteration->row, *last = first + iteration->n_row - 1;
	bool one = iteration->n_row == 1 && first->repetitions == 1;
	uint32_t form = PATTERN_NONE;

	if (!iteration->dropped)
		form = one ? first->symbol : row_form(t, p, choice, iteration);
	if (form == PATTERN_NONE || !patterns_choose(p, choice, form, TURNS_FORMS)) {
		pattern_of(p, choice)->more = true;
		return;
	}
	note_form(pattern_of(p, choice), form, last->end.row.lost_ns - first->begin.row.lost_ns);
	if (one)
		return;
	for (uint32_t i = 0; i < iteration->n_row; i++) {
		track_note_parent(p, &iteration->row[i], form, i);
		pattern_count(&pattern_of(p, form)->elements[i], iteration->row[i].repetitions);
	}
	track_count(p, u, form, &first->begin, &last->end);
}
