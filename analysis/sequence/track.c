/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/sequence/track.h"
#include "base/mem.h"

void track_clear(struct track *t)
{
	t->n = t->n_row = 0;
	t->dropped = t->cut = false;
	t->sums = (struct row_sums){ 0 };
	memset(&t->learnt, 0, sizeof(t->learnt));
	memset(&t->placed, 0, sizeof(t->placed));
	t->learnt.settled = PATTERN_NONE;
}

void track_release(struct track *t)
{
	free(t->elements);
	free(t->symbols);
	free(t->row);
	*t = (struct track){ 0 };
}

void track_count(struct patterns *p, const struct track_user *u, uint32_t symbol,
		 const struct mark *begin, const struct mark *end)
{
	struct pattern *q = pattern_of(p, symbol);

	if (!q)
		return;
	q->seen++;
	if (u->seen)
		u->seen(u->self, symbol, begin, end);
}

static uint32_t last_of(const struct patterns *p, uint32_t symbol)
{
	const struct pattern *q = pattern_of(p, symbol);

	return q ? q->elements[q->n - 1].symbol : symbol;
}

/* Hands on the open sequences of e from that depth on, which are complete now. */
static void finish(struct patterns *p, const struct track_user *u, const struct element *e,
		   uint32_t depth)
{
	uint32_t symbol = e->symbol;

	for (uint32_t i = 0; i < e->depth; i++) {
		struct pattern *q = pattern_of(p, symbol);

		if (i >= depth)
			track_count(p, u, symbol, &e->open[i].begin, &e->end);
		if (i >= depth && q && i + 1 < e->depth)
			pattern_count(&q->elements[q->n - 1], e->open[i + 1].repetitions);
		symbol = last_of(p, symbol);
	}
}

void track_note_parent(struct patterns *p, const struct element *e, uint32_t whole, uint32_t i)
{
	struct pattern *q = pattern_of(p, e->symbol);

	pattern_of(p, whole)->elements[i].lost_ns += element_lost_ns(e);
	if (!q || e->repetitions > 1)
		return;
	if (!q->in_parent++)
		q->parent = whole;
	else if (q->parent != whole)
		q->parent = PATTERN_NONE;
}

/* Moves the open sequences of from to e, below that depth. */
static void move_open(struct patterns *p, const struct track_user *u, struct element *e,
		      const struct element *from, uint32_t depth)
{
	for (uint32_t i = 0; i < from->depth && depth + i < TRACK_DEPTH; i++) {
		e->open[depth + i] = from->open[i];
		e->depth = depth + i + 1;
	}
	if (depth + from->depth > TRACK_DEPTH)
		finish(p, u, from, TRACK_DEPTH - depth);
}

static void repeat(struct patterns *p, const struct track_user *u, struct element *below,
		   const struct element *e)
{
	uint32_t n = below->repetitions + e->repetitions;

	finish(p, u, below, 0);
	move_open(p, u, below, e, 0);
	below->repetitions = below->open[0].repetitions = n;
	below->end = e->end;
}

/* Adds the lost time of what repeats the end of e, so many elements deep. */
static void note_repeated(struct patterns *p, const struct element *e, uint32_t depth,
			  double lost_ns)
{
	uint32_t symbol = e->symbol;

	for (uint32_t i = 0; i < depth; i++) {
		struct pattern *q = pattern_of(p, symbol);

		if (!q)
			return;
		q->elements[q->n - 1].lost_ns += lost_ns;
		symbol = last_of(p, symbol);
	}
}

static void repeat_end(struct patterns *p, const struct track_user *u, struct element *below,
		       const struct element *e, uint32_t depth)
{
	uint32_t n = below->open[depth].repetitions + e->repetitions;

	note_repeated(p, below, depth, element_lost_ns(e));
	finish(p, u, below, depth);
	move_open(p, u, below, e, depth);
	below->open[depth].repetitions = n;
	below->end = e->end;
}

static struct element make(uint32_t symbol, const struct mark *begin, const struct mark *end)
{
	struct element e = { .symbol = symbol, .repetitions = 1, .depth = 1 };

	e.begin = e.open[0].begin = *begin;
	e.open[0].repetitions = 1;
	e.end = *end;
	return e;
}

/* Replaces the last k elements, which are an iteration of the loop, by one element. */
static void join(struct track *t, struct patterns *p, const struct track_user *u, uint32_t loop,
		 uint32_t k)
{
	struct element *first = &t->elements[t->n - k], *last = &t->elements[t->n - 1];
	struct element whole = make(loop, &first->begin, &last->end);

	for (uint32_t i = 0; i < k; i++) {
		track_note_parent(p, &first[i], loop, i);
		if (i + 1 == k)
			break;
		pattern_count(&pattern_of(p, loop)->elements[i], first[i].repetitions);
		finish(p, u, &first[i], 0);
	}
	move_open(p, u, &whole, last, 1);
	t->n -= k;
	t->elements[t->n] = whole;
	t->symbols[t->n++] = loop;
}

