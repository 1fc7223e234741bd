/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/parallel_role.h"

#include <stddef.h>
#include <string.h>

#include "trace/meta.h"

static const struct {
	const char *symbol;
	enum role role;
} rows[] = {
	{ "pthread_barrier_wait", ROLE_BARRIER },
	{ "uv_barrier_wait", ROLE_BARRIER },
	{ "GOMP_barrier", ROLE_BARRIER },
	{ "GOMP_barrier_cancel", ROLE_BARRIER },
	{ "GOMP_loop_end", ROLE_BARRIER },
	{ "GOMP_sections_end", ROLE_BARRIER },
	{ "__kmpc_barrier", ROLE_BARRIER },
	{ "pthread_join", ROLE_JOIN },
	{ "thrd_join", ROLE_JOIN },
	{ "_ZNSt6thread4joinEv", ROLE_JOIN },
	{ "uv_thread_join", ROLE_JOIN },
	{ "g_thread_join", ROLE_JOIN },
	{ "GOMP_parallel", ROLE_REGION },
	{ "__kmpc_fork_call", ROLE_REGION },
};

/* What GCC and clang call the function that a region's body becomes. */
static const char *const body_marks[] = { "._omp_fn.", ".omp_outlined" };

enum role parallel_role(const struct meta_function *f, const char *named)
{
	if (named && (!strcmp(named, f->name) || !strcmp(named, f->symbol)))
		return ROLE_NAMED;
	if (named)
		return ROLE_NONE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].symbol, f->symbol))
			return rows[i].role;
	for (size_t i = 0; i < sizeof(body_marks) / sizeof(body_marks[0]); i++)
		if (strstr(f->symbol, body_marks[i]))
			return ROLE_BODY;
	return ROLE_NONE;
}
