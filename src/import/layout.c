// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "import/internal.h"
#include "import/perfdata.h"

/* The layout on kernels with words of 8 bytes whose events begin with the usual 8 bytes. */
static const struct event_layout usual = {
	.address = { .offset = 8, .bytes = 8 },
	.function = { .offset = 8, .bytes = 8 },
	.returns_to = { .offset = 16, .bytes = 8 },
	.prev_state = { .offset = 32, .bytes = 8 },
	.next_pid = { .offset = 56, .bytes = 4 },
	.woken_pid = { .offset = 24, .bytes = 4 },
};

static bool is_probes(const char *name)
{
	return !strncmp(name, "__probe_", strlen("__probe_"));
}

static bool is_result(const struct format_field *f)
{
	return !strcmp(f->name, "ret") || !strcmp(f->name, "retval");
}

/* Keeps one value of a return: the one that is named as the result, or else the first. */
static void reduce_to_result(struct event_layout *l)
{
	for (uint32_t i = 1; i < l->n_arguments; i++)
		if (is_result(&l->arguments[i]) && !is_result(&l->arguments[0]))
			l->arguments[0] = l->arguments[i];
	if (l->n_arguments > 1)
		l->n_arguments = 1;
}

static void find_arguments(struct event_layout *l, const struct tep_event *event)
{
	struct format_field all[IMPORT_ARGUMENTS_MAX + 2]; /* and a probe's own, up to two */
	size_t n = format_numbers(event, all, sizeof(all) / sizeof(all[0]));

	for (size_t i = 0; i < n && l->n_arguments < IMPORT_ARGUMENTS_MAX; i++)
		if (!is_probes(all[i].name))
			l->arguments[l->n_arguments++] = all[i];
	if (l->returns_to.bytes)
		reduce_to_result(l);
}

static void find_fields(struct event_layout *l, const struct tep_event *event)
{
	l->is_known = true;
	format_find(event, "__probe_ip", &l->address);
	format_find(event, "__probe_func", &l->function);
	format_find(event, "__probe_ret_ip", &l->returns_to);
	format_find(event, "prev_state", &l->prev_state);
	format_find(event, "next_pid", &l->next_pid);
	format_find(event, "pid", &l->woken_pid);
	if (l->address.bytes || l->returns_to.bytes)
		find_arguments(l, event);
}

static bool is_recorded(void *numbers, uint64_t id)
{
	return map_get(numbers, id) != MAP_NONE;
}

static struct formats *read_formats(const struct perfdata *p)
{
	struct map numbers = { 0 };
	struct formats *f;

	vec_for_each (&p->events, const struct perfdata_event, e)
		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			map_put(&numbers, e->attr.config, 1);
	f = formats_new(p->tracing, p->tracing_bytes, is_recorded, &numbers);
	map_release(&numbers);
	return f;
}

void layouts_read(struct layouts *l, struct perfdata *p)
{
	l->formats = read_formats(p);
	vec_for_each (&p->events, struct perfdata_event, e) {
		struct event_layout *of = vec_add(&l->of);
		const struct tep_event *event = NULL;

		if (e->attr.type == PERF_TYPE_TRACEPOINT)
			event = formats_event(l->formats, e->attr.config);
		if (event)
			find_fields(of, event);
		else
			*of = usual;
		if (event && !e->name)
			e->name = format_event_name(event);
	}
}

void layouts_release(struct layouts *l)
{
	formats_free(l->formats);
	vec_release(&l->of);
	*l = (struct layouts){ 0 };
}
