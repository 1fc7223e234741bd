/* SPDX-License-Identifier: MIT */
/*
 * Follows which thread makes which, and where threads wait for others' ends: these functions stand
 * before the library's own, which they call.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>

#include "probes/edges/runtime/runtime.h"

__thread struct edges_origin edges_origin;

/* ---- making ---- */

/* The start of a new thread. It is in pages of its own: the program's memory is left alone. */
struct start {
	void *(*run)(void *);
	thrd_start_t run_c11;
	void *arg;
	struct edges_origin origin;
};

static struct start *start_new(void *arg)
{
	struct edges_thread *t = edges_self();
	struct start *start = MAP_FAILED;

	if (t)
		start = mmap(NULL, sizeof(*start), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	*start = (struct start){ .arg = arg, .origin = edges_make(t) };
	return start;
}

static struct start start_take(struct start *start)
{
	struct start taken = *start;

	munmap(start, sizeof(*start));
	edges_origin = taken.origin;
	return taken;
}

static void *run_pthread(void *start)
{
	struct start s = start_take(start);

	return s.run(s.arg);
}

static int run_c11(void *start)
{
	struct start s = start_take(start);

	return s.run_c11(s.arg);
}

EDGES_PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
				void *arg)
{
	struct start *start = start_new(arg);
	int result;

	if (!start)
		return EDGES_NEXT(pthread_create)(thread, attr, run, arg);
	start->run = run;
	result = EDGES_NEXT(pthread_create)(thread, attr, run_pthread, start);
	if (result)
		munmap(start, sizeof(*start));
	return result;
}

EDGES_PUBLIC int thrd_create(thrd_t *thread, thrd_start_t run, void *arg)
{
	struct start *start = start_new(arg);
	int result;

	if (!start)
		return EDGES_NEXT(thrd_create)(thread, run, arg);
	start->run_c11 = run;
	result = EDGES_NEXT(thrd_create)(thread, run_c11, start);
	if (result != thrd_success)
		munmap(start, sizeof(*start));
	return result;
}

/* ---- waiting ---- */

/*
 * Where functions that wait call each other, the outermost is the one that the program called: its
 * call site.
 */
static __thread uintptr_t outermost __attribute__((tls_model("initial-exec")));

static void awaited(uint64_t thread, uintptr_t site)
{
	struct edges_thread *t = edges_self();

	if (t)
		edges_awaited(t, thread, outermost ? outermost : site);
}

EDGES_PUBLIC int pthread_join(pthread_t thread, void **value)
{
	int result = EDGES_NEXT(pthread_join)(thread, value);

	if (!result)
		awaited((uint64_t)thread, EDGES_HERE);
	return result;
}

EDGES_PUBLIC int pthread_tryjoin_np(pthread_t thread, void **value)
{
	int result = EDGES_NEXT(pthread_tryjoin_np)(thread, value);

	if (!result)
		awaited((uint64_t)thread, EDGES_HERE);
	return result;
}

EDGES_PUBLIC int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	int result = EDGES_NEXT(pthread_timedjoin_np)(thread, value, until);

	if (!result)
		awaited((uint64_t)thread, EDGES_HERE);
	return result;
}

EDGES_PUBLIC int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
				      const struct timespec *until)
{
	int result = EDGES_NEXT(pthread_clockjoin_np)(thread, value, clock, until);

	if (!result)
		awaited((uint64_t)thread, EDGES_HERE);
	return result;
}

EDGES_PUBLIC int thrd_join(thrd_t thread, int *value)
{
	int result = EDGES_NEXT(thrd_join)(thread, value);

	if (result == thrd_success)
		awaited((uint64_t)thread, EDGES_HERE);
	return result;
}

/* These functions end up in pthread_join(): std::thread::join(), libuv's and glib's. */
EDGES_PUBLIC void _ZNSt6thread4joinEv(void *thread);
EDGES_PUBLIC int uv_thread_join(void *thread);
EDGES_PUBLIC void *g_thread_join(void *thread);

void _ZNSt6thread4joinEv(void *thread)
{
	outermost = EDGES_HERE;
	EDGES_NEXT(_ZNSt6thread4joinEv)(thread);
	outermost = 0;
}

int uv_thread_join(void *thread)
{
	int result;

	outermost = EDGES_HERE;
	result = EDGES_NEXT(uv_thread_join)(thread);
	outermost = 0;
	return result;
}

void *g_thread_join(void *thread)
{
	void *result;

	outermost = EDGES_HERE;
	result = EDGES_NEXT(g_thread_join)(thread);
	outermost = 0;
	return result;
}
