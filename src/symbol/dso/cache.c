/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "symbol/dso/file.h"
#include "symbol/dso/internal.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/parser.h"

#define FILES_MAX \
	16384 /* kept or refused: a bound, so that no program makes ispot read files forever */

/*
 * A file that is not an ELF program, remembered so that it is not read again for each of its
 * mappings.
 */
struct refusal {
	struct stat st;
	int code;
	struct err err;
};

struct dso_cache {
	VEC(struct dso *)
	struct {
		VEC(struct refusal)
	} refused;
};

/* File formats that are not ELF, by their first bytes. */
static const struct magic {
	const char *bytes;
	size_t n;
	const char *what, *hint;
} magics[] = {
	{ "MZ", 2, "a Windows program", "ispot needs an ELF program" },
	{ "\xca\xfe\xba\xbe", 4, "a Java class or macOS program", "name the java that runs it" },
	{ "PK\x03\x04", 4, "a zip or jar file", "name the program that runs it" },
	{ "!<arch>\n", 8, "a static library", "name the program that was linked with it" },
	{ "!<thin>\n", 8, "a static library", "name the program that was linked with it" },
	{ "PERFILE2", 8, "a perf.data file", "name the program that was recorded" },
};

static int script_error(struct err *err, const char *path, const char *head, size_t n)
{
	size_t end = 2, start;

	while (end < n && (head[end] == ' ' || head[end] == '\t'))
		end++;
	start = end;
	while (end < n && head[end] > ' ')
		end++;
	return err_set(err, -ENOEXEC, "%s is a script for %.*s; name the program it starts", path,
		       (int)(end - start), head + start);
}

static int not_elf_error(struct err *err, const char *path, const char *head, size_t n)
{
	if (n == 0)
		return err_set(err, -ENOEXEC, "%s is empty; name an ELF program", path);
	if (n > 2 && head[0] == '#' && head[1] == '!')
		return script_error(err, path, head, n);
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (n >= magics[i].n && !memcmp(head, magics[i].bytes, magics[i].n))
			return err_set(err, -ENOEXEC, "%s is %s; %s", path, magics[i].what,
				       magics[i].hint);
	}
	return err_set(err, -ENOEXEC, "%s is not an ELF file; name a compiled program", path);
}

static int open_error(struct err *err, const char *path, int code)
{
	if (code == -ENOENT || code == -ENOTDIR)
		return err_set(err, -ENOENT, "%s does not exist; check the path", path);
	if (code == -EACCES || code == -EPERM)
		return err_set(err, -EACCES, "%s may not be read; run with sudo", path);
	return err_set(err, code, "cannot open %s: %s; name a file that may be read", path,
		       strerror(-code));
}

static int open_file(struct dso *dso, const char *path, bool copied, struct err *err)
{
	struct dso_file file;
	char size[TEXT_NUMBER];
	int ret = dso_file_open(&file, path, copied);

	if (ret == -EISDIR)
		return err_set(err, -ENOEXEC, "%s is a directory; name a program in it", path);
	if (ret == -EINVAL)
		return err_set(err, -ENOEXEC, "%s is not a regular file; name a program", path);
	if (ret == -EFBIG)
		return err_set(err, ret,
			       "%s has %s, and others may write it: ispot would have to copy it, "
			       "but all copies together may take a quarter of the memory; strip "
			       "it, or install it where only root can write",
			       path, text_bytes(size, (uint64_t)file.st.st_size));
	if (ret)
		return open_error(err, path, ret);
	dso->st = file.st;
	dso->copied_bytes = file.copied_bytes;
	dso->is_roots = !geteuid() && !file.copied_bytes;
	dso->original_fd = dso_file_take_original(&file);
	dso->fd = dso_file_take(&file);
	return 0;
}

static int check_magic(const struct dso *dso, struct err *err)
{
	char head[128];
	ssize_t n = pread(dso->fd, head, sizeof(head), 0);

	if (n < 0)
		return open_error(err, dso->path, -errno);
	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) != 0)
		return not_elf_error(err, dso->path, head, (size_t)n);
	return 0;
}

