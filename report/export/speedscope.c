/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes speedscope's file format: a table of frames, and per thread a profile of events that open
 * and close frames, nested and in order of time. Calls come when they end, inner ones first, so
 * they are kept by thread and sorted at the end. Memory for this is the reason for the limit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "report/export/export.h"
#include "report/export/rows.h"
#include "trace/meta/meta.h"

struct span {
	uint64_t entry_ns, exit_ns;
	uint64_t order; /* order in which calls ended; with the same times, the later one is the
			 * outer one */
	uint32_t id;
};

struct spans {
	VEC(struct span)
};

struct speedscope {
	struct {
		VEC(struct spans)
	} threads; /* [thread index] */
};

static void begin(struct export *e)
{
	e->state = xcalloc(1, sizeof(struct speedscope));
}

static void on_call(struct export *e, const struct thread *t, const struct call *c)
{
	struct speedscope *s = e->state;

	while (s->threads.n <= t->index)
		(void)vec_add(&s->threads);
	*vec_add(&s->threads.data[t->index]) =
		(struct span){ export_since(e, c->entry_ns), export_since(e, c->exit_ns),
			       e->exported, c->id };
}

static int outer_first(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->entry_ns != y->entry_ns)
		return x->entry_ns < y->entry_ns ? -1 : 1;
	if (x->exit_ns != y->exit_ns)
		return x->exit_ns > y->exit_ns ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

static void event(struct export *e, char type, uint64_t at_ns, uint32_t id, bool *any)
{
	text_printf(&e->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%llu}", *any ? ",\n" : "\n",
		    type, id, (unsigned long long)at_ns);
	*any = true;
}

/* Markers may overlap, but the viewer's frames may not: a frame is cut at the end of its parent. */
static void print_events(struct export *e, struct spans *spans)
{
	struct spans open = { 0 };
	bool any = false;

	vec_sort(spans, outer_first);
	vec_for_each (spans, struct span, s) {
		while (open.n && vec_last(&open)->exit_ns <= s->entry_ns) {
			event(e, 'C', vec_last(&open)->exit_ns, vec_last(&open)->id, &any);
			open.n--;
		}
		if (open.n && s->exit_ns > vec_last(&open)->exit_ns)
			s->exit_ns = vec_last(&open)->exit_ns;
		event(e, 'O', s->entry_ns, s->id, &any);
		*vec_add(&open) = *s;
	}
	for (; open.n; open.n--)
		event(e, 'C', vec_last(&open)->exit_ns, vec_last(&open)->id, &any);
	vec_release(&open);
}

static void print_profile(struct export *e, const struct thread *t, struct spans *spans, bool first)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct text name = { 0 };

	vec_for_each (spans, struct span, s) {
		from = s->entry_ns < from ? s->entry_ns : from;
		to = s->exit_ns > to ? s->exit_ns : to;
	}
	text_printf(&name, "%s (%u)", export_thread_name(e, t), t->tid);
	text_add(&e->out, first ? "{" : ",{");
	text_add(&e->out, "\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
	export_json_string(&e->out, name.s);
	text_printf(&e->out, ",\"startValue\":%llu,\"endValue\":%llu,\"events\":[",
		    (unsigned long long)from, (unsigned long long)to);
	print_events(e, spans);
	text_add(&e->out, "]}");
	text_release(&name);
}

static void print_frames(struct export *e)
{
	text_add(&e->out, "\"shared\":{\"frames\":[");
	for (uint32_t id = 0; id < e->meta->functions.n; id++) {
		const struct meta_function *f = &e->meta->functions.data[id];

		text_add(&e->out, id ? ",\n{\"name\":" : "\n{\"name\":");
		export_json_string(&e->out, f->symbol ? export_function_name(e, id) : "?");
		if (f->file && *f->file) {
			text_add(&e->out, ",\"file\":");
			export_json_string(&e->out, f->file);
			if (f->line)
				text_printf(&e->out, ",\"line\":%u", f->line);
		}
		text_add(&e->out, "}");
	}
	text_add(&e->out, "]},\n");
}

static void end(struct export *e)
{
	struct speedscope *s = e->state;
	bool first = true;

	text_add(&e->out,
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":");
	export_json_string(&e->out, e->meta->session.command);
	text_printf(&e->out, ",\"exporter\":\"ispot\",\"activeProfileIndex\":0,\n");
	print_frames(e);
	text_add(&e->out, "\"profiles\":[");
	for (size_t i = 0; i < s->threads.n; i++) {
		if (s->threads.data[i].n) {
			print_profile(e, e->calls.threads.all.data[i], &s->threads.data[i], first);
			first = false;
		}
		vec_release(&s->threads.data[i]);
	}
	text_add(&e->out, "]}\n");
	vec_release(&s->threads);
	free(s);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.what = "speedscope's evented profiles, one per thread",
	.limit = 1000000,
	.begin = begin,
	.call = on_call,
	.end = end,
};
