/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/library/ldcache.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/regular.h"

/* Bounds above what ldconfig writes: a program may name any file as its loader's cache. */
#define CACHE_BYTES_MAX (64u << 20)
#define ENTRIES_MAX	(1u << 17)
#define EXTENSIONS_MAX	64
#define STRING_MAX	4096

/* ---- subdirectories by the features of the CPU ---- */

static bool cpu_has(unsigned level)
{
#if defined(__x86_64__)
	switch (level) {
	case 4:
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512vl") && cpu_has(3);
	case 3:
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
		       cpu_has(2);
	default:
		return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3") &&
		       __builtin_cpu_supports("popcnt");
	}
#else
	(void)level;
	return false;
#endif
}

const char *const *hwcaps_names(void)
{
	static const char *names[4];
	static bool known;
	size_t n = 0;

	if (known)
		return names;
	known = true;
	if (cpu_has(4))
		names[n++] = "x86-64-v4";
	if (cpu_has(3))
		names[n++] = "x86-64-v3";
	if (cpu_has(2))
		names[n++] = "x86-64-v2";
	return names;
}

uint32_t hwcaps_rank(const char *name, size_t n)
{
	const char *const *names = hwcaps_names();

	for (uint32_t i = 0; names[i]; i++)
		if (strlen(names[i]) == n && !strncmp(names[i], name, n))
			return i;
	return UINT32_MAX;
}

/* ---- the file: sysdeps/generic/dl-cache.h of glibc ---- */

#define OLD_MAGIC	"ld.so-1.7.0"
#define NEW_MAGIC	"glibc-ld.so.cache1.1"
#define OLD_HEAD_BYTES	16
#define OLD_ENTRY_BYTES 12

struct cache_head {
	char magic[20];
	uint32_t n, string_bytes;
	uint8_t flags, unused[3];
	uint32_t extensions; /* offset; 0: none */
	uint32_t unused_too[3];
};

struct cache_entry {
	uint32_t flags, key, value, os;
	uint64_t hwcap;
};

/*
 * If this bit of the upper half of hwcap is the only one, the lower half numbers a subdirectory of
 * glibc-hwcaps. Other bits name CPUs in a way that glibc gave up in 2.37.
 */
#define HWCAP_EXTENSION (1u << 30)

#define EXTENSIONS_MAGIC 0xeaa42174u
#define SECTION_HWCAPS	 1u

struct extension {
	uint32_t tag, flags, offset, bytes;
};

static const uint32_t library_flags[] = {
	[DSO_X86_64] = 0x303,
	[DSO_AARCH64] = 0xa03,
};

static bool read_at(const struct ldcache *c, uint64_t offset, void *out, size_t n)
{
	if (offset > c->n || n > c->n - offset)
		return false;
	memcpy(out, c->data + offset, n);
	return true;
}

static const char *string_at(const struct ldcache *c, uint32_t offset)
{
	uint64_t at = c->base + (uint64_t)offset;
	const char *s = (const char *)c->data + at;
	size_t room;

	if (at >= c->n)
		return NULL;
	room = c->n - at < STRING_MAX ? c->n - at : STRING_MAX;
	return strnlen(s, room) < room ? s : NULL;
}

/* Compares with s only: a damaged string may have no end. */
static bool is_string(const struct ldcache *c, uint32_t offset, const char *s)
{
	uint64_t at = c->base + (uint64_t)offset;
	size_t bytes = strlen(s) + 1;

	return at < c->n && bytes <= c->n - at && !memcmp(c->data + at, s, bytes);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Returns the name of the subdirectory with that number, or NULL if the file has no such number. */
static const char *hwcaps_name(const struct ldcache *c, const struct cache_head *head,
			       uint32_t number)
{
	uint64_t at = c->base + (uint64_t)head->extensions;
	struct extension e;
	uint32_t words[2], name, n;

	if (!head->extensions || !read_at(c, at, words, sizeof(words)) ||
	    words[0] != EXTENSIONS_MAGIC)
		return NULL;
	at += sizeof(words);
	n = least(words[1], EXTENSIONS_MAX);
	for (uint32_t i = 0; i < n && read_at(c, at, &e, sizeof(e)); i++, at += sizeof(e)) {
		if (e.tag != SECTION_HWCAPS)
			continue;
		if (number >= e.bytes / sizeof(name) ||
		    !read_at(c, c->base + (uint64_t)e.offset + number * sizeof(name), &name,
			     sizeof(name)))
			return NULL;
		return string_at(c, name);
	}
	return NULL;
}

/*
 * Returns the rank of an entry, a lower one being better, or UINT32_MAX if this CPU cannot use it.
 */
static uint32_t rank_of(const struct ldcache *c, const struct cache_head *head, uint64_t hwcap)
{
	const char *name;

	if (!hwcap)
		return UINT32_MAX - 1;
	if (hwcap >> 32 != HWCAP_EXTENSION)
		return UINT32_MAX;
	name = hwcaps_name(c, head, (uint32_t)hwcap);
	return name ? hwcaps_rank(name, strlen(name)) : UINT32_MAX;
}

const char *ldcache_find(const struct ldcache *c, const char *name, enum dso_machine machine,
			 uint64_t *compared)
{
	uint64_t at = c->base + sizeof(struct cache_head);
	uint32_t best_rank = UINT32_MAX, n;
	const char *best = NULL;
	struct cache_head head;
	struct cache_entry e;

	if (!c->data || machine == DSO_OTHER || !read_at(c, c->base, &head, sizeof(head)))
		return NULL;
	n = least(head.n, ENTRIES_MAX);
	for (uint32_t i = 0; i < n && read_at(c, at, &e, sizeof(e)); i++, at += sizeof(e)) {
		uint32_t rank;

		++*compared;
		if (e.flags != library_flags[machine] || !is_string(c, e.key, name))
			continue;
		rank = rank_of(c, &head, e.hwcap);
		if (rank >= best_rank)
			continue;
		best_rank = rank;
		best = string_at(c, e.value);
	}
	return best;
}

static bool is_new(const struct ldcache *c, size_t at)
{
	return at <= c->n && c->n - at >= sizeof(struct cache_head) &&
	       !memcmp(c->data + at, NEW_MAGIC, sizeof(NEW_MAGIC) - 1);
}

/* The new format begins the file, or follows the old one. */
static bool find_new(struct ldcache *c)
{
	uint32_t n;
	uint64_t at;

	if (is_new(c, 0))
		return true;
	if (!read_at(c, sizeof(OLD_MAGIC), &n, sizeof(n)) ||
	    memcmp(c->data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1) != 0)
		return false;
	at = (OLD_HEAD_BYTES + (uint64_t)n * OLD_ENTRY_BYTES + 7) & ~(uint64_t)7;
	c->base = at;
	return is_new(c, at);
}

static void read_file(struct ldcache *c, int fd)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > CACHE_BYTES_MAX)
		return;
	c->data = xmalloc((size_t)st.st_size);
	for (; c->n < (size_t)st.st_size; c->n += (size_t)n) {
		n = read(fd, c->data + c->n, (size_t)st.st_size - c->n);
		if (n <= 0)
			break;
	}
	if (!find_new(c))
		ldcache_release(c);
}

void ldcache_open(struct ldcache *cache, const char *path)
{
	int fd = regular_open(path, NULL);

	*cache = (struct ldcache){ 0 };
	if (fd < 0)
		return;
	read_file(cache, fd);
	close(fd);
}

void ldcache_release(struct ldcache *cache)
{
	free(cache->data);
	*cache = (struct ldcache){ 0 };
}