static void dso_free(struct dso *dso)
{
	if (!dso)
		return;
	parser_free(dso->parser);
	dso_lines_free(dso->lines);
	if (dso->dwfl)
		dwfl_end(dso->dwfl);
	if (!dso->elf && dso->image)
		munmap((void *)dso->image, dso->image_bytes);
	elf_end(dso->elf);
	if (dso->fd >= 0)
		close(dso->fd);
	if (dso->original_fd >= 0)
		close(dso->original_fd);
	dso_file_forget(dso->copied_bytes);
	vec_release(&dso->segments);
	vec_release(&dso->code);
	vec_release(&dso->functions);
	vec_release(&dso->imports);
	vec_release(&dso->markers);
	vec_release(&dso->variables);
	vec_release(&dso->slot_names);
	map_release(&dso->slots);
	free(dso->by_name);
	arena_release(&dso->strings);
	free(dso->build_id);
	free(dso->interp);
	free(dso->path);
	free(dso->kernel_path);
	free(dso);
}

static int dso_open(const char *path, bool copied, struct dso **out, struct err *err)
{
	struct dso *dso = xcalloc(1, sizeof(*dso));
	int ret;

	dso->fd = dso->original_fd = -1;
	dso->path = xstrdup(path);
	dso->serve = dso_serve;
	ret = open_file(dso, path, copied, err);
	if (!ret)
		ret = check_magic(dso, err);
	if (!ret)
		ret = dso_is_foreign(dso) ? parser_elf(dso, err) : dso_read_elf(dso, err);
	if (ret)
		dso_free(dso);
	else
		*out = dso;
	return ret;
}

/*
 * A linker that writes in place keeps the inode of a program built again, so size and time are
 * compared, too.
 */
static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Remembers only what is wrong with the file itself: a lack of memory or descriptors may pass. */
static void refuse(struct dso_cache *cache, const struct stat *st, int code, const struct err *err)
{
	struct refusal *r;

	if ((code != -ENOEXEC && code != -EBADMSG) || !err)
		return;
	r = vec_add(&cache->refused);
	*r = (struct refusal){ .st = *st, .code = code, .err = *err };
}

static bool will_do(const struct dso *known, const struct stat *st, enum dso_origin origin)
{
	return same_file(&known->st, st) && (origin != DSO_THEIRS || known->original_fd >= 0);
}

int dso_get_of(struct dso_cache *cache, enum dso_origin origin, const char *path, struct dso **dso,
	       struct err *err)
{
	struct stat st;
	bool known_file = !stat(path, &st);
	int ret;

	if (known_file) {
		vec_for_each (cache, struct dso *, known) {
			if (will_do(*known, &st, origin)) {
				*dso = *known;
				return 0;
			}
		}
		vec_for_each (&cache->refused, const struct refusal, r) {
			if (same_file(&r->st, &st))
				return err_take(err, &r->err);
		}
	}
	if (cache->n + cache->refused.n >= FILES_MAX)
		return err_set(
			err, -EMFILE,
			"%s: %d other files were read before it, which is the most; name objects with -F OBJECT:FUNCTION",
			path, FILES_MAX);
	ret = dso_open(path, origin != DSO_OURS, dso, err);
	if (!ret)
		*vec_add(cache) = *dso;
	else if (known_file)
		refuse(cache, &st, ret, err);
	return ret;
}

int dso_get(struct dso_cache *cache, const char *path, struct dso **dso, struct err *err)
{
	return dso_get_of(cache, DSO_OURS, path, dso, err);
}

enum dso_origin dso_origin_of_process(pid_t pid)
{
	struct stat own, its;
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &own) || stat(name, &its))
		return DSO_ENDED;
	return own.st_dev == its.st_dev && own.st_ino == its.st_ino ? DSO_OURS : DSO_THEIRS;
}

struct dso_cache *dso_cache_new(void)
{
	elf_version(EV_CURRENT);
	return xcalloc(1, sizeof(struct dso_cache));
}

void dso_cache_free(struct dso_cache *cache)
{
	if (!cache)
		return;
	vec_for_each (cache, struct dso *, dso)
		dso_free(*dso);
	vec_release(&cache->refused);
	vec_release(cache);
	free(cache);
}
