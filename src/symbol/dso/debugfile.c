/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the file with a stripped file's symbols and DWARF: by build ID under /usr/lib/debug; by the
 * name in .gnu_debuglink beside the file, in .debug beside the file and under /usr/lib/debug; or
 * from debuginfod. This is libdwfl's own search with three more rules: the name may not lead to
 * another directory, only regular files are opened, and a file that others may write is copied
 * before it is mapped (file.h). A candidate is used if it has the right build ID, or, for a file
 * without an ID, the right checksum. The debug file of a program that root reads in its own process
 * must be root's, too.
 */
#include "symbol/dso/internal.h"

#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include "base/text.h"
#include "base/crc.h"
#include "base/log.h"
#include "base/place.h"
#include "symbol/dso/file.h"

#define DEBUG_ROOT "/usr/lib/debug"
/*
 * Limits of a debuginfod's answers, unless the user sets others; a kernel's debug file has hundreds
 * of MiB.
 */
#define SERVER_SECONDS "600"
#define SERVER_BYTES   "4294967296"

struct search {
	struct dso *dso;
	const unsigned char *id; /* the build ID of the file; NULL: none */
	size_t id_bytes;
	uint32_t crc;
	bool shared; /* found by a dwz link: its build ID differs from the file's */
	char *path;  /* of the debug file that was found */
};

static bool has_id(Elf *elf, const struct search *s)
{
	const void *bytes = NULL;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &bytes);

	return n > 0 && (size_t)n == s->id_bytes && !memcmp(bytes, s->id, s->id_bytes);
}

static bool has_crc(Elf *elf, uint32_t crc)
{
	size_t n = 0;
	const char *bytes = elf_rawfile(elf, &n);

	return bytes && crc32_of(bytes, n) == crc;
}

static bool is_right(int fd, const struct search *s)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool right = elf && elf_kind(elf) == ELF_K_ELF &&
		     (s->shared || (s->id ? has_id(elf, s) : has_crc(elf, s->crc)));

	elf_end(elf);
	return right;
}

/*
 * A debug file of another user for root's program: root must not parse the file in its own process.
 */
static bool is_refused(const struct search *s, const struct dso_file *file, const char *path)
{
	char program[256], debug[256];

	if (!s->dso->is_roots || !file->copied_bytes)
		return false;
	log_notice("%s is root's and its debug file %s is not: it is left out; chown it to root",
		   text_printable(program, sizeof(program), s->dso->path),
		   text_printable(debug, sizeof(debug), path));
	return true;
}

/* Owns path. Returns the descriptor of the debug file, or -1. */
static int try_path(struct search *s, char *path)
{
	struct dso_file file;

	if (!dso_file_open(&file, path, false)) {
		if (!is_refused(s, &file, path) &&
		    (file.st.st_ino != s->dso->st.st_ino || file.st.st_dev != s->dso->st.st_dev) &&
		    is_right(file.fd, s)) {
			s->path = path;
			s->dso->copied_bytes += file.copied_bytes;
			return dso_file_take(&file);
		}
		dso_file_close(&file);
	}
	free(path);
	return -1;
}

static int try_build_id(struct search *s)
{
	struct text path = { 0 };

	if (!s->id || s->id_bytes < 2)
		return -1;
	text_printf(&path, DEBUG_ROOT "/.build-id/%02x/", s->id[0]);
	for (size_t i = 1; i < s->id_bytes; i++)
		text_printf(&path, "%02x", s->id[i]);
	text_add(&path, ".debug");
	return try_path(s, path.s);
}

static int try_beside(struct search *s, const char *path, const char *name)
{
	static const char *const places[] = { "%s/%s", "%s/.debug/%s", DEBUG_ROOT "%s/%s" };
	char *copy = xstrdup(path), *dir = dirname(copy);
	int fd = -1;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++)
		fd = try_path(s, xasprintf(places[i], dir, name));
	free(copy);
	return fd;
}

/*
 * A link in another user's directory may lead to root's program, so root looks only beside the
 * program itself.
 */
static int try_link(struct search *s, const char *path, const char *name)
{
	char *real = realpath(path, NULL);
	int fd = s->dso->is_roots ? -1 : try_beside(s, path, name);

	if (fd < 0 && real && (s->dso->is_roots || strcmp(real, path) != 0))
		fd = try_beside(s, real, name);
	free(real);
	return fd;
}

static bool is_plain_name(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/*
 * Tries the name of a file that several debug files share, as dwz makes it. The name may lead to
 * the directory of debug files, or to a file at or below the directory of path.
 */
static int try_shared(struct search *s, const char *path, const char *name)
{
	char *copy = xstrdup(path), *dir = realpath(dirname(copy), NULL);
	char *whole = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir ? dir : ".", name);
	char *real = realpath(whole, NULL);
	size_t n = dir ? strlen(dir) : 0;
	int fd = -1;

	if (real && (!strncmp(real, DEBUG_ROOT "/", strlen(DEBUG_ROOT) + 1) ||
		     (n && !strncmp(real, dir, n) && real[n] == '/'))) {
		fd = try_path(s, real);
		real = NULL;
	}
	free(real);
	free(whole);
	free(dir);
	free(copy);
	return fd;
}

/*
 * Keeps libdwfl's own search from finding files before it asks debuginfod: this directory does not
 * exist.
 */
