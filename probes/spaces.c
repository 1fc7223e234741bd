/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/spaces.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "symbol/dso.h"

/* An address outside every known mapping may lie in a new one; /proc is not asked more often than
 * this. */
#define REREAD_INTERVAL_NS 200000000ull

static void space_forget(struct space *space)
{
	mappings_release(&space->maps);
	vec_for_each (&space->paths, char *, path)
		free(*path);
	vec_release(&space->paths);
	vec_release(&space->dsos);
}

static void space_read(struct spaces *p, struct space *space)
{
	space_forget(space);
	space->read_ns = clock_now_ns();
	if (mappings_read(&space->maps, space->pid, NULL))
		return;
	vec_for_each (&space->maps, struct mapping, m) {
		char path[4096] = "";
		struct dso *dso = NULL;

		if (mapping_path(m, space->pid, path, sizeof(path), NULL) ||
		    dso_get(p->dsos, path, &dso, NULL))
			dso = NULL;
		*vec_add(&space->dsos) = dso;
		*vec_add(&space->paths) = xstrdup(path);
	}
}

static struct space *space_of(struct spaces *p, pid_t pid)
{
	struct space *space;

	vec_for_each (&p->all, struct space, known)
		if (known->pid == pid)
			return known;
	space = vec_add(&p->all);
	space->pid = pid;
	space_read(p, space);
	return space;
}

static const struct mapping *mapping_of(struct spaces *p, struct space *space, uint64_t ip)
{
	const struct mapping *m = mappings_find(&space->maps, ip);

	if (!m && clock_now_ns() - space->read_ns > REREAD_INTERVAL_NS) {
		space_read(p, space);
		m = mappings_find(&space->maps, ip);
	}
	return m;
}

void spaces_init(struct spaces *s, struct dso_cache *dsos)
{
	memset(s, 0, sizeof(*s));
	s->dsos = dsos;
}

bool spaces_find(struct spaces *s, pid_t pid, uint64_t ip, struct place *place)
{
	struct space *space = space_of(s, pid);
	const struct mapping *m = mapping_of(s, space, ip);
	size_t i;

	if (!m)
		return false;
	i = m - space->maps.data;
	if (!space->dsos.data[i])
		return false;
	place->dso = space->dsos.data[i];
	place->path = space->paths.data[i];
	place->address = dso_offset_to_address(place->dso, ip - m->start + m->file_offset);
	return place->address != UINT64_MAX;
}

void spaces_release(struct spaces *s)
{
	vec_for_each (&s->all, struct space, space)
		space_forget(space);
	vec_release(&s->all);
}
