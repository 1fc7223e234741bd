/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/section/parallel_role.h"

#include <stddef.h>
#include <string.h>

#include "trace/meta/meta.h"

#define BARRIERS(X)               \
	X("pthread_barrier_wait") \
	X("uv_barrier_wait")      \
	X("GOMP_barrier")         \
	X("GOMP_barrier_cancel")  \
	X("GOMP_loop_end")        \
	X("GOMP_sections_end")    \
	X("__kmpc_barrier")

#define JOINS(X)                  \
	X("pthread_join")         \
	X("pthread_timedjoin_np") \
	X("pthread_clockjoin_np") \
	X("thrd_join")            \
	X("_ZNSt6thread4joinEv")  \
	X("uv_thread_join")       \
	X("g_thread_join")

#define REGIONS(X)         \
	X("GOMP_parallel") \
	X("__kmpc_fork_call")

/* GCC and clang append these to a function's name to name the body of a parallel region in it. */
#define BODIES(X)          \
	X("._", "omp_fn.") \
	X(".", "omp_outlined")

#define BARRIER(symbol)		       { symbol, ROLE_BARRIER },
#define JOIN(symbol)		       { symbol, ROLE_JOIN },
#define REGION(symbol)		       { symbol, ROLE_REGION },
#define PATTERN(symbol)		       symbol,
#define BODY(separator, mark)	       separator mark,
#define BODY_PATTERN(separator, mark)  "*" separator mark "*",
#define BEGIN_PATTERN(separator, mark) "*" mark "*",
/* callgrind appends the version to names: pthread_barrier_wait@@GLIBC_2.34 */
#define VERSIONED(symbol) symbol, symbol "@*",
/* The demangled name of the C++ function, which callgrind and stacks use. */
#define CXX_JOIN "std::thread::join()"

static const struct {
	const char *symbol;
	enum role role;
} rows[] = { BARRIERS(BARRIER) JOINS(JOIN) REGIONS(REGION) };

static const char *const body_marks[] = { BODIES(BODY) };

const char *const parallel_patterns[] = { BARRIERS(PATTERN) JOINS(PATTERN) REGIONS(PATTERN)
						  BODIES(BODY_PATTERN) NULL };
const char *const parallel_regions[] = { REGIONS(PATTERN) BODIES(BODY_PATTERN) NULL };
const char *const parallel_barriers[] = { BARRIERS(VERSIONED) NULL };
/* Other functions that create threads call this one. */
const char *const parallel_makers[] = { VERSIONED("pthread_create") NULL };
/* glibc calls this function in each new thread before any other function with a name. */
const char *const parallel_births[] = { VERSIONED("__ctype_init") NULL };
const char *const parallel_joins[] = { JOINS(VERSIONED) CXX_JOIN, NULL };
const char *const parallel_begins[] = { BODIES(BEGIN_PATTERN) NULL };
const char *const parallel_bodies[] = { BODIES(BODY_PATTERN) NULL };

static enum role role_of(const char *symbol)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].symbol, symbol))
			return rows[i].role;
	return ROLE_NONE;
}

bool parallel_role_joins(const char *symbol)
{
	return role_of(symbol) == ROLE_JOIN || !strcmp(symbol, CXX_JOIN);
}

/* In full, or without its parameters: "Store.get" for "Store.get(int)". */
static bool has_name(const char *name, const char *named)
{
	size_t n = strlen(named);

	return !strncmp(name, named, n) && (!name[n] || name[n] == '(');
}

enum role parallel_role(const struct meta_function *f, const char *named)
{
	if (named && (has_name(f->name, named) || !strcmp(named, f->symbol)))
		return ROLE_NAMED;
	if (named)
		return ROLE_NONE;
	if (!strcmp(f->block, "marker"))
		return ROLE_NAMED;
	for (size_t i = 0; i < sizeof(body_marks) / sizeof(body_marks[0]); i++)
		if (strstr(f->symbol, body_marks[i]))
			return ROLE_BODY;
	return role_of(f->symbol);
}
