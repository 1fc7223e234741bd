/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chrome's trace event format, an array of events: complete ones ("X") for calls, from which the
 * viewer makes the nesting, names of processes and threads ("M"), and a counter ("C") of the
 * threads on a CPU. Times are in us.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "trace/meta/meta.h"
#include "trace/record.h"

struct chrome {
	bool any;
	int64_t running; /* switch-ins less switch-outs, at least 0 */
	uint64_t counter_ns;
};

#define COUNTER_EVERY_NS 100000 /* one point per switch would be more data than the calls */

static void next(struct export *e)
{
	struct chrome *s = e->state;

	text_add(&e->out, s->any ? ",\n" : "\n");
	s->any = true;
}

static double us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void begin(struct export *e)
{
	e->state = xcalloc(1, sizeof(struct chrome));
	text_add(&e->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void on_call(struct export *e, const struct thread *t, const struct call *c)
{
	next(e);
	text_printf(
		&e->out,
		"{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"name\":", t->tgid,
		t->tid, us(export_since(e, c->entry_ns)), us(c->exit_ns - c->entry_ns));
	export_json_string(&e->out, export_function_name(e, c->id));
	if (c->end == CALL_OPEN)
		text_add(&e->out, ",\"args\":{\"end\":\"open\"}");
	text_add(&e->out, "}");
}

static void on_record(struct export *e, const struct thread *t, const struct record *r)
{
	struct chrome *s = e->state;

	(void)t;
	if (r->kind == REC_SWITCHES_OFF)
		s->running = 0; /* it is not known until they run again */
	if (r->kind != REC_SWITCH_IN && r->kind != REC_SWITCH_OUT)
		return;
	s->running += r->kind == REC_SWITCH_IN ? 1 : -1;
	if (s->running < 0)
		s->running = 0; /* the thread ran already when recording began */
	if (r->time_ns < s->counter_ns + COUNTER_EVERY_NS)
		return;
	s->counter_ns = r->time_ns;
	next(e);
	text_printf(&e->out,
		    "{\"ph\":\"C\",\"pid\":%u,\"ts\":%.3f,\"name\":\"threads on a CPU\","
		    "\"args\":{\"threads\":%lld}}",
		    r->tgid, us(export_since(e, r->time_ns)), (long long)s->running);
}

static void name(struct export *e, const struct thread *t, const char *what)
{
	next(e);
	text_printf(&e->out,
		    "{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":",
		    t->tgid, t->tid, what);
	export_json_string(&e->out, export_thread_name(e, t));
	text_add(&e->out, "}}");
}

/* Names processes by their main thread, or if that was never seen, by their first known thread. */
static void name_processes(struct export *e)
{
	struct map named = { 0 };

	for (unsigned others = 0; others < 2; others++)
		vec_for_each (&e->calls.threads.all, struct thread *, it) {
			const struct thread *t = *it;

			if ((t->tid != t->tgid && !others) || map_get(&named, t->tgid) != MAP_NONE)
				continue;
			map_put(&named, t->tgid, 0);
			name(e, t, "process_name");
		}
	map_release(&named);
}

static void end(struct export *e)
{
	name_processes(e);
	vec_for_each (&e->calls.threads.all, struct thread *, it)
		name(e, *it, "thread_name");
	text_add(&e->out, "\n]}\n");
	free(e->state);
}

const struct export_format export_chrome = {
	.name = "chrome",
	.what = "Chrome trace events: Perfetto UI, chrome://tracing",
	.limit = 1000000,
	.begin = begin,
	.call = on_call,
	.record = on_record,
	.end = end,
};
