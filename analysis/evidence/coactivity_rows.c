/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/coactivity_internal.h"
#include "base/mem.h"

#define RATES	   256 /* a cell has at least one in so many ns of the call */
#define ROOM_PARTS 4   /* of the cells: one more of these parts is room to grow */

static uint32_t draw(struct coactivity *co, uint32_t n)
{
	co->random ^= co->random << 13;
	co->random ^= co->random >> 7;
	co->random ^= co->random << 17;
	return (uint32_t)((co->random >> 32) * n >> 32);
}

/* Calls to pass over before the next one is measured: any of 0 … 2 (gap - 1), gap - 1 on average.
 */
static uint32_t next_gap(struct coactivity *co, const struct coactivity_block *b)
{
	return b->gap > 1 ? draw(co, 2 * b->gap - 1) : 0;
}

static void begin_block(struct coactivity *co, struct coactivity_block *b)
{
	b->used = true;
	b->gap = 1;
	co->n_blocks++;
}

void coactivity_begin(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	struct coactivity_block *b = &co->blocks[c->id];

	if (!b->used && co->n_blocks == COACTIVITY_BLOCKS) {
		b->until_next = UINT32_MAX;
		return;
	}
	if (!b->used)
		begin_block(co, b);
	b->until_next = next_gap(co, b);
	if (co->n_open == COACTIVITY_OPEN_MAX)
		return;
	co->n_open++;
	*vec_add(&t->open) = (struct coactivity_open){
		.id = c->id,
		.entry_ns = c->entry_ns,
		.mark = clocks_mark(co->clocks, c->entry_ns),
		.own_mark = coactivity_mark_own(co, t, c->entry_ns),
	};
}

/* The cells of all blocks are the largest thing in memory: no more room than for a few rows. */
static void size_cells(struct lift_sample *s, size_t n)
{
	s->cells.room = n + n / ROOM_PARTS + 1;
	s->cells.data = xrealloc(s->cells.data, s->cells.room * sizeof(*s->cells.data));
}

/* Every other row goes, and half as many calls are measured from now on. */
static void thin(struct coactivity *co, struct coactivity_block *b)
{
	struct lift_sample *s = &b->sample;
	uint32_t kept = 0, cells = 0;

	for (size_t i = 0; i + 1 < s->rows.n; i += 2) {
		/* either of the two: calls may well alternate */
		struct lift_row r = s->rows.data[i + draw(co, 2)];

		if (r.n)
			memmove(&s->cells.data[cells], &s->cells.data[r.first],
				r.n * sizeof(*s->cells.data));
		r.first = cells;
		cells += r.n;
		s->rows.data[kept++] = r;
	}
	co->n_rows -= s->rows.n - kept;
	co->n_cells -= s->cells.n - cells;
	s->rows.n = kept;
	s->cells.n = cells;
	size_cells(s, cells);
	b->gap *= 2;
}

/* More than its share, when all have used up what there is. */
static bool beyond(const struct coactivity *co, size_t n, size_t all, size_t most)
{
	return all >= most && n >= most / co->n_blocks;
}

static bool full(const struct coactivity *co, const struct lift_sample *s)
{
	return s->rows.n >= COACTIVITY_ROWS ||
	       (s->rows.n >= COACTIVITY_ROWS_LEAST &&
		beyond(co, s->rows.n, co->n_rows, COACTIVITY_ROWS_ALL)) ||
	       (s->rows.n >= 4 && beyond(co, s->cells.n, co->n_cells, COACTIVITY_CELLS_ALL));
}

/* What the other threads' clocks gained during the call. */
static void add_cells(struct coactivity *co, const struct coactivity_thread *t,
		      const struct coactivity_open *o, const struct call *c, uint64_t seen_ns)
{
	struct lift_sample *s = &co->blocks[c->id].sample;
	struct gains *g = &co->gains;

	gains_add(g, co->clocks, o->mark, c->exit_ns);
	gains_take(g, t->own, o->own_mark, c->exit_ns);
	if (s->cells.n + g->n > s->cells.room)
		size_cells(s, s->cells.n + g->n);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t candidate = g->list[i];
		uint64_t ns = g->of[candidate].ns, of_ns = seen_ns;

		if (co->candidates.data[candidate].part == COACTIVE_CPU)
			of_ns = c->raw_ns;
		if (ns * RATES >= of_ns && (int64_t)ns > 0)
			s->cells.data[s->cells.n++] =
				(struct lift_cell){ candidate,
						    (float)((double)ns / (double)of_ns) };
	}
	gains_clear(g);
}

static void add_row(struct coactivity *co, const struct coactivity_thread *t,
		    const struct coactivity_open *o, const struct call *c)
{
	struct coactivity_block *b = &co->blocks[c->id];
	struct lift_sample *s = &b->sample;
	uint64_t waited = c->off.preempted_ns;
	uint64_t seen = c->raw_ns > waited ? c->raw_ns - waited : 0;
	struct lift_row row = { .duration_ns = c->duration_ns,
				.seen_ns = seen,
				.asleep_ns = c->off.blocked_ns + c->off.idle_ns,
				.first = (uint32_t)s->cells.n };

	if (!seen)
		return;
	if (row.asleep_ns > seen)
		row.asleep_ns = seen;
	add_cells(co, t, o, c, seen);
	row.n = (uint32_t)s->cells.n - row.first;
	*vec_add(&s->rows) = row;
	co->n_rows++;
	co->n_cells += row.n;
	if (full(co, s))
		thin(co, b);
}

void coactivity_end(struct coactivity *co, struct coactivity_thread *t, const struct call *c)
{
	for (size_t i = t->open.n; i--;) {
		struct coactivity_open o = t->open.data[i];

		if (o.id != c->id || o.entry_ns != c->entry_ns)
			continue;
		if (c->end == CALL_TIMED)
			add_row(co, t, &o, c);
		clocks_forget(co->clocks, o.mark);
		clocks_forget(t->own, o.own_mark);
		memmove(&t->open.data[i], &t->open.data[i + 1], (t->open.n - i - 1) * sizeof(o));
		t->open.n--;
		co->n_open--;
		if (!t->open.n)
			coactivity_drop_own(co, t);
		return;
	}
}
