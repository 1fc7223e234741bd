/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/spaces.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"

/*
 * An address outside every known mapping may lie in a new one. /proc is read at most once in this
 * time.
 */
#define REREAD_INTERVAL_NS 200000000ull
/* share of the time: the program determines how long a reading takes */
#define REREAD_ONE_IN 20
/* After the end of the recording all readings together take about this long. */
#define CLOSED_NS 2000000000ull
/*
 * A time this long after the latest mapping of a process is settled: no record of an earlier
 * mapping is expected any more.
 */
#define SETTLED_NS 1000000000ull

/*
 * Limit, because the program determines how many mappings and processes there are, and how long
 * their paths are.
 */
#define BYTES_MAX (256ull << 20)

static uint64_t bytes_of(const struct mapping *m)
{
	return sizeof(*m) + sizeof(struct dso *) + sizeof(char *) + 2 * (strlen(m->path) + 1);
}

/* Reserves memory for a mapping. Returns false if the limit is reached. */
static bool reserve(struct spaces *p, const struct mapping *m)
{
	if (p->bytes + bytes_of(m) <= p->bytes_max) {
		p->bytes += bytes_of(m);
		return true;
	}
	if (!p->told)
		log_notice("the programs have mapped more files than there is room for (%llu MiB): "
			   "what runs in the last ones is not named",
			   (unsigned long long)(p->bytes_max >> 20));
	p->told = true;
	return false;
}

static void space_forget(struct spaces *p, struct space *space)
{
	vec_for_each (&space->maps, const struct mapping, m)
		p->bytes -= bytes_of(m);
	mappings_release(&space->maps);
	vec_for_each (&space->paths, char *, path)
		free(*path);
	vec_release(&space->paths);
	vec_release(&space->dsos);
}

/*
 * Finds the file behind a mapping; *path opens it. Only the path is left if the process has ended.
 */
static struct dso *find_dso(struct spaces *p, const struct mapping *m, pid_t pid, char path[4096])
{
	enum dso_origin origin = dso_origin_of_process(pid);
	struct dso *dso;
	struct stat st;

	if (mapping_path(m, pid, path, 4096, NULL)) {
		if (stat(m->path, &st) || st.st_ino != m->inode)
			return NULL;
		snprintf(path, 4096, "%s", m->path);
		origin = DSO_ENDED;
	}
	return dso_get_of(p->dsos, origin, path, &dso, NULL) ? NULL : dso;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->device == b->device && a->inode == b->inode && !strcmp(a->path, b->path);
}

static void cut_to_room(struct spaces *p, struct mappings *maps)
{
	size_t kept = 0;

	while (kept < maps->n && reserve(p, &maps->data[kept]))
		kept++;
	for (size_t i = kept; i < maps->n; i++)
		free(maps->data[i].path);
	maps->n = kept;
}

/*
 * Finds the files of all mappings, each file once, because a program may map a file thousands of
 * times and the lookup is slow.
 */
static void find_dsos(struct spaces *p, struct space *space)
{
	struct map seen = { 0 };

	vec_for_each (&space->maps, struct mapping, m) {
		uint64_t key = hash_u64(m->device) ^ m->inode;
		uint32_t i = map_get(&seen, key);
		char path[4096] = "";
		struct dso *dso;

		if (i != MAP_NONE && is_same_file(&space->maps.data[i], m)) {
			dso = space->dsos.data[i];
			snprintf(path, sizeof(path), "%s", space->paths.data[i]);
		} else {
			map_put(&seen, key, (uint32_t)space->dsos.n);
			dso = find_dso(p, m, space->pid, path);
		}
		*vec_add(&space->dsos) = dso;
		*vec_add(&space->paths) = xstrdup(path);
	}
	map_release(&seen);
}

static void read_now(struct spaces *p, struct space *space)
{
	struct mappings now = { 0 };

	/* If the process has ended, its known mappings stay. */
	if (mappings_read(&now, space->pid, NULL) || !now.n) {
		mappings_release(&now);
		return;
	}
	if (now.n != space->maps.n)
		space->changed_ns = space->read_ns;
	space_forget(p, space);
	cut_to_room(p, &now);
	space->maps = now;
	find_dsos(p, space);
	space->changes = ++p->changes;
}

