/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/edges/edges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/process/program.h"
#include "probes/process/spawned.h"
#include "probes/select/select.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"

#define RUNTIME "libispot-edges.so"

/* ---- whether a program counts its edges ---- */

static const char *const hooks[] = { "__sanitizer_cov_trace_pc", "__sanitizer_cov_trace_pc_guard" };

static bool is_runtime(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, RUNTIME);
}

/*
 * Whether the file contains another runtime or that of a sanitizer: the program never calls our
 * runtime then.
 */
static bool has_other_runtime(struct dso *dso)
{
	const uint32_t *indices;

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (dso_find(dso, hooks[i], &indices))
			return true;
	return false;
}

static bool counts(struct dso *dso)
{
	return dso_has_import(dso, hooks[0]) || dso_has_import(dso, hooks[1]);
}

static int refuse(struct dso *dso, const char *program, struct err *err)
{
	if (dso_is_static(dso))
		return err_set(err, -ENOEXEC,
			       "%s is linked statically, so the runtime that counts edges cannot "
			       "come into it; link it dynamically",
			       program);
	if (has_other_runtime(dso))
		return err_set(err, -ENOEXEC,
			       "%s counts into another runtime; with clang link it with "
			       "-fno-sanitize-link-runtime -lispot-edges",
			       program);
	return err_set(err, -ENOEXEC,
		       "%s does not count its edges; compile it with gcc -g "
		       "-fsanitize-coverage=trace-pc … -lispot-edges (ispot-imbalance(1))",
		       program);
}

/*
 * Sets *any if a library that the program is linked with counts edges. Returns false if not all
 * libraries were found. Our runtime need not be found, because it is preloaded.
 */
static bool libraries_count(const struct command_program *p, struct dso_cache *cache, bool *any)
{
	struct dso_closure closure = { 0 };
	bool found = !dso_closure_in(cache, p->path, p->environment, &closure, NULL);
	struct dso *dso;

	for (size_t i = 0; found && i < closure.n; i++)
		if (!is_runtime(closure.paths[i]) && !dso_get(cache, closure.paths[i], &dso, NULL))
			*any |= counts(dso);
	dso_closure_release(&closure);
	return found;
}

int edges_check(char *const *argv, bool *certain, struct err *err)
{
	struct dso_cache *cache = dso_cache_new();
	struct command_program p;
	struct dso *dso;
	int rc = command_program_find(&p, argv, err);

	*certain = false;
	if (!rc) {
		rc = dso_get(cache, p.path, &dso, err);
		*certain = !rc && counts(dso);
		if (!rc && !*certain && libraries_count(&p, cache, certain) && !*certain &&
		    (has_other_runtime(dso) || !dso_has_import(dso, "dlopen")) && !p.is_shell)
			rc = refuse(dso, p.path, err);
		command_program_release(&p);
	}
	dso_cache_free(cache);
	return rc;
}

/* ---- running the program ---- */

extern const char ispot_edges_runtime_start[], ispot_edges_runtime_end[];

/*
 * Writes the runtime to a file for LD_PRELOAD. Preloaded, it comes before the C library, and is
 * available if the program's own copy is not found.
 */
static int write_runtime(const char *path)
{
	size_t n = (size_t)(ispot_edges_runtime_end - ispot_edges_runtime_start);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700), rc = 0;
	ssize_t written = fd < 0 ? -1 : write(fd, ispot_edges_runtime_start, n);

	if (written != (ssize_t)n)
		rc = written < 0 ? -errno : -ENOSPC;
	if (fd >= 0)
		close(fd);
	return rc;
}

static char *preload(const char *runtime)
{
	const char *before = getenv("LD_PRELOAD");

	return xasprintf("LD_PRELOAD=%s%s%s", runtime, before && *before ? ":" : "",
			 before ? before : "");
}

