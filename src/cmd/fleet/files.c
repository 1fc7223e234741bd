/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/fleet/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/regular.h"
#include "trace/fleet/file.h"

static int refuse(struct fleet_files *f, const struct err *why, struct err *err)
{
	if (f->ends)
		f->ends[f->files - 1] =
			why->code == -EBADMSG ? FLEET_FILE_REFUSED : FLEET_FILE_UNREAD;
	else if (!f->several)
		return err_take(err, why);
	f->refused++;
	log_err(why);
	return 0;
}

#define AHEAD_NS 60000000000ull		/* beyond this machine's clock: more is reported */
#define UNSET_NS 1000000000000000000ull /* in 2001: before it, nobody set the clock */

/* Notes that a machine's clock is wrong. Its samples count all the same: times of machines are only
 * compared by the buckets of rows. */
static void check_clock(struct fleet_files *f, const struct fleet_block_head *head)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	f->ahead |= head->start_ns >
		    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + AHEAD_NS;
	f->unset |= head->start_ns < UNSET_NS;
	f->back |= head->start_ns < f->latest_ns;
	f->latest_ns = head->start_ns;
}

static void report_oddities(const struct fleet_files *f, const struct fleet_reader *file)
{
	if (f->ahead || f->unset)
		log_notice("%s: the clock of %s %s, and its samples count in the times it says",
			   file->path, file->header.machine,
			   f->ahead ? "is ahead of this one's" : "was never set");
	if (f->back)
		log_notice(
			"%s: the clock of %s was set back meanwhile, and its blocks count each by "
			"its own time",
			file->path, file->header.machine);
	if (!file->header.type_known || !file->header.topology.n)
		log_notice("%s: the machine type of %s is not known, so %s", file->path,
			   file->header.machine,
			   file->header.topology.n
				   ? "it counts as a type of its own"
				   : "which CPUs share a core is not, either: class other");
}

static int add_block(struct fleet_files *f, const struct fleet_header *h,
		     const struct fleet_sink *sink, void *ctx, struct err *err)
{
	f->blocks++;
	f->samples += sink->count ? sink->count(ctx, f->block) : f->block->samples.n;
	return sink->add(ctx, h, f->block, err);
}

static int read_blocks(struct fleet_files *f, struct fleet_reader *file,
		       const struct fleet_sink *sink, void *ctx, struct err *err)
{
	struct fleet_block_head head;
	struct err why = { 0 };
	int rc = 0;

	while (!rc && (rc = fleet_reader_next(file, &head, &why)) > 0) {
		rc = 0;
		check_clock(f, &head);
		if (sink->knows(ctx, file->header.id, head.sequence)) {
			fleet_reader_skip(file, &head);
			f->known_blocks++;
		} else if (fleet_reader_block(file, &head, f->block)) {
			rc = add_block(f, &file->header, sink, ctx, err);
		}
		progress_rate(&f->progress, f->samples, "samples");
	}
	if (why.code)
		rc = refuse(f, &why, err);
	report_oddities(f, file);
	if (file->truncated)
		log_notice("%s ends inside of a block, and the blocks before it count", file->path);
	if (file->damaged_blocks)
		log_notice("%s is damaged, and its sound blocks count", file->path);
	return rc;
}

static bool is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char found[sizeof(magic)];
	FILE *file = regular_fopen(path);
	bool is = file && fread(found, sizeof(found), 1, file) == 1 &&
		  !memcmp(found, magic, sizeof(magic));

	if (file)
		fclose(file);
	return is;
}

static int read_database(struct fleet_files *f, const char *path, const struct fleet_sink *sink,
			 void *ctx, struct err *err)
{
	struct err why = { 0 };
	int rc;

	f->files++;
	rc = sink->database(ctx, path, f, &why);
	if (rc < 0)
		return err_take(err, &why);
	return rc ? refuse(f, &why, err) : 0;
}

static int read_file(struct fleet_files *f, const char *path, const struct fleet_sink *sink,
		     void *ctx, struct err *err)
{
	struct fleet_reader file;
	struct err why = { 0 };
	int rc = f->opened ? fleet_reader_open_fd(&file, f->opened[f->files], path, &why)
			   : fleet_reader_open(&file, path, &why);

	f->files++;
	if (f->ends)
		f->ends[f->files - 1] = FLEET_FILE_READ;
	f->ahead = f->back = f->unset = false;
	f->latest_ns = 0;
	if (rc)
		return refuse(f, &why, err);
	rc = sink->begin(ctx, &file.header, err);
	if (rc)
		err_prefix(err, "%s", path);
	if (!rc)
		rc = read_blocks(f, &file, sink, ctx, err);
	fleet_reader_close(&file);
	return rc;
}

int fleet_files_read(struct fleet_files *f, char **paths, const char *doing,
		     const struct fleet_sink *sink, void *ctx, struct err *err)
{
	int rc = 0;

	f->block = xcalloc(1, sizeof(*f->block));
	f->several = paths[0] && paths[1];
	progress_init(&f->progress, doing);
	for (; !rc && *paths; paths++)
		rc = !f->opened && sink->database && is_database(*paths)
			     ? read_database(f, *paths, sink, ctx, err)
			     : read_file(f, *paths, sink, ctx, err);
	progress_end(&f->progress);
	return rc;
}

int fleet_files_refused(const struct fleet_files *f, struct err *err)
{
	return f->refused
		       ? err_set(err, -EBADMSG,
				 "%" PRIu64 " of %" PRIu64
				 " files cannot be read, or added; the lines above say why, the others count",
				 f->refused, f->files)
		       : 0;
}

static bool is_readable(const char *path, struct err *why)
{
	struct fleet_reader file;

	if (is_database(path))
		return true;
	if (fleet_reader_open(&file, path, why))
		return false;
	fleet_reader_close(&file);
	return true;
}

int fleet_files_any(char *const *paths, struct err *err)
{
	size_t n = 0;

	for (; paths[n]; n++) {
		struct err why = { 0 };

		if (is_readable(paths[n], &why))
			return 0;
		if (!n && !paths[1])
			return err_take(err, &why);
	}
	for (char *const *path = paths; *path; path++) {
		struct err why = { 0 };

		if (!is_readable(*path, &why))
			log_err(&why);
	}
	return err_set(err, -EBADMSG,
		       "none of the %zu files can be read; name files that ispot fleet record "
		       "wrote",
		       n);
}

void fleet_files_release(struct fleet_files *f)
{
	if (f->block)
		fleet_block_release(f->block);
	free(f->block);
	f->block = NULL;
}
