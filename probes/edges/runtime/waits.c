/* SPDX-License-Identifier: MIT */
/*
 * Where sections end: what threads wait in for each other stands before the library's own, which it
 * calls. GCC's OpenMP library (libgomp) and LLVM's (libomp) are told to run a body of ours, which
 * runs the region's.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/edges/runtime/runtime.h"

void *edges_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		abort();
	return found;
}

static __thread uint64_t region __attribute__((tls_model("initial-exec")));

/* result: of the call that waits. object 0: it has none, all of a region's threads are meant. */
#define WAIT(object, call)                                                              \
	do {                                                                            \
		struct edges_thread *t = edges_self();                                  \
		uint64_t cut = t ? edges_cut(t, EDGES_BARRIER, EDGES_HERE, object) : 0; \
		call;                                                                   \
		if (t)                                                                  \
			edges_go_on(t, cut);                                            \
	} while (0)

/* ---- barriers ---- */

EDGES_PUBLIC int uv_barrier_wait(void *barrier);
EDGES_PUBLIC void GOMP_barrier(void);
EDGES_PUBLIC bool GOMP_barrier_cancel(void);
EDGES_PUBLIC void GOMP_loop_end(void);
EDGES_PUBLIC void GOMP_sections_end(void);
EDGES_PUBLIC void __kmpc_barrier(void *where, int32_t thread);

EDGES_PUBLIC int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	int result;

	WAIT((uintptr_t)barrier, result = EDGES_NEXT(pthread_barrier_wait)(barrier));
	return result;
}

int uv_barrier_wait(void *barrier)
{
	int result;

	WAIT((uintptr_t)barrier, result = EDGES_NEXT(uv_barrier_wait)(barrier));
	return result;
}

void GOMP_barrier(void)
{
	WAIT(region, EDGES_NEXT(GOMP_barrier)());
}

bool GOMP_barrier_cancel(void)
{
	bool result;

	WAIT(region, result = EDGES_NEXT(GOMP_barrier_cancel)());
	return result;
}

void GOMP_loop_end(void)
{
	WAIT(region, EDGES_NEXT(GOMP_loop_end)());
}

void GOMP_sections_end(void)
{
	WAIT(region, EDGES_NEXT(GOMP_sections_end)());
}

void __kmpc_barrier(void *where, int32_t thread)
{
	WAIT(region, EDGES_NEXT(__kmpc_barrier)(where, thread));
}

/* ---- OpenMP regions ---- */

static uint64_t next_region(void)
{
	static uint64_t regions;

	return __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED);
}

/* Begins one thread's part of a region; returns the region that the thread was in before. */
static uint64_t body_begin(uint64_t number)
{
	struct edges_thread *t = edges_self();
	uint64_t before = region;

	region = number;
	if (t)
		edges_drop(t);
	return before;
}

static void body_end(uintptr_t function, uint64_t before)
{
	struct edges_thread *t = edges_self();

	if (t)
		edges_go_on(t, edges_cut(t, EDGES_BODY, function, region));
	region = before;
}

typedef void (*gomp_body)(void *data);

struct gomp {
	gomp_body body;
	void *data;
	uint64_t number;
};

static void run_gomp(void *data)
{
	const struct gomp *g = data;
	uint64_t before = body_begin(g->number);

	g->body(g->data);
	body_end((uintptr_t)g->body, before);
}

/* GOMP_parallel and what a loop is joined with: arguments behind the data differ. */
#define PARALLEL(type, name, parameters, ...)                                           \
	EDGES_PUBLIC type name parameters;                                              \
	type name parameters                                                            \
	{                                                                               \
		struct gomp g = { body, data, next_region() };                          \
                                                                                        \
		return EDGES_NEXT(name)(edges_self() ? run_gomp : body,                 \
					edges_self() ? (void *)&g : data, __VA_ARGS__); \
	}

#define LOOP(kind)                                                                               \
	PARALLEL(void, GOMP_parallel_loop_##kind,                                                \
		 (gomp_body body, void *data, unsigned threads, long start, long end, long step, \
		  long chunk, unsigned flags),                                                   \
		 threads, start, end, step, chunk, flags)
#define LOOP_RUNTIME(kind)                                                                       \
	PARALLEL(void, GOMP_parallel_loop_##kind,                                                \
		 (gomp_body body, void *data, unsigned threads, long start, long end, long step, \
		  unsigned flags),                                                               \
		 threads, start, end, step, flags)

PARALLEL(void, GOMP_parallel, (gomp_body body, void *data, unsigned threads, unsigned flags),
	 threads, flags)
PARALLEL(unsigned, GOMP_parallel_reductions,
	 (gomp_body body, void *data, unsigned threads, unsigned flags), threads, flags)
PARALLEL(void, GOMP_parallel_sections,
	 (gomp_body body, void *data, unsigned threads, unsigned count, unsigned flags), threads,
	 count, flags)
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP_RUNTIME(runtime)
LOOP_RUNTIME(nonmonotonic_runtime)
LOOP_RUNTIME(maybe_nonmonotonic_runtime)

/* The most pointers that a region of clang's shares. */
#define SHARED_MAX    48
#define FOUR(s, i)    s[i], s[(i) + 1], s[(i) + 2], s[(i) + 3]
#define SIXTEEN(s, i) FOUR(s, i), FOUR(s, (i) + 4), FOUR(s, (i) + 8), FOUR(s, (i) + 12)

typedef void (*kmpc_body)(int32_t *thread, int32_t *bound, ...);

struct kmpc {
	kmpc_body body;
	uint64_t number;
	void *shared[SHARED_MAX];
};

/* Arguments that the body does not take do no harm: on both machines the caller removes them. */
static void run_kmpc(int32_t *thread, int32_t *bound, const struct kmpc *k)
{
	uint64_t before = body_begin(k->number);

	k->body(thread, bound, SIXTEEN(k->shared, 0), SIXTEEN(k->shared, 16),
		SIXTEEN(k->shared, 32));
	body_end((uintptr_t)k->body, before);
}

EDGES_PUBLIC void __kmpc_fork_call(void *where, int32_t n, kmpc_body body, ...);

void __kmpc_fork_call(void *where, int32_t n, kmpc_body body, ...)
{
	struct kmpc k = { .body = body, .number = next_region() };
	va_list list;

	if (n > SHARED_MAX) {
		fprintf(stderr, "libispot-edges: an OpenMP region shares more than %d variables\n",
			SHARED_MAX);
		abort();
	}
	va_start(list, body);
	for (int32_t i = 0; i < n; i++)
		k.shared[i] = va_arg(list, void *);
	va_end(list);
	EDGES_NEXT(__kmpc_fork_call)(where, 1, (kmpc_body)(void (*)(void))run_kmpc, &k);
}
