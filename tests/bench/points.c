/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What making the points of an event takes: as ispot writes them, up to 40 in one write, and one by
 * one through libtracefs. Nobody opens the events, so nothing is probed.
 *
 *	points [N]	prints "batched NS" and "single NS" a point, of this process's time on a CPU
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/kernel/dynevent.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/kernel/tracing.h"

#define STEP 16 /* bytes between points: the kernel takes any, it looks at none before the open */

static char self[4096];

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int batched(struct dynevent_session *s, unsigned n, struct err *err)
{
	struct dynevent *event = dynevent_new(s, POINT_CODE, dynevent_next_number(s));
	uint64_t start_ns = cpu_ns();
	int ret;

	for (unsigned i = 0; i < n; i++)
		dynevent_add(event, self, 4096 + i * STEP, i);
	ret = dynevent_create(event, NULL, NULL, err);
	if (!ret && dynevent_n(event) == n)
		printf("batched %.0f\n", (double)(cpu_ns() - start_ns) / n);
	dynevent_delete(event);
	return ret;
}

/* With the gate in front, as dynevent_create() has it. */
static int single(struct dynevent_session *s, unsigned n, struct err *err)
{
	struct tracing_point p = { .group = s->group,
				   .event = "e99999",
				   .path = s->gate,
				   .offset = DYNEVENT_GATE_OFFSET,
				   .arguments = "id=\\7:u32" };
	uint64_t start_ns = cpu_ns();
	int ret = tracing_add(&p), removed;

	p.path = self;
	for (unsigned i = 0; i < n && !ret; i++) {
		p.offset = 4096 + i * STEP;
		ret = tracing_add(&p);
	}
	if (!ret)
		printf("single %.0f\n", (double)(cpu_ns() - start_ns) / n);
	removed = tracing_remove(p.group, p.event);
	ret = ret ? ret : removed;
	return ret ? err_set(err, ret, "libtracefs makes no points") : 0;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
	struct dynevent_session *s = NULL;
	struct err err = { 0 };
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int ret;

	self[length > 0 ? length : 0] = '\0';
	ret = dynevent_session_open(&s, &err);
	if (!ret)
		ret = batched(s, n, &err);
	if (!ret)
		ret = single(s, n, &err);
	dynevent_session_close(s);
	if (ret)
		fprintf(stderr, "points: %s\n", err.text);
	return ret ? 1 : 0;
}
