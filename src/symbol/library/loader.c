/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/library/loader.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/regular.h"
#include "base/text.h"
#include "symbol/dso/dso.h"

#define DIRECTORIES_MAX 32
#define FILE_BYTES_MAX	(64u << 10)

static void add_directory(struct loader *l, const char *s, size_t n)
{
	while (n > 1 && s[n - 1] == '/')
		n--;
	if (n && l->directories.n < DIRECTORIES_MAX)
		*vec_add(&l->directories) = xstrndup(s, n);
}

static void forget_directories(struct loader *l)
{
	vec_for_each (&l->directories, char *, d)
		free(*d);
	vec_release(&l->directories);
}

/* Returns the beginning of a small text file, or NULL if it cannot be opened. */
static char *read_text(const char *path)
{
	int fd = regular_open(path, NULL);
	char *s = NULL;
	ssize_t n;

	if (fd < 0)
		return NULL;
	s = xcalloc(1, FILE_BYTES_MAX + 1);
	n = read(fd, s, FILE_BYTES_MAX);
	s[n < 0 ? 0 : n] = '\0';
	close(fd);
	return s;
}

/* ---- glibc ---- */

/*
 * Returns the length of the directory name at s, which ends with a slash and a NUL, or 0 if there
 * is no such name.
 */
static size_t directory_at(const uint8_t *s, size_t n)
{
	size_t i = 0;

	if (!n || s[0] != '/')
		return 0;
	while (i < n && s[i] > ' ' && s[i] < 0x7f)
		i++;
	return i > 1 && i < n && !s[i] && s[i - 1] == '/' && memmem(s, i, "/lib", 4) ? i : 0;
}

/*
 * glibc keeps its directories as consecutive strings: "/lib64/\0/usr/lib64/\0". The longest series
 * of such strings in the file is taken for them.
 */
static void find_directories(struct loader *l, const uint8_t *bytes, size_t n)
{
	size_t best = 0, best_bytes = 0;

	for (size_t i = 0; i < n; i++) {
		size_t start = i, one;

		if (bytes[i] != '/' || (i && bytes[i - 1]))
			continue;
		while ((one = directory_at(bytes + i, n - i)) > 0)
			i += one + 1;
		if (i - start > best_bytes) {
			best = start;
			best_bytes = i - start;
		}
		if (i > start)
			i--;
	}
	for (size_t i = best, one; i < best + best_bytes; i += one + 1) {
		one = strlen((const char *)bytes + i);
		add_directory(l, (const char *)bytes + i, one);
	}
}

/* Returns the path in the file that ends with end, or NULL if there is none. */
static const char *find_path(const uint8_t *bytes, size_t n, const char *end)
{
	const uint8_t *at = memmem(bytes, n, end, strlen(end) + 1), *start = at;

	while (start && start > bytes && start[-1] > ' ' && start[-1] < 0x7f)
		start--;
	return start && *start == '/' ? (const char *)start : NULL;
}

static void default_directories(struct loader *l)
{
	static const char *const usual[] = { "/lib64", "/usr/lib64", "/lib", "/usr/lib" };

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		add_directory(l, usual[i], strlen(usual[i]));
}

/* Returns the CPU's name, as glibc substitutes it for $PLATFORM. */
static const char *platform_of_cpu(void)
{
	const char *platform = (const char *)getauxval(AT_PLATFORM);

#if defined(__x86_64__)
	if (__builtin_cpu_is("intel") && hwcaps_rank("x86-64-v3", 9) != UINT32_MAX)
		platform = "haswell";
#endif
	return platform ? platform : "";
}

static void open_glibc(struct loader *l, const struct dso *dso)
{
	const char *path, *first;
	size_t n;
	const uint8_t *image = dso_image(dso, &n);

	find_directories(l, image, n);
	if (!l->directories.n)
		default_directories(l);
	first = l->directories.data[0];
	l->lib = xstrdup(!strncmp(first, "/lib", 4) ? first + 1 : "lib");
	l->platform = platform_of_cpu();
	path = find_path(image, n, "/ld.so.cache");
	ldcache_open(&l->cache, path ? path : "/etc/ld.so.cache");
	path = find_path(image, n, "/ld.so.preload");
	l->preload = read_text(path ? path : "/etc/ld.so.preload");
	for (char *s = l->preload; s && (s = strchr(s, '#'));)
		for (; *s && *s != '\n'; s++)
			*s = ' ';
}

