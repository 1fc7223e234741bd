/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/write/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "trace/merge.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

/* A record rarely has more values or bytes than fit here; larger ones are allocated. */
struct waiting_record {
	struct record r;
	uint64_t values[RECORD_VALUES_MIN];
	void *more;
};

struct queue {
	VEC(struct waiting_record)
	size_t first; /* those before it have been read */
};

struct live {
	struct meta meta;
	struct merge merge;
	struct queue *queues; /* [CPU] */
	uint32_t n_cpus;
};

struct live *live_new(uint32_t n_cpus)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->n_cpus = n_cpus ? n_cpus : 1;
	l->queues = xcalloc(l->n_cpus, sizeof(*l->queues));
	merge_init(&l->merge, l->n_cpus);
	meta_init(&l->meta);
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++) {
		struct queue *q = &l->queues[cpu];

		for (size_t i = q->first; i < q->n; i++)
			free(q->data[i].more);
		vec_release(q);
	}
	free(l->queues);
	merge_release(&l->merge);
	meta_release(&l->meta);
	free(l);
}

/*
 * Makes room in the queue for a record, in order of time. The room is before records that are
 * already there if the record's thread was interrupted before it could write it.
 */
static struct waiting_record *place_for(struct queue *q, uint64_t time_ns)
{
	size_t at = q->n;

	(void)vec_add(q);
	while (at > q->first && q->data[at - 1].r.time_ns > time_ns) {
		q->data[at] = q->data[at - 1];
		at--;
	}
	return &q->data[at];
}

int live_write(struct live *l, const struct record *r)
{
	struct waiting_record *w;
	uint32_t n = r->n_values < RECORD_VALUES_MAX ? r->n_values : RECORD_VALUES_MAX;

	if (r->cpu >= l->n_cpus)
		return -EINVAL;
	w = place_for(&l->queues[r->cpu], r->time_ns);
	*w = (struct waiting_record){ .r = *r };
	w->r.n_values = n;
	if (n > RECORD_VALUES_MIN)
		w->more =
			memcpy(xmalloc(n * sizeof(*r->values)), r->values, n * sizeof(*r->values));
	else if (n)
		memcpy(w->values, r->values, n * sizeof(*r->values));
	if (r->n_bytes && n <= RECORD_VALUES_MIN)
		w->more = memcpy(xmalloc(r->n_bytes), r->bytes, r->n_bytes);
	else
		w->r.n_bytes = 0; /* no kind has both */
	return 0;
}

void live_write_meta(struct live *l, const char *line, size_t n)
{
	meta_read_line(&l->meta, line, n); /* counts what it cannot read */
}

const struct meta *live_meta(struct live *l)
{
	meta_finish(&l->meta);
	return &l->meta;
}

/* Sets the pointers of a record into itself only now, as queues move while they grow. */
static void hand_out(struct waiting_record *w, void (*record)(void *ctx, const struct record *r),
		     void *ctx)
{
	w->r.values = w->more && w->r.n_values ? w->more : w->values;
	w->r.bytes = w->r.n_bytes ? w->more : NULL;
	record(ctx, &w->r);
	free(w->more);
}

static void forget_read(struct queue *q)
{
	q->n -= q->first;
	if (q->n && q->first)
		memmove(q->data, q->data + q->first, q->n * sizeof(*q->data));
	q->first = 0;
}

void live_read(struct live *l, uint64_t until_ns, void (*record)(void *ctx, const struct record *r),
	       void *ctx)
{
	struct merge *m = &l->merge;

	merge_clear(m);
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++)
		if (l->queues[cpu].n)
			merge_set(m, cpu, l->queues[cpu].data[0].r.time_ns, cpu);
	while (!merge_is_empty(m) && merge_first(m).time_ns <= until_ns) {
		size_t cpu = merge_first(m).who;
		struct queue *q = &l->queues[cpu];

		hand_out(&q->data[q->first++], record, ctx);
		if (q->first < q->n)
			merge_set(m, cpu, q->data[q->first].r.time_ns, cpu);
		else
			merge_end(m, cpu);
	}
	for (uint32_t cpu = 0; cpu < l->n_cpus; cpu++)
		forget_read(&l->queues[cpu]);
}
