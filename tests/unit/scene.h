/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A made-up recording for tests of the analysis: records straight into the pairing, no file. */
#ifndef ISPOT_TESTS_SCENE_H
#define ISPOT_TESTS_SCENE_H

#include <math.h>
#include <string.h>

#include "analysis/cause/judge.h"
#include "dice.h"
#include "analysis/calls/calls.h"
#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "base/mem.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

#define SCENE_LOG_MAX 4096

struct scene_end {
	uint32_t tid, id;
	enum call_end end;
	uint64_t duration_ns, own_ns;
	bool recursive;
};

struct scene {
	struct meta meta;
	struct calls calls;
	struct sci sci;
	struct blocks blocks;
	uint64_t start_ns;
	struct scene_end log[SCENE_LOG_MAX]; /* ends of calls in order */
	size_t n_log;
	uint64_t random;
};

static inline uint64_t scene_below(struct scene *s, uint64_t n)
{
	return dice_below(&s->random, n);
}

static inline void scene_function(struct scene *s, const char *name, uint32_t set)
{
	struct meta_function *f = vec_add(&s->meta.functions);

	f->id = (uint32_t)s->meta.functions.n - 1;
	f->set = set;
	f->name = f->symbol = name;
	f->block = "function";
	f->object = UINT32_MAX;
	f->exit = EXIT_RETURN;
}

/* An empty call shows inner at least, and an exponential tail with that mean. */
static inline void scene_calibrate(struct scene *s, uint64_t full, uint64_t inner, double jitter)
{
	*vec_add(&s->meta.calibrations) = (struct meta_calibration){
		.exit = EXIT_RETURN,
		.threads = 1,
		.when = "before",
		.inner_min_ns = inner,
		.inner_p50_ns = inner + (uint64_t)(0.693 * jitter),
		.inner_p99_ns = inner + (uint64_t)(4.6 * jitter),
		.inner_mean_ns = (double)inner + jitter,
		.full_p50_ns = (double)full,
		.calls = 1000,
	};
}

static inline void scene_log(void *self, const struct thread *t, const struct call *c)
{
	struct scene *s = self;

	if (s->n_log < SCENE_LOG_MAX)
		s->log[s->n_log++] = (struct scene_end){ t->tid,	 c->id,	    c->end,
							 c->duration_ns, c->own_ns, c->recursive };
}

static inline void scene_start(struct scene *s, uint64_t start_ns)
{
	struct call_visitor v;

	s->start_ns = start_ns;
	s->meta.session.clock = "monotonic";
	calls_init(&s->calls, &s->meta, start_ns);
	sci_init(&s->sci, &s->calls, &s->meta);
	v = sci_visitor(&s->sci);
	calls_add_visitor(&s->calls, &v);
	calls_add_visitor(&s->calls, &(struct call_visitor){ .self = s, .call = scene_log });
}

static inline void scene_call(struct scene *s, uint32_t kind, uint64_t time, uint32_t cpu,
			      uint32_t tid, uint32_t id, uint64_t sp)
{
	struct record r = {
		.time_ns = time, .kind = kind, .cpu = cpu, .tid = tid, .tgid = 1, .id = id, .sp = sp
	};

	calls_record(&s->calls, &r);
}

static inline void enter(struct scene *s, uint64_t time, uint32_t tid, uint32_t id, uint64_t sp)
{
	scene_call(s, REC_ENTRY, time, tid, tid, id, sp);
}

static inline void leave(struct scene *s, uint64_t time, uint32_t tid, uint32_t id, uint64_t sp)
{
	scene_call(s, REC_EXIT, time, tid, tid, id, sp);
}

/* A call of thread 1 that lasts for ns. Returns its end. */
static inline uint64_t scene_call_of(struct scene *s, uint64_t t, uint32_t id, uint64_t ns)
{
	enter(s, t, 1, id, 0x1000);
	leave(s, t + ns, 1, id, 0x1000);
	return t + ns;
}

static inline void other(struct scene *s, uint32_t kind, uint64_t time, uint32_t cpu, uint32_t tid,
			 uint64_t v0, uint64_t v1)
{
	uint64_t values[RECORD_VALUES_MIN] = { v0, v1 };
	struct record r = { .time_ns = time,
			    .kind = kind,
			    .cpu = cpu,
			    .tid = tid,
			    .tgid = tid ? 1 : 0,
			    .n_values = 2,
			    .values = values };

	calls_record(&s->calls, &r);
}

/* Every thread of these tests stays on the CPU of its number, unless a test says otherwise. */
static inline void scene_finish(struct scene *s, uint64_t end_ns)
{
	struct block_options o = { .duration_ns = end_ns - s->start_ns,
				   .period = s->meta.session.period ? s->meta.session.period : 1 };

	calls_end(&s->calls, end_ns);
	blocks_build(&s->blocks, &s->sci, &o);
	blocks_judge(&s->blocks,
		     &(struct evidence){ .meta = &s->meta, .duration_ns = o.duration_ns });
}

static inline const struct block *scene_block(const struct scene *s, const char *name)
{
	vec_for_each (&s->blocks, const struct block, b)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

static inline size_t scene_count(const struct scene *s, enum call_end end)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_log; i++)
		n += s->log[i].end == end;
	return n;
}

static inline void scene_release(struct scene *s)
{
	blocks_release(&s->blocks);
	sci_release(&s->sci);
	calls_release(&s->calls);
	vec_release(&s->meta.functions);
	vec_release(&s->meta.calibrations);
	vec_release(&s->meta.threads);
	vec_release(&s->meta.processes);
}

#endif
