/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves what recorders have put into a spool (src/trace/fleet/spool.h) into a database or to a
 * server, once or again and again. A file is removed only after its content counts. If the
 * collector is killed in between, the file is read twice, but counts once.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/fleet/internal.h"
#include "trace/fleet/spool.h"

/* Files of one pass. They are open at the same time, and after a crash only these are read again.
 */
#define FILES_MAX 256

/* Number of files that a pass found, and of those that could not be read and stay in the spool. */
struct found {
	size_t files, unread;
};

static int settle(const struct fleet_spool *s, char *const *names, const enum fleet_file_end *ends,
		  size_t n, struct found *found, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (ends[i] == FLEET_FILE_READ)
			rc = fleet_spool_remove(s, names[i], err);
		else if (ends[i] == FLEET_FILE_REFUSED)
			rc = fleet_spool_refuse(s, names[i], err);
		else
			found->unread++;
	return rc;
}

/* Opens the files that are still there and readable, and moves their names to the front of names.
 */
static int open_all(const struct fleet_spool *s, char **names, size_t n, struct fleet_given *g,
		    size_t *n_opened, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct err why = { 0 };
		int fd = fleet_spool_read(s, names[i], &why);
		size_t at = *n_opened;
		char *name = names[i];

		if (fd >= 0) {
			names[i] = names[at];
			names[at] = name;
			g->opened[at] = fd;
			g->paths[(*n_opened)++] = xasprintf("%s/%s", s->path, name);
		} else if (fd == -EBADMSG) {
			log_err(&why);
			rc = fleet_spool_refuse(s, name, err);
		} else if (fd != -ENOENT) {
			rc = err_take(err, &why);
		}
	}
	return rc;
}

/* Reads the files. They are opened before the database, which may belong to another user. */
static int read_files(const struct fleet_args *a, const struct fleet_spool *s, char **names,
		      size_t n, struct found *found, struct err *err)
{
	struct fleet_given g = { xcalloc(n + 1, sizeof(*g.paths)), xcalloc(n, sizeof(*g.opened)),
				 xcalloc(n, sizeof(*g.ends)) };
	size_t n_opened = 0;
	int rc = open_all(s, names, n, &g, &n_opened, err);

	if (!rc && n_opened)
		rc = (a->engine ? fleet_push_files : fleet_reduce_files)(a, &g, err);
	if (!rc)
		rc = settle(s, names, g.ends, n_opened, found, err);
	for (size_t i = 0; i < n_opened; i++) {
		close(g.opened[i]);
		free(g.paths[i]);
	}
	free(g.paths);
	free(g.opened);
	free(g.ends);
	return rc;
}

static int pass(const struct fleet_args *a, const struct fleet_spool *s, struct found *found,
		struct err *err)
{
	struct fleet_spool_names names = { 0 };
	int rc = fleet_spool_list(s, &names, err);

	*found = (struct found){ .files = names.n };
	for (size_t at = 0; !rc && at < names.n && !interrupt_pending(); at += FILES_MAX)
		rc = read_files(a, s, names.data + at,
				names.n - at < FILES_MAX ? names.n - at : FILES_MAX, found, err);
	fleet_spool_names_release(&names);
	return rc;
}

/* Waits that long. Returns true at once if a signal asks for the end. */
static bool wait_for_end(const sigset_t *ends, uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	return sigtimedwait(ends, NULL, &t) > 0;
}

static int passes(const struct fleet_args *a, const struct fleet_spool *s, struct err *err)
{
	sigset_t ends;
	struct found found;
	int rc;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	if (a->every_ns)
		sigprocmask(SIG_BLOCK, &ends, NULL);
	do {
		rc = pass(a, s, &found, err);
		fflush(stdout);
	} while (!rc && a->every_ns && !wait_for_end(&ends, a->every_ns));
	if (rc || a->every_ns)
		return rc;
	if (!found.files)
		log_notice("%s: there is nothing to collect", s->path);
	if (found.unread)
		return err_set(
			err, -EIO,
			"%zu of %zu files cannot be read, as said above, and stay; the others count",
			found.unread, found.files);
	return 0;
}

int fleet_collect(const struct fleet_args *a, char **words, struct err *err)
{
	struct fleet_spool s;
	int rc;

	if (!*words || words[1])
		return args_refuse(err, "collect takes files from one spool; name its directory, "
					"that of record --to DIR");
	if (a->engine && a->db)
		return args_refuse(err, "--db is a file and --engine names servers; give one");
	if (!a->bucket_ns)
		return args_refuse(err, "--bucket 0: rows are of no time; give more, as 1h");
	rc = fleet_spool_open(&s, *words, 0, 0, err);
	rc = rc ? rc : fleet_spool_lock(&s, err);
	rc = rc ? rc : passes(a, &s, err);
	fleet_spool_close(&s, NULL);
	return rc;
}