int edges_run(char *const *argv, const char *dir, int *status, struct err *err)
{
	char *runtime = xasprintf("%s/" RUNTIME, dir);
	char *first = preload(runtime), *where = xasprintf(EDGES_ENVIRONMENT "=%s", dir);
	const char *const more[] = { first, where, "LD_BIND_NOW=1", NULL };
	int rc = write_runtime(runtime);

	if (rc) {
		err_set(err, rc, "%s: %s; set TMPDIR to a directory with room", runtime,
			strerror(-rc));
	} else {
		rc = spawned_run(argv, more, status);
		if (rc) {
			err_set(err, rc, "%s: %s; does it run by itself?", argv[0], strerror(-rc));
			err->exit_status = rc == -ENOENT ? 127 : 126;
		}
	}
	free(where);
	free(first);
	free(runtime);
	return rc;
}

/* ---- reading the logs ---- */

struct modules {
	VEC(const struct edges_module *)
};

static uint32_t place_of(struct edges *e, uint32_t object, uint64_t address)
{
	for (uint64_t key = hash_u64(address ^ (uint64_t)object << 48);; key++) {
		uint32_t at = map_get(&e->place_of, key);

		if (at == MAP_NONE) {
			at = (uint32_t)e->places.n;
			map_put(&e->place_of, key, at);
			*vec_add(&e->places) = (struct edges_place){ object, address };
			return at;
		}
		if (e->places.data[at].object == object && e->places.data[at].address == address)
			return at;
	}
}

/*
 * Returns the place of an address. The latest module that covers the address counts, because
 * another file may have been loaded there before.
 */
static uint32_t find_place(struct edges *e, const struct modules *modules, uint64_t pc)
{
	for (size_t i = modules->n; i-- > 0;) {
		const struct edges_module *m = modules->data[i];

		if (pc >= m->start && pc < m->end)
			return place_of(e, strtab_add(&e->names, (const char *)(m + 1)),
					pc - m->bias);
	}
	return EDGES_NOWHERE;
}

static bool read_cut(struct edges *e, const struct modules *modules, const struct edges_cut *cut)
{
	const struct edges_count *k = (const struct edges_count *)(cut + 1);
	struct edges_log *log = vec_last(&e->logs);

	if (cut->n > (cut->record.bytes - sizeof(*cut)) / sizeof(*k) || cut->end > EDGES_THREAD)
		return false;
	for (uint32_t i = 0; i < cut->n; i++)
		if (k[i].edge >= log->steps.n)
			return false;
	*vec_add(&e->parts) = (struct edges_part){
		.log = (uint32_t)e->logs.n - 1,
		.site = find_place(e, modules, cut->site),
		.cut = cut,
		.counts = k,
	};
	return true;
}

static bool read_made(struct edges *e, const struct edges_made *m)
{
	if (m->record.bytes < sizeof(*m))
		return false;
	*vec_add(&e->events) = (struct edges_event){
		.time_ns = m->time_ns,
		.log = (uint32_t)e->logs.n - 1,
		.site = EDGES_NOWHERE,
		.made = (uint32_t)m->made,
	};
	return true;
}

static bool read_awaited(struct edges *e, const struct modules *modules,
			 const struct edges_awaited *a)
{
	if (a->record.bytes < sizeof(*a))
		return false;
	*vec_add(&e->events) = (struct edges_event){
		.time_ns = a->time_ns,
		.log = (uint32_t)e->logs.n - 1,
		.is_wait = true,
		.site = find_place(e, modules, a->site),
		.thread = a->thread,
	};
	return true;
}

