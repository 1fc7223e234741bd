// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/shared/shared.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/inspect/inspect.h"
#include "probes/kernel/tracing.h"
#include "probes/select/match.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "symbol/dso/dso.h"

#define DIRECTORY "/run/ispot"
#define REGISTRY  DIRECTORY "/probes"
#define NAME_ROOM 40 /* of the kernel's 64, without what tells exits and namesakes */

#define EVENT_NAME_MAX 96
#define NO_SITE	       UINT32_MAX

/* ---- the registry ---- */

/* Returns whether event_name() can have made the name. Others are refused, because the name becomes
 * a part of a path. */
static bool is_event_name(const char *s)
{
	return *s &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* Returns whether the symbol, which is whatever the program's file says, fits between blanks on a
 * line. */
static bool is_word(const char *s)
{
	for (const unsigned char *c = (const void *)s; *c; c++)
		if (*c <= ' ' || *c == 127)
			return false;
	return *s;
}

/* Returns whether the path fits at the end of a line: there it may contain blanks, but not begin
 * with one. */
static bool is_path(const char *s)
{
	for (const unsigned char *c = (const void *)s; *c; c++)
		if (*c < ' ' || *c == 127)
			return false;
	return *s == '/';
}

/* Reads a line for each probe: kind, number, event, symbol, offset, path. */
static int read_from(FILE *f, struct shared_probes *all)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, f) > 0) {
		char kind, *event = NULL, *symbol = NULL, *path = NULL;
		uint32_t id;
		uint64_t offset;
		int n = sscanf(line, "%c %" SCNu32 " %ms %ms %" SCNx64 " %m[^\n]", &kind, &id,
			       &event, &symbol, &offset, &path);

		if (n == 6 && is_event_name(event) && is_path(path)) {
			*vec_add(all) = (struct shared_probe){ .kind = kind,
							       .perf_id = id,
							       .event = event,
							       .symbol = symbol,
							       .path = path,
							       .offset = offset };
			continue;
		}
		free(event);
		free(symbol);
		free(path);
	}
	free(line);
	return 0;
}

int shared_read(struct shared_probes *all, struct err *err)
{
	FILE *f = fopen(REGISTRY, "re");
	int ret;

	*all = (struct shared_probes){ 0 };
	if (!f)
		return errno == ENOENT
			       ? 0
			       : err_set(err, -errno,
					 "cannot read %s: %s; make it anew with `ispot probe add`",
					 REGISTRY, strerror(errno));
	ret = read_from(f, all);
	fclose(f);
	return ret;
}

static void free_probe(struct shared_probe *p)
{
	free(p->event);
	free(p->symbol);
	free(p->path);
}

void shared_release(struct shared_probes *all)
{
	vec_for_each (all, struct shared_probe, p)
		free_probe(p);
	vec_release(all);
}

static void match_one(const struct shared_probes *all, struct pattern *p, bool *wanted)
{
	for (size_t i = 0; i < all->n; i++)
		if (pattern_matches_names(p, all->data[i].path, all->data[i].symbol)) {
			p->matched = true;
			wanted[i] = !p->excludes;
		}
}

int shared_select(const struct shared_probes *all, const char *const *words, size_t n, bool *wanted,
		  char **none, struct err *err)
{
	struct patterns *patterns = NULL;
	int ret = patterns_parse(&patterns, words, n, err);

	*none = NULL;
	for (size_t i = 0; i < all->n; i++)
		wanted[i] = !ret && !patterns_n(patterns);
	for (unsigned excludes = 0; !ret && excludes < 2; excludes++)
		vec_for_each (patterns, struct pattern, p) {
			if (p->excludes != !!excludes)
				continue;
			if (p->arguments && *p->arguments)
				ret = err_set(
					err, -EINVAL,
					"%s: registered probes record no arguments; leave out "
					"what stands behind @, or run with sudo",
					p->typed);
			match_one(all, p, wanted);
			if (!p->matched && !p->excludes && !*none)
				*none = xstrdup(p->typed);
		}
	patterns_free(patterns);
	return ret;
}

/*
 * The registry while an administrator changes it, locked against others. A new file then replaces
 * the old one. Each /run has a registry of its own, for example in a container, but all share the
 * kernel's events. So the kernel's list of events is locked, too, and a free name stays free until
 * it is taken.
 */
struct registry {
	struct shared_probes all;
	int lock_fd, control_fd;
};

