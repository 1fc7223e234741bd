/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/profile.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probes/sample.h"
#include "symbol/dso.h"

/* An address outside every known mapping may lie in a new one; /proc is not asked more often than
 * this. */
#define REREAD_INTERVAL_NS 200000000ull

void profile_init(struct profile *p, struct dso_cache *dsos)
{
	memset(p, 0, sizeof(*p));
	p->dsos = dsos;
}

static void process_forget(struct profile_process *process)
{
	mappings_release(&process->maps);
	vec_for_each (&process->paths, char *, path)
		free(*path);
	vec_release(&process->paths);
	vec_release(&process->dsos);
}

static void process_read(struct profile *p, struct profile_process *process)
{
	process_forget(process);
	process->read_ns = clock_now_ns();
	if (mappings_read(&process->maps, process->pid, NULL))
		return;
	vec_for_each (&process->maps, struct mapping, m) {
		char path[4096];
		struct dso *dso = NULL;

		if (mapping_path(m, process->pid, path, sizeof(path), NULL) ||
		    dso_get(p->dsos, path, &dso, NULL))
			dso = NULL;
		*vec_add(&process->dsos) = dso;
		*vec_add(&process->paths) = xstrdup(path);
	}
}

static struct profile_process *process_of(struct profile *p, pid_t pid)
{
	struct profile_process *process;

	vec_for_each (&p->processes, struct profile_process, known)
		if (known->pid == pid)
			return known;
	process = vec_add(&p->processes);
	process->pid = pid;
	process_read(p, process);
	return process;
}

static const struct mapping *mapping_of(struct profile *p, struct profile_process *process,
					uint64_t ip)
{
	const struct mapping *m = mappings_find(&process->maps, ip);

	if (!m && clock_now_ns() - process->read_ns > REREAD_INTERVAL_NS) {
		process_read(p, process);
		m = mappings_find(&process->maps, ip);
	}
	return m;
}

static struct profile_function *function_at(struct profile *p, pid_t pid, uint64_t ip)
{
	struct profile_process *process = process_of(p, pid);
	const struct mapping *m = mapping_of(p, process, ip);
	const struct dso_function *f = NULL;
	struct profile_function *entry;
	struct dso *dso = NULL;
	uint32_t i;

	if (m)
		dso = process->dsos.data[m - process->maps.data];
	if (dso)
		f = dso_function_at(dso,
				    dso_offset_to_address(dso, ip - m->start + m->file_offset));
	if (!f)
		return NULL;
	i = map_get(&p->by_function, (uintptr_t)f);
	if (i != MAP_NONE)
		return &p->functions.data[i];
	map_put(&p->by_function, (uintptr_t)f, p->functions.n);
	entry = vec_add(&p->functions);
	entry->dso = dso;
	entry->function = f;
	entry->path = xstrdup(process->paths.data[m - process->maps.data]);
	return entry;
}

void profile_add(struct profile *p, const struct sample *s)
{
	p->samples++;
	p->total_samples++;
	for (uint32_t i = 0; i < s->n_frames; i++) {
		/* A return address belongs to the call before it. */
		struct profile_function *f = function_at(p, s->tgid, s->frames[i] - (i > 0));

		if (!f)
			continue;
		if (i == 0)
			f->self++;
		if (f->seen_in != p->total_samples)
			f->inclusive++;
		f->seen_in = p->total_samples;
	}
}

void profile_begin_window(struct profile *p)
{
	p->samples = 0;
	vec_for_each (&p->functions, struct profile_function, f)
		f->self = f->inclusive = 0;
}

void profile_release(struct profile *p)
{
	vec_for_each (&p->processes, struct profile_process, process)
		process_forget(process);
	vec_release(&p->processes);
	vec_for_each (&p->functions, struct profile_function, f)
		free(f->path);
	vec_release(&p->functions);
	map_release(&p->by_function);
}