/* Returns false if the record is damaged. */
static bool read_record(struct edges *e, struct modules *modules, const struct edges_record *r)
{
	switch (r->kind) {
	case EDGES_MODULE:
		if (r->bytes <= sizeof(struct edges_module) || ((const char *)r)[r->bytes - 1])
			return false;
		*vec_add(modules) = (const struct edges_module *)r;
		return true;
	case EDGES_EDGE: {
		const struct edges_edge *edge = (const struct edges_edge *)r;

		if (r->bytes < sizeof(*edge))
			return false;
		*vec_add(&vec_last(&e->logs)->steps) = (struct edges_step){
			find_place(e, modules, edge->from),
			find_place(e, modules, edge->to),
		};
		return true;
	}
	case EDGES_CUT:
		return r->bytes >= sizeof(struct edges_cut) &&
		       read_cut(e, modules, (const struct edges_cut *)r);
	case EDGES_MADE:
		return read_made(e, (const struct edges_made *)r);
	case EDGES_AWAITED:
		return read_awaited(e, modules, (const struct edges_awaited *)r);
	default:
		return false;
	}
}

/* Takes the records up to the first unexpected one. */
static void read_records(struct edges *e, const uint64_t *map, size_t bytes)
{
	const struct edges_header *h = (const struct edges_header *)map;
	const char *at = (const char *)(h + 1);
	struct modules modules = { 0 };
	size_t left = h->used < bytes - sizeof(*h) ? (size_t)h->used : bytes - sizeof(*h);

	while (left >= sizeof(struct edges_record)) {
		const struct edges_record *r = (const struct edges_record *)at;

		if (r->bytes < sizeof(*r) || r->bytes % 8 || r->bytes > left ||
		    !read_record(e, &modules, r))
			break;
		at += r->bytes;
		left -= r->bytes;
	}
	e->full += h->full || left;
	e->missed += h->missed;
	vec_release(&modules);
}

/* Returns a copy, because the program may still write to the file or shorten it. */
static void *copy_of(int fd, size_t bytes)
{
	void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	for (size_t at = 0; copy != MAP_FAILED && at < bytes;) {
		ssize_t n = pread(fd, (char *)copy + at, bytes - at, (off_t)at);

		if (n <= 0)
			break; /* the rest stays zero, which is not a valid record */
		at += (size_t)n;
	}
	return copy;
}

static int read_log(struct edges *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const struct edges_header *h;
	void *map = MAP_FAILED;
	struct edges_log *log;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(*h))
		map = copy_of(fd, (size_t)st.st_size);
	close(fd);
	if (map == MAP_FAILED)
		return -EINVAL;
	h = map;
	if (h->magic != EDGES_MAGIC) {
		munmap(map, (size_t)st.st_size);
		return -EINVAL;
	}
	log = vec_add(&e->logs);
	log->map = map;
	log->bytes = (size_t)st.st_size;
	log->pid = h->pid;
	log->tid = h->tid;
	log->header = h;
	read_records(e, map, log->bytes);
	return 0;
}

/* Sorts PID.PROGRAM.THREAD by numbers: by process, then its programs, then their threads. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_log(const struct dirent *file)
{
	return *file->d_name >= '0' && *file->d_name <= '9';
}

int edges_read(struct edges *e, const char *dir, struct err *err)
{
	struct dirent **files;
	int n = scandir(dir, &files, is_log, by_name);
	char process[sizeof(files[0]->d_name)] = "";
	uint32_t processes = 0;

	if (n < 0)
		return err_set(err, -errno, "%s: %s; run the program again", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, files[i]->d_name);
		char *dot = strrchr(files[i]->d_name, '.');

		if (dot)
			*dot = '\0';
		if (!read_log(e, path)) {
			processes += strcmp(process, files[i]->d_name) != 0;
			strcpy(process, files[i]->d_name);
			vec_last(&e->logs)->process = processes - 1;
		}
		free(path);
		free(files[i]);
	}
	free(files);
	return 0;
}

void edges_release(struct edges *e)
{
	vec_for_each (&e->logs, struct edges_log, log) {
		munmap(log->map, log->bytes);
		vec_release(&log->steps);
	}
	vec_release(&e->logs);
	vec_release(&e->parts);
	vec_release(&e->events);
	vec_release(&e->places);
	map_release(&e->place_of);
	strtab_release(&e->names);
}
