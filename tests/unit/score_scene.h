/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four functions, and the calls by which tests of scores and verdicts tell a story of them. */
#ifndef ISPOT_TESTS_SCORE_SCENE_H
#define ISPOT_TESTS_SCORE_SCENE_H

#include "scene.h"

enum { OUTER, INNER, EMPTY, BUSY };

static inline void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	scene_function(s, "outer", 1);
	scene_function(s, "inner", 1);
	scene_function(s, "empty", 1);
	scene_function(s, "busy", 1);
}

/* Calibrated as by scene_calibrate, from 1000 on. */
static inline void begin_calibrated(struct scene *s, uint64_t full, uint64_t inner, double jitter)
{
	begin(s);
	scene_calibrate(s, full, inner, jitter);
	scene_start(s, 1000);
}

/* One call in so many is recorded, from 1000 on. */
static inline void begin_sampled(struct scene *s, uint32_t period)
{
	begin(s);
	s->meta.session.period = period;
	scene_start(s, 1000);
}

/* Thread 1 is without a CPU for ns. Returns when it has one again. */
static inline uint64_t preempt(struct scene *s, uint64_t t, uint64_t ns)
{
	other(s, REC_SWITCH_OUT, t, 1, 1, SWITCH_PREEMPTED, 0);
	other(s, REC_SWITCH_IN, t + ns, 1, 1, 0, 0);
	return t + ns;
}

#endif