static int registry_open(struct registry *r, struct err *err)
{
	*r = (struct registry){ .lock_fd = -1, .control_fd = -1 };
	if (!tracing_directory())
		return err_set(err, -ENOENT,
			       "tracefs is not mounted; mount -t tracefs tracefs "
			       "/sys/kernel/tracing");
	r->control_fd = tracing_control();
	if (r->control_fd < 0)
		return err_set(err, r->control_fd, "cannot register probes: %s; run with sudo",
			       strerror(-r->control_fd));
	if (flock(r->control_fd, LOCK_EX))
		return err_set(err, -errno,
			       "cannot lock %s/uprobe_events: %s; mount tracefs, and run as root",
			       tracing_directory(), strerror(errno));
	mkdir(DIRECTORY, 0755);
	r->lock_fd = open(REGISTRY "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (r->lock_fd < 0 || flock(r->lock_fd, LOCK_EX))
		return err_set(err, -errno, "cannot lock %s: %s; run as root", REGISTRY,
			       strerror(errno));
	return shared_read(&r->all, err);
}

static int registry_write(struct registry *r, struct err *err)
{
	int fd = open(REGISTRY "-new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool bad = !f || fchmod(fd, 0644);

	vec_for_each (&r->all, struct shared_probe, p)
		if (f && fprintf(f, "%c %" PRIu32 " %s %s %" PRIx64 " %s\n", p->kind, p->perf_id,
				 p->event, p->symbol, p->offset, p->path) < 0)
			bad = true;
	if (f && fclose(f))
		bad = true;
	if (bad || rename(REGISTRY "-new", REGISTRY))
		return err_set(err, -EIO,
			       "cannot write %s: %s; the probes are there, but nobody "
			       "finds them: ispot probe remove",
			       REGISTRY, strerror(errno));
	return 0;
}

static void registry_release(struct registry *r)
{
	shared_release(&r->all);
	if (r->lock_fd >= 0)
		close(r->lock_fd);
	if (r->control_fd >= 0)
		close(r->control_fd);
}

/* ---- adding ---- */

static bool has_point(const struct registry *r, char kind, const char *path, uint64_t offset)
{
	vec_for_each (&r->all, struct shared_probe, p)
		if (p->kind == kind && p->offset == offset && !strcmp(p->path, path))
			return true;
	return false;
}

static bool in_kernel(const char *event)
{
	return tracing_event_id(SHARED_GROUP, event) != -ENOENT;
}

/* Makes the name of an exit's event: that of the entry's with a prefix. */
static void exit_name(char name[EVENT_NAME_MAX], const char *event, uint32_t site)
{
	if (site == NO_SITE)
		snprintf(name, EVENT_NAME_MAX, "%s__return", event);
	else
		snprintf(name, EVENT_NAME_MAX, "%s__ret%u", event, site);
}

/* Returns whether the kernel has no event with this name or with those of its exits. The registry
 * may not know all events of the kernel. */
static bool name_is_free(const char *event, uint32_t n_sites)
{
	char name[EVENT_NAME_MAX];

	if (in_kernel(event))
		return false;
	exit_name(name, event, NO_SITE);
	if (in_kernel(name))
		return false;
	for (uint32_t i = 0; i < n_sites; i++) {
		exit_name(name, event, i);
		if (in_kernel(name))
			return false;
	}
	return true;
}

static void event_name(const char *symbol, uint32_t n_sites, char name[EVENT_NAME_MAX])
{
	size_t n = 0;

	for (; symbol[n] && n < NAME_ROOM; n++)
		name[n] = isalnum((unsigned char)symbol[n]) ? symbol[n] : '_';
	name[n] = '\0';
	if (isdigit((unsigned char)name[0]))
		name[0] = '_';
	for (unsigned k = 2; k < 10000 && !name_is_free(name, n_sites); k++)
		snprintf(name + n, 16, "_x%u", k);
}

/*
 * Makes an event for the point. An existing event of that name would get the point, and whoever has
 * it open an oops (design fact 5).
 */
static int add_point(struct registry *r, char kind, const char *event, const struct planned *p,
		     const char *path, uint64_t offset)
{
	const char *symbol = p->what.function->symbol;
	const struct tracing_point point = { .group = SHARED_GROUP,
					     .event = event,
					     .path = dso_kernel_path(p->what.dso, path),
					     .offset = offset,
					     .is_return = kind == SHARED_RETURN };
	int id;

	if (in_kernel(event))
		return -EEXIST;
	id = tracing_add(&point);
	if (!id)
		id = tracing_event_id(SHARED_GROUP, event);
	if (id < 0)
		return id;
	*vec_add(&r->all) = (struct shared_probe){ .kind = kind,
						   .perf_id = (uint32_t)id,
						   .event = xstrdup(event),
						   .symbol = xstrdup(symbol),
						   .path = xstrdup(path),
						   .offset = offset };
	return 0;
}

/* Returns 1 if the function's probes are new, 0 if they were registered before, or -errno. */
static int add_function(struct registry *r, const struct planned *p)
{
	const struct dso_function *f = p->what.function;
	char path[PATH_MAX];
	struct stat st;
	uint64_t entry = f->file_offset + p->place.entry_offset;
	uint32_t n_sites = p->exit.mech == EXIT_RET_SITES ? p->place.n_ret_sites : 0;
	char name[EVENT_NAME_MAX], exit[EVENT_NAME_MAX];
	int ret;

	if (!realpath(dso_path(p->what.dso), path) || stat(path, &st))
		return -errno;
	if (st.st_dev != dso_device(p->what.dso) || st.st_ino != dso_inode(p->what.dso))
		return -ESTALE; /* the path has another file now than when it was read */
	if (!is_path(path) || !is_word(f->symbol))
		return -EILSEQ;
	if (has_point(r, SHARED_ENTRY, path, entry))
		return 0;
	event_name(f->symbol, n_sites, name);
	ret = add_point(r, SHARED_ENTRY, name, p, path, entry);
	exit_name(exit, name, NO_SITE);
	if (!ret && p->exit.mech == EXIT_RETURN)
		ret = add_point(r, SHARED_RETURN, exit, p, path,
				f->file_offset + p->place.return_offset);
	for (uint32_t i = 0; !ret && i < n_sites; i++) {
		exit_name(exit, name, i);
		ret = add_point(r, SHARED_EXIT, exit, p, path,
				f->file_offset + (uint64_t)p->place.ret_sites[i]);
	}
	return ret ? ret : 1;
}

static int cannot_add(const struct planned *p, int rc, struct err *err)
{
	const char *symbol = p->what.function->symbol, *path = dso_path(p->what.dso);

	if (rc == -EILSEQ)
		return err_set(
			err, rc,
			"cannot register a probe on %s in %s: the list of probes takes no "
			"blanks in names of functions, nor control characters; name others, or "
			"copy the file to a plain name",
			symbol, path);
	return err_set(err, rc,
		       "cannot register a probe on %s in %s: %s; ispot check says which functions "
		       "can be probed",
		       symbol, path, strerror(-rc));
}

int shared_add(const struct inspection *in, size_t *added, struct err *err)
{
	struct registry r;
	int ret = registry_open(&r, err), one, write_ret;

	*added = 0;
	for (size_t i = 0; !ret && i < in->plan.n; i++) {
		const struct planned *p = in->plan.data[i];

		if (!p->possible)
			continue;
		one = add_function(&r, p);
		if (one < 0)
			ret = cannot_add(p, one, err);
		*added += one > 0;
	}
	if (r.lock_fd >= 0) {
		write_ret = registry_write(&r, ret ? NULL : err);
		ret = ret ? ret : write_ret;
	}
	registry_release(&r);
	return ret;
}

/* ---- removing ---- */

/* Removes the event, unless somebody else's event has its name by now. */
static int erase(const struct shared_probe *p)
{
	int ret;

	if (tracing_event_id(SHARED_GROUP, p->event) != (int)p->perf_id)
		return 0;
	ret = tracing_remove(SHARED_GROUP, p->event);
	return ret == -ENOENT ? 0 : ret;
}

int shared_remove(const char *const *patterns, size_t n, size_t *removed, size_t *busy,
		  struct err *err)
{
	struct registry r;
	int ret = registry_open(&r, err);
	bool *wanted = xcalloc(r.all.n + 1, sizeof(*wanted));
	char *none = NULL;
	size_t kept = 0;

	*removed = *busy = 0;
	if (!ret)
		ret = shared_select(&r.all, patterns, n, wanted, &none, err);
	free(none);
	for (size_t i = 0; !ret && i < r.all.n; i++) {
		struct shared_probe *p = &r.all.data[i], swap = *p;

		if (wanted[i] && !erase(p)) {
			++*removed;
			continue;
		}
		*busy += wanted[i];
		*p = r.all.data[kept];
		r.all.data[kept++] = swap;
	}
	if (!ret) {
		struct shared_probes gone = { .data = r.all.data + kept, .n = r.all.n - kept };

		vec_for_each (&gone, struct shared_probe, p)
			free_probe(p);
		r.all.n = kept;
		ret = registry_write(&r, err);
	}
	free(wanted);
	registry_release(&r);
	return ret;
}