/* ---- musl ---- */

/* The list of PREFIX/lib/ld-musl-ARCH.so.1 is in PREFIX/etc/ld-musl-ARCH.path. */
static void open_musl(struct loader *l, const char *path)
{
	const char *name = text_base_name(path), *end = strstr(name, ".so");
	size_t prefix = (size_t)(name - path);
	char *list = NULL, *file;

	prefix -= prefix > 0;
	while (prefix && path[prefix - 1] != '/')
		prefix--;
	if (end) {
		file = xasprintf("%.*setc/%.*s.path", (int)prefix, path, (int)(end - name), name);
		list = read_text(file);
		free(file);
	}
	if (!list)
		list = xstrdup("/lib:/usr/local/lib:/usr/lib");
	for (const char *s = list; *s; s += strspn(s, ":\n")) {
		size_t n = strcspn(s, ":\n");

		add_directory(l, s, n);
		s += n;
	}
	free(list);
}

bool loader_is_library(const struct loader *l, const char *name)
{
	static const char *const parts[] = { "c", "pthread", "rt", "m", "dl", "util", "xnet" };

	if (!l->is_musl || strncmp(name, "lib", 3) != 0)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t n = strlen(parts[i]);

		if (!strncmp(name + 3, parts[i], n) && name[3 + n] == '.')
			return true;
	}
	return false;
}

/* ---- both ---- */

void loader_open(struct loader *l, struct dso *dso, const char *path)
{
	*l = (struct loader){ .machine = dso_machine(dso) };
	l->is_musl = !strncmp(text_base_name(path), "ld-musl-", 8);
	if (l->is_musl)
		open_musl(l, path);
	else
		open_glibc(l, dso);
}

void loader_release(struct loader *l)
{
	forget_directories(l);
	ldcache_release(&l->cache);
	free(l->lib);
	free(l->preload);
	*l = (struct loader){ 0 };
}

/* Returns the length of "$NAME" or "${NAME}" at s, or 0 if something else is there. */
static size_t token_at(const char *s, size_t n, const char *name)
{
	size_t bytes = strlen(name);
	bool braces = n > 1 && s[1] == '{';
	size_t all = 1 + bytes + (braces ? 2 : 0);

	if (n < all || strncmp(s + 1 + braces, name, bytes) != 0)
		return 0;
	if (braces)
		return s[all - 1] == '}' ? all : 0;
	return all < n && (isalnum((unsigned char)s[all]) || s[all] == '_') ? 0 : all;
}

static char *without(struct text *text)
{
	text_release(text);
	return NULL;
}

char *loader_expand(const struct loader *l, const char *s, size_t n, const char *origin)
{
	const struct {
		const char *name, *value;
	} tokens[] = { { "ORIGIN", origin },
		       { "LIB", l->is_musl ? NULL : l->lib },
		       { "PLATFORM", l->is_musl ? NULL : l->platform } };
	struct text out = { 0 };

	text_add(&out, "");
	for (size_t i = 0; i < n && out.n < PATH_MAX;) {
		size_t bytes = 0;

		for (size_t k = 0; s[i] == '$' && !bytes && k < sizeof(tokens) / sizeof(tokens[0]);
		     k++) {
			bytes = tokens[k].value ? token_at(s + i, n - i, tokens[k].name) : 0;
			if (bytes)
				text_add(&out, tokens[k].value);
		}
		if (!bytes && s[i] == '$' && l->is_musl)
			return without(&out);
		if (!bytes)
			text_addn(&out, s + i, 1);
		i += bytes ? bytes : 1;
	}
	return out.n < PATH_MAX ? out.s : without(&out); /* no longer path can be opened */
}