static void space_read(struct spaces *p, struct space *space)
{
	uint64_t now_ns = clock_now_ns(), end_ns, wait_ns;

	if (p->closed_ns && now_ns - p->closed_ns > CLOSED_NS)
		return;
	space->read_ns = now_ns;
	space->is_stale = false;
	read_now(p, space);
	end_ns = clock_now_ns();
	wait_ns = (end_ns - space->read_ns) * REREAD_ONE_IN;
	space->read_again_ns =
		end_ns + (wait_ns > REREAD_INTERVAL_NS ? wait_ns : REREAD_INTERVAL_NS);
}

static struct space *find_space(const struct spaces *p, pid_t pid)
{
	uint32_t i = map_get(&p->of_pid, (uint64_t)pid);

	return i == MAP_NONE ? NULL : &p->all.data[i];
}

static struct space *new_space(struct spaces *p, pid_t pid)
{
	struct space *space = vec_add(&p->all);

	space->pid = pid;
	map_put(&p->of_pid, (uint64_t)pid, (uint32_t)p->all.n - 1);
	return space;
}

static void remove_space(struct spaces *p, struct space *space)
{
	struct space *last = vec_last(&p->all);

	space_forget(p, space);
	map_remove(&p->of_pid, (uint64_t)space->pid);
	if (space != last) {
		*space = *last;
		map_put(&p->of_pid, (uint64_t)space->pid, (uint32_t)(space - p->all.data));
	}
	p->all.n--;
}

static void remove_overlaps(struct spaces *p, struct space *space, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->maps.n; i++) {
		struct mapping *m = &space->maps.data[i];

		if (m->start < end && m->end > start) {
			p->bytes -= bytes_of(m);
			free(m->path);
			free(space->paths.data[i]);
			continue;
		}
		space->maps.data[kept] = *m;
		space->dsos.data[kept] = space->dsos.data[i];
		space->paths.data[kept++] = space->paths.data[i];
	}
	space->maps.n = space->dsos.n = space->paths.n = kept;
}

/* Inserts a mapping in order of address. */
static void insert(struct spaces *p, struct space *space, const struct mapping *new)
{
	char path[4096] = "";
	struct dso *dso = find_dso(p, new, space->pid, path);
	size_t i;

	(void)vec_add(&space->maps);
	(void)vec_add(&space->dsos);
	(void)vec_add(&space->paths);
	for (i = space->maps.n - 1; i && space->maps.data[i - 1].start > new->start; i--) {
		space->maps.data[i] = space->maps.data[i - 1];
		space->dsos.data[i] = space->dsos.data[i - 1];
		space->paths.data[i] = space->paths.data[i - 1];
	}
	space->maps.data[i] = *new;
	space->maps.data[i].path = xstrdup(new->path);
	space->dsos.data[i] = dso;
	space->paths.data[i] = xstrdup(path);
	space->changes = ++p->changes;
	space->changed_ns = clock_now_ns();
}

static struct space *space_of(struct spaces *p, pid_t pid)
{
	struct space *space = find_space(p, pid);

	if (space)
		return space;
	space = new_space(p, pid);
	space_read(p, space);
	return space;
}

static bool is_vdso(const struct space *space, uint64_t ip)
{
	return ip >= space->maps.vdso_start && ip < space->maps.vdso_end;
}

static const struct mapping *mapping_of(struct spaces *p, struct space *space, uint64_t ip)
{
	const struct mapping *m = mappings_find(&space->maps, ip);

	if (is_vdso(space, ip))
		return NULL;
	if ((!m || space->is_stale) && !space->ended && clock_now_ns() > space->read_again_ns) {
		space_read(p, space);
		m = mappings_find(&space->maps, ip);
	}
	return m;
}

const struct space *spaces_get(struct spaces *s, pid_t pid, uint64_t ip)
{
	struct space *space = space_of(s, pid);

	(void)mapping_of(s, space, ip);
	return space;
}

