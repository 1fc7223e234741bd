/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sequence/owner.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/score/solo.h"
#include "analysis/sequence/body.h"
#include "analysis/sequence/sequence.h"
#include "analysis/sequence/track.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

static bool is_scored(const struct sequences *s, const struct call *c)
{
	return c->end == CALL_OPEN || (c->end == CALL_TIMED && !solo_leaves_out(s->meta, c));
}

double sequence_lost_ns(const struct sequences *s, const struct call *c)
{
	const struct sequence_loss *loss = s->losses ? &s->losses[c->id] : NULL;
	double beyond;

	if (!loss || !loss->share || c->own_unknown || !is_scored(s, c))
		return 0;
	beyond = (double)c->own_ns - (double)loss->min_ns;
	return c->end == CALL_OPEN && beyond < 0 ? 0 : loss->share * beyond;
}

void sequence_placed(void *self, struct track *t, const struct element *e)
{
	struct sequences *s = self;

	(void)t;
	s->placed_ns[e->symbol] += element_lost_ns(e);
}

/* Lost time on its way to the sequence that owns it. */
struct sharing {
	struct sequences *s;
	double *left_ns;	/* [symbol]: not owned yet */
	struct block **of;	/* [symbol]: its block; NULL: none */
	struct block **of_body; /* [body] */
	double duration_ns;
};

static void own(const struct sharing *h, struct block *b, double ns)
{
	if (ns > 0 && h->duration_ns > 0)
		b->lost_threads += ns / h->duration_ns;
}

/* Divides the time of a sequence among its elements, as they lose. */
static void hand_on(const struct pattern *q, double *ns, uint32_t symbol)
{
	double sum = 0;

	for (uint32_t i = 0; i < q->n; i++)
		sum += fmax(q->elements[i].lost_ns, 0);
	for (uint32_t i = 0; sum > 0 && i < q->n; i++)
		ns[q->elements[i].symbol] += ns[symbol] * fmax(q->elements[i].lost_ns, 0) / sum;
}

/* Has the sequence own what is left at it, or hands that on to its elements. */
static void settle_pattern(struct sharing *h, uint32_t symbol)
{
	const struct pattern *q = pattern_of(&h->s->patterns, symbol);
	struct block *b = h->of[symbol];

	if (b && b->verdict == VERDICT_INTERFERENCE) {
		own(h, b, h->left_ns[symbol]);
		return;
	}
	hand_on(q, h->left_ns, symbol);
}

/* Sequences are numbered after their elements, except choices, which only a row has as elements. */
static void settle_patterns(struct sharing *h)
{
	const struct patterns *p = &h->s->patterns;

	for (unsigned choices = 2; choices--;)
		for (size_t i = p->all.n; i--;)
			if (p->all.data[i].choice == choices)
				settle_pattern(h, p->n_functions + (uint32_t)i);
}

/* Divides what is left at each function among its nested sequences, as they lose. */
static void settle_bodies(struct sharing *h)
{
	struct sequences *s = h->s;
	double *sum = xcalloc(s->patterns.n_functions + 1, sizeof(*sum));

	vec_for_each (&s->bodies, const struct body, b)
		sum[b->function] += fmax(b->lost_ns, 0);
	for (size_t i = 0; i < s->bodies.n; i++) {
		const struct body *b = &s->bodies.data[i];

		if (!h->of_body[i])
			continue;
		own(h, h->of_body[i], b->alone_ns);
		if (sum[b->function] > 0)
			own(h, h->of_body[i],
			    h->left_ns[b->function] * fmax(b->lost_ns, 0) / sum[b->function]);
	}
	free(sum);
}

void sequences_share_lost(struct sequences *s, struct blocks *blocks, uint64_t duration_ns)
{
	size_t n = s->patterns.n_functions + s->patterns.all.n + 1;
	struct sharing h = { .s = s, .duration_ns = (double)duration_ns };

	h.left_ns = xcalloc(n, sizeof(*h.left_ns));
	h.of = xcalloc(n, sizeof(struct block *));
	h.of_body = xcalloc(s->bodies.n + 1, sizeof(struct block *));
	for (size_t i = 0; i + 1 < n; i++)
		h.left_ns[i] = s->placed_ns[i];
	vec_for_each (blocks, struct block, b) {
		const struct keyed_group *g = &s->keyed->groups.data[b->id];

		b->lost_threads = 0;
		if (!g->rest)
			(g->key & 1 ? h.of : h.of_body)[g->key >> 1] = b;
	}
	settle_patterns(&h);
	settle_bodies(&h);
	free(h.left_ns);
	free(h.of);
	free(h.of_body);
}

double *sequence_owned_ns(const struct sequences *s, const struct block *b, uint64_t duration_ns)
{
	const struct keyed_group *g = &s->keyed->groups.data[b->id];
	uint32_t symbol = (uint32_t)(g->key >> 1), n = s->patterns.n_functions;
	double *ns;

	if (g->rest || !(g->key & 1) || !(b->lost_threads > 0))
		return NULL;
	ns = xcalloc((size_t)symbol + 1, sizeof(*ns));
	ns[symbol] = b->lost_threads * (double)duration_ns;
	for (uint32_t i = symbol; i >= n; i--)
		if (ns[i] > 0)
			hand_on(pattern_of(&s->patterns, i), ns, i);
	return ns;
}
