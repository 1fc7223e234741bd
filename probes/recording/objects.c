/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/objects.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "probes/recording/meta.h"
#include "probes/recording/recording.h"
#include "probes/select/marker.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "trace/meta/print.h"

uint32_t objects_id(const struct objects *objects, const struct dso *dso)
{
	for (size_t i = 0; i < objects->n; i++)
		if (objects->data[i].dso == dso)
			return i;
	return UINT32_MAX;
}

void objects_add(struct objects *objects, struct dso *dso, const char *path, bool executable)
{
	struct traced_object *o;

	if (objects_id(objects, dso) != UINT32_MAX)
		return;
	o = vec_add(objects);
	o->dso = dso;
	o->executable = executable;
	o->path = xstrdup(path);
	target_traits_add(&objects->traits, dso, executable);
}

const char *objects_path(const struct objects *objects, const struct dso *dso)
{
	const struct traced_object *o = &objects->data[objects_id(objects, dso)];

	return dso_kernel_path(o->dso, o->path);
}

bool objects_have_markers(const struct objects *objects, size_t first_object)
{
	for (size_t i = first_object; i < objects->n; i++)
		if (markers_are_in(objects->data[i].dso))
			return true;
	return false;
}

void objects_write(struct recording *r, size_t first)
{
	for (size_t i = first; i < r->objects.n; i++) {
		const struct dso *dso = r->objects.data[i].dso;
		struct meta_object o = { .id = i,
					 .path = dso_path(dso),
					 .build_id = dso_build_id(dso) };
		struct text line = { 0 };

		meta_print_object(&o, &line);
		recording_write_line(r, &line);
	}
}

void objects_release(struct objects *objects)
{
	vec_for_each (objects, struct traced_object, o)
		free(o->path);
	vec_release(objects);
	dso_cache_free(objects->dsos);
}