static char *nowhere = "/nonexistent";

static const struct {
	const char *name, *value;
} bounds[] = {
	{ "DEBUGINFOD_MAXTIME", SERVER_SECONDS },
	{ "DEBUGINFOD_MAXSIZE", SERVER_BYTES },
};

#define BOUNDS (sizeof(bounds) / sizeof(*bounds))

/* Without limits, a server could send a file forever. is_ours: those that the user has not set. */
static bool bound_debuginfod(bool is_ours[BOUNDS])
{
	bool bounded = true;

	for (size_t i = 0; i < BOUNDS; i++) {
		is_ours[i] = !getenv(bounds[i].name);
		bounded &= !setenv(bounds[i].name, bounds[i].value, 0);
	}
	return bounded;
}

static int ask_debuginfod(Dwfl_Module *module, void **dso_there, const char *name, Dwarf_Addr base,
			  const char *path, char **found)
{
	bool is_ours[BOUNDS];
	int fd = -1;

	if (bound_debuginfod(is_ours))
		fd = dwfl_standard_find_debuginfo(module, dso_there, name, base, path, NULL, 0,
						  found);
	for (size_t i = 0; i < BOUNDS; i++)
		if (is_ours[i]) /* or the command that is started would have it */
			unsetenv(bounds[i].name);
	return fd;
}

static int callback(Dwfl_Module *module, void **dso_there, const char *name, Dwarf_Addr base,
		    const char *path, const char *link, GElf_Word crc, char **found)
{
	struct search s = { .dso = *dso_there, .crc = crc };
	GElf_Addr where;
	int id_bytes, fd = -1;

	/* A link without a checksum names the file that several debug files share (dwz). */
	if (link && !crc) {
		s.shared = true;
		fd = try_shared(&s, path, link);
		s.dso->shared_found |= fd >= 0;
		*found = s.path;
		return fd;
	}
	id_bytes = dwfl_module_build_id(module, &s.id, &where);
	s.id_bytes = id_bytes > 0 ? (size_t)id_bytes : 0;
	if (!s.id_bytes)
		s.id = NULL;
	fd = try_build_id(&s);
	if (fd < 0 && is_plain_name(link))
		fd = try_link(&s, path, link);
	*found = s.path;
	if (fd < 0 && !s.dso->parser && getenv("DEBUGINFOD_URLS"))
		fd = ask_debuginfod(module, dso_there, name, base, path, found);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf, /* never called: dwfl_report_elf() passes the file */
	.find_debuginfo = callback,
	.debuginfo_path = &nowhere,
};

/* At base 0, with p_vaddr added, libdwfl's addresses equal the file's own. */
Dwfl_Module *dso_module(struct dso *dso)
{
	void **user = NULL;
	int fd;

	if (dso->module_tried)
		return dso->module;
	dso->module_tried = true;
	fd = fcntl(dso->fd, F_DUPFD_CLOEXEC, 0);
	dso->dwfl = dwfl_begin(&callbacks);
	if (fd < 0 || !dso->dwfl)
		goto out;
	dwfl_report_begin(dso->dwfl);
	dso->module = dwfl_report_elf(dso->dwfl, dso->path, dso->path, fd, 0, true);
	dwfl_report_end(dso->dwfl, NULL, NULL);
	if (dso->module) {
		dwfl_module_info(dso->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
		*user = dso;
		fd = -1; /* libdwfl owns it now */
	}
out:
	if (fd >= 0)
		close(fd);
	return dso->module;
}

void dso_no_other_files(struct dso *dso, Dwarf *dwarf)
{
	const char *name;
	const void *id;

	if (dwarf && !dso->shared_found && dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) > 0)
		dwarf_setalt(dwarf, dwarf);
}

/*
 * Whether the path leads to a regular file, or nowhere; if root reads the dso, also whether nobody
 * else can change the path.
 */
static bool leads_to_file(const struct dso *dso, const char *dir, const char *name)
{
	char *path = *name == '/' || !dir ? xstrdup(name) : xasprintf("%s/%s", dir, name);
	struct stat st;
	bool is_file = stat(path, &st) || S_ISREG(st.st_mode);

	if (dso->is_roots)
		is_file &= place_is_safe(path, 0);
	free(path);
	return is_file;
}

static const char *string_of(Dwarf_Die *unit, unsigned attribute)
{
	Dwarf_Attribute a;

	return dwarf_attr(unit, attribute, &a) ? dwarf_formstring(&a) : NULL;
}

/* libdw would open the .dwo file whatever it is, and wait forever at a FIFO. */
bool dso_split_unit(struct dso *dso, Dwarf_CU *cu, Dwarf_Die *unit, Dwarf_Die *split)
{
	const char *name = string_of(unit, DW_AT_dwo_name), *real_dir;
	char *real = realpath(dso->path, NULL);
	bool safe;

	if (!name)
		name = string_of(unit, DW_AT_GNU_dwo_name);
	real_dir = real ? dirname(real) : NULL;
	safe = name && leads_to_file(dso, real_dir, name) &&
	       leads_to_file(dso, string_of(unit, DW_AT_comp_dir), name);
	free(real);
	*split = (Dwarf_Die){ 0 };
	return safe && !dwarf_cu_info(cu, NULL, NULL, NULL, split, NULL, NULL, NULL) && split->addr;
}
