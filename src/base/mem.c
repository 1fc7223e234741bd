/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/temporary.h"

static const char *line = "ispot: out of memory; free some, or read a shorter recording\n";
static int exit_status = 1;
static void *reserve;
static size_t reserve_bytes;
static atomic_bool is_short;

void mem_exhausted_says(const char *new_line, int new_status)
{
	line = new_line;
	exit_status = new_status;
}

/* Uses nothing that allocates. */
void mem_exhausted(void)
{
	temporary_remove_all();
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(exit_status);
	_exit(exit_status);
}

void mem_reserve(size_t bytes)
{
	void *p;

	if (reserve)
		return;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		mem_exhausted();
	reserve_bytes = bytes;
	reserve = p;
}

bool mem_is_short(void)
{
	return atomic_load(&is_short);
}

/* Gives the reserve back. Returns whether it is worth asking for memory again: another thread may
 * have given it back since this one found no memory. */
static bool more(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static _Thread_local bool has_asked_again;
	bool again;

	pthread_mutex_lock(&lock);
	again = !has_asked_again && (reserve || atomic_load(&is_short));
	has_asked_again = again;
	if (reserve) {
		atomic_store(&is_short, true);
		munmap(reserve, reserve_bytes);
		reserve = NULL;
	}
	pthread_mutex_unlock(&lock);
	return again;
}

static void *must(void *p)
{
	if (!p)
		mem_exhausted();
	return p;
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	return p || !more() ? must(p) : xmalloc(size);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = n && size ? calloc(n, size) : calloc(1, 1);

	return p || !more() ? must(p) : xcalloc(n, size);
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	return p || !more() ? must(p) : xrealloc(old, size);
}

char *xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(xmalloc(n), s, n);
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = xmalloc(length + 1);

	memcpy(copy, s, length);
	copy[length] = '\0';
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n >= 0)
		return s;
	if (!more())
		mem_exhausted();
	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return must(n < 0 ? NULL : s);
}

#define ARENA_BLOCK_BYTES (64u << 10)
#define ARENA_ALIGN	  16

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) char data[];
};

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b;

	if (size > SIZE_MAX - sizeof(*b))
		must(NULL);
	b = xmalloc(sizeof(*b) + size);
	*b = (struct arena_block){ .size = size };
	return b;
}

/*
 * Returns the block to take size bytes from. A large request gets a block of its own, put behind
 * the block that is being filled.
 */
static struct arena_block *block_for(struct arena *arena, size_t size)
{
	struct arena_block *first = arena->blocks, *b;

	if (first && first->size - first->used >= size)
		return first;
	b = block_new(size > ARENA_BLOCK_BYTES / 4 ? size : ARENA_BLOCK_BYTES);
	if (first && b->size == size) {
		b->next = first->next;
		first->next = b;
	} else {
		b->next = first;
		arena->blocks = b;
	}
	return b;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *b;
	void *p;

	if (size > SIZE_MAX - ARENA_ALIGN)
		must(NULL);
	size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	b = block_for(arena, size);
	p = b->data + b->used;
	b->used += size;
	arena->used_bytes += size;
	return memset(p, 0, size);
}

char *arena_strdup(struct arena *arena, const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(arena_alloc(arena, n), s, n);
}

void arena_release(struct arena *arena)
{
	struct arena_block *b = arena->blocks, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	*arena = (struct arena){ 0 };
}