bool space_settled(const struct space *space, uint64_t ip, uint64_t time_ns)
{
	return is_vdso(space, ip) || mappings_find(&space->maps, ip) || space->read_ns > time_ns ||
	       time_ns > space->changed_ns + SETTLED_NS;
}

void spaces_map(struct spaces *p, pid_t pid, const struct mapping *m)
{
	struct space *space = space_of(p, pid);
	const struct mapping *known = mappings_find(&space->maps, m->start);

	if (known && known->start == m->start && known->end == m->end && known->inode == m->inode)
		return;
	remove_overlaps(p, space, m->start, m->end);
	if (space->maps.n < MAPPINGS_MAX && reserve(p, m))
		insert(p, space, m);
}

void spaces_fork(struct spaces *p, pid_t parent, pid_t child, uint64_t time_ns)
{
	struct space *from, *to = find_space(p, child);

	if (to && to->ended)
		remove_space(p, to);
	else if (to)
		return;
	if (!find_space(p, parent))
		return;
	to = new_space(p, child); /* may move the parent's space */
	from = find_space(p, parent);
	to->changes = ++p->changes;
	to->read_ns = from->read_ns < time_ns ? from->read_ns : time_ns;
	to->read_again_ns = from->read_again_ns;
	to->changed_ns = clock_now_ns();
	to->maps.vdso_start = from->maps.vdso_start;
	to->maps.vdso_end = from->maps.vdso_end;
	for (size_t i = 0; i < from->maps.n && reserve(p, &from->maps.data[i]); i++) {
		struct mapping *m = vec_add(&to->maps);

		*m = from->maps.data[i];
		m->path = xstrdup(m->path);
		*vec_add(&to->dsos) = from->dsos.data[i];
		*vec_add(&to->paths) = xstrdup(from->paths.data[i]);
	}
}

void spaces_reread(struct spaces *p)
{
	vec_for_each (&p->all, struct space, space) {
		space->is_stale = !space->ended;
		if (space->is_stale && clock_now_ns() > space->read_again_ns)
			space_read(p, space);
	}
}

void spaces_end(struct spaces *p, pid_t pid)
{
	struct space *space = find_space(p, pid);

	if (!space || space->ended)
		return;
	space->ended = true;
	*vec_add(&p->ended) = pid;
}

void spaces_drop(struct spaces *p)
{
	vec_for_each (&p->dropping, pid_t, pid) {
		struct space *space = find_space(p, *pid);

		if (space && space->ended)
			remove_space(p, space);
	}
	p->dropping.n = 0;
	vec_for_each (&p->ended, pid_t, pid)
		*vec_add(&p->dropping) = *pid;
	p->ended.n = 0;
}

void spaces_init(struct spaces *s, struct dso_cache *dsos)
{
	memset(s, 0, sizeof(*s));
	s->dsos = dsos;
	s->bytes_max = BYTES_MAX;
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

static bool is_data_of(const struct space *space, size_t i, uint64_t address, struct place *place)
{
	const struct mapping *m = &space->maps.data[i];
	struct dso *dso = space->dsos.data[i];
	uint64_t bias = dso ? dso_load_bias(dso, m->start, m->file_offset) : UINT64_MAX;

	if (bias == UINT64_MAX || !dso_is_data(dso, address - bias))
		return false;
	*place = (struct place){ .dso = dso,
				 .address = address - bias,
				 .path = space->paths.data[i] };
	return true;
}

bool spaces_find_data(struct spaces *s, pid_t pid, uint64_t address, struct place *place)
{
	const struct space *space = space_of(s, pid);

	for (size_t i = 0; i < space->maps.n; i++)
		if (is_data_of(space, i, address, place))
			return true;
	return false;
}

void spaces_release(struct spaces *s)
{
	vec_for_each (&s->all, struct space, space)
		space_forget(s, space);
	vec_release(&s->all);
	vec_release(&s->ended);
	vec_release(&s->dropping);
	map_release(&s->of_pid);
}