static uint32_t repeats(const struct patterns *p, const struct element *below, uint32_t symbol)
{
	uint32_t depth = patterns_repeats(p, below->symbol, symbol, below->depth - 1);

	return depth < below->depth ? depth : 0;
}

static void reduce(struct track *t, struct patterns *p, const struct track_user *u)
{
	for (;;) {
		struct element *top = &t->elements[t->n - 1];
		uint32_t k = 0, depth, loop;

		if (t->n > 1 && top[-1].symbol == top->symbol) {
			repeat(p, u, top - 1, top);
			t->n--;
			return;
		}
		depth = t->n > 1 ? repeats(p, top - 1, top->symbol) : 0;
		if (depth) {
			repeat_end(p, u, top - 1, top, depth);
			t->n--;
			return;
		}
		loop = patterns_loop(p, t->symbols, t->n, &k);
		if (loop == PATTERN_NONE)
			return;
		join(t, p, u, loop, k);
	}
}

static void place(struct track *t, const struct track_user *u, uint32_t n)
{
	for (uint32_t i = 0; u->placed && i < n; i++)
		u->placed(u->self, t, &t->row[i]);
}

static void drop_half(struct track *t, const struct track_user *u)
{
	place(t, u, TRACK_ROW / 2);
	memmove(t->row, t->row + TRACK_ROW / 2, TRACK_ROW / 2 * sizeof(*t->row));
	t->n_row = TRACK_ROW / 2;
	t->dropped = true;
}

/* Adds a settled element to the folded row, and merges pairs at its end. */
static void add_to_row(struct track *t, struct patterns *p, const struct track_user *u,
		       const struct element *e)
{
	uint32_t symbol;

	if (!t->row)
		t->row = xmalloc(TRACK_ROW * sizeof(*t->row));
	if (t->n_row == TRACK_ROW)
		drop_half(t, u);
	t->row[t->n_row++] = *e;
	while (t->n_row > 1) {
		struct element *a = &t->row[t->n_row - 2], *b = a + 1;

		if (a->symbol == b->symbol) {
			a->repetitions += b->repetitions;
			a->end = b->end;
			t->n_row--;
			continue;
		}
		symbol = patterns_pair(p, a->symbol, b->symbol);
		if (symbol == PATTERN_NONE)
			return;
		track_note_parent(p, a, symbol, 0);
		track_note_parent(p, b, symbol, 1);
		pattern_count(&pattern_of(p, symbol)->elements[0], a->repetitions);
		pattern_count(&pattern_of(p, symbol)->elements[1], b->repetitions);
		a->symbol = symbol;
		a->repetitions = 1;
		a->end = b->end;
		t->n_row--;
		track_count(p, u, symbol, &a->begin, &a->end);
	}
}

static void settle(struct track *t, struct patterns *p, const struct track_user *u, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		finish(p, u, &t->elements[i], 0);
		if (u->settled)
			u->settled(u->self, t, t->symbols[i]);
		else
			add_to_row(t, p, u, &t->elements[i]);
	}
	t->n -= n;
	if (!t->n)
		return; /* the arrays may not exist */
	memmove(t->elements, t->elements + n, t->n * sizeof(*t->elements));
	memmove(t->symbols, t->symbols + n, t->n * sizeof(*t->symbols));
}

static void grow(struct track *t)
{
	t->room = t->room ? 2 * t->room : 4;
	t->elements = xrealloc(t->elements, t->room * sizeof(*t->elements));
	t->symbols = xrealloc(t->symbols, t->room * sizeof(*t->symbols));
}

void track_push(struct track *t, struct patterns *p, const struct track_user *u, uint32_t function,
		const struct mark *begin, const struct mark *end)
{
	uint32_t most = p->longest + 1;

	if (t->n >= 2 * most)
		settle(t, p, u, t->n - most);
	if (t->n && t->symbols[t->n - 1] == function) {
		t->elements[t->n - 1].repetitions++;
		t->elements[t->n - 1].open[0].repetitions++;
		t->elements[t->n - 1].end = *end;
		return;
	}
	if (t->n == t->room)
		grow(t);
	t->elements[t->n] = make(function, begin, end);
	t->symbols[t->n++] = function;
	reduce(t, p, u);
}

void track_add(struct track *t, struct patterns *p, const struct track_user *u, uint32_t symbol,
	       const struct mark *begin, const struct mark *end)
{
	struct element e = make(symbol, begin, end);

	settle(t, p, u, t->n);
	add_to_row(t, p, u, &e);
}

void track_end(struct track *t, struct patterns *p, const struct track_user *u)
{
	settle(t, p, u, t->n);
	place(t, u, t->n_row);
}
