/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects of a recording: the files whose functions may be traced. */
#include "base/text.h"
#include "probes/select/marker.h"
#include "probes/session/internal.h"
#include "symbol/dso/dso.h"
#include "trace/meta/print.h"

uint32_t session_object_id(const struct session *s, const struct dso *dso)
{
	for (size_t i = 0; i < s->objects.n; i++)
		if (s->objects.data[i].dso == dso)
			return i;
	return UINT32_MAX;
}

void session_add_object(struct session *s, struct dso *dso, const char *path, bool executable)
{
	struct session_object *o;

	if (session_object_id(s, dso) != UINT32_MAX)
		return;
	o = vec_add(&s->objects);
	o->dso = dso;
	o->executable = executable;
	o->path = xstrdup(path);
	target_traits_add(&s->traits, dso, executable);
}

const char *session_path(const struct session *s, const struct dso *dso)
{
	const struct session_object *o = &s->objects.data[session_object_id(s, dso)];

	return dso_kernel_path(o->dso, o->path);
}

bool session_has_markers(const struct session *s, size_t first_object)
{
	for (size_t i = first_object; i < s->objects.n; i++)
		if (markers_are_in(s->objects.data[i].dso))
			return true;
	return false;
}

void session_write_objects(struct session *s, size_t first)
{
	for (size_t i = first; i < s->objects.n; i++) {
		const struct dso *dso = s->objects.data[i].dso;
		struct meta_object o = { .id = i,
					 .path = dso_path(dso),
					 .build_id = dso_build_id(dso) };
		struct text line = { 0 };

		meta_print_object(&o, &line);
		session_write_line(s, &line);
	}
}
