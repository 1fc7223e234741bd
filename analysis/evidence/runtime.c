/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/evidence/runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analysis/threads/standard.h"
#include "trace/meta/meta.h"

/* Names as in standard_is_named(). Those of OpenMP count in its libraries, and where a program
 * calls these. */
static const struct {
	enum runtime_work work;
	const char *symbol;
} rows[] = {
	{ RUNTIME_OPENMP_TASKS, "GOMP_task*" },
	{ RUNTIME_OPENMP_TASKS, "gomp_task*" },
	{ RUNTIME_OPENMP_TASKS, "gomp_barrier_handle_tasks" },
	{ RUNTIME_OPENMP_TASKS, "__kmpc_omp_task*" },
	{ RUNTIME_OPENMP_TASKS, "__kmpc_taskloop*" },
	{ RUNTIME_OPENMP_TASKS, "__kmpc_taskgroup" },
	{ RUNTIME_OPENMP_CHUNKS, "GOMP_loop_*" },
	{ RUNTIME_OPENMP_CHUNKS, "gomp_iter_*" },
	{ RUNTIME_OPENMP_CHUNKS, "__kmpc_dispatch_next*" },
	{ RUNTIME_GO_MEMORY, "runtime.mallocgc*" },
	{ RUNTIME_GO_MEMORY, "runtime.newobject" },
	{ RUNTIME_GO_MEMORY, "runtime.growslice" },
	{ RUNTIME_GO_MEMORY, "runtime.gc*" },
	{ RUNTIME_GO_MEMORY, "runtime.bgsweep" },
	{ RUNTIME_GO_MEMORY, "runtime.bgscavenge" },
	{ RUNTIME_GO_MEMORY, "runtime.wbBufFlush*" },
	{ RUNTIME_GO_SWITCHING, "runtime.schedule" },
	{ RUNTIME_GO_SWITCHING, "runtime.park_m" },
	{ RUNTIME_GO_SWITCHING, "runtime.gopark*" },
	{ RUNTIME_GO_SWITCHING, "runtime.goready*" },
	{ RUNTIME_GO_SWITCHING, "runtime.Gosched" },
	{ RUNTIME_GO_SWITCHING, "runtime.chansend*" },
	{ RUNTIME_GO_SWITCHING, "runtime.chanrecv*" },
	{ RUNTIME_GO_SWITCHING, "runtime.selectgo" },
	{ RUNTIME_GO_CONTENTION, "sync.(*Mutex).lockSlow" },
	{ RUNTIME_GO_CONTENTION, "sync.(*Mutex).unlockSlow" },
	{ RUNTIME_GO_CONTENTION, "sync.(*RWMutex).rUnlockSlow" },
	{ RUNTIME_GO_CONTENTION, "sync.runtime_SemacquireMutex" },
	{ RUNTIME_GO_CONTENTION, "sync.runtime_SemacquireRWMutex*" },
	{ RUNTIME_GO_CONTENTION, "internal/sync.(*Mutex).lockSlow" },
	{ RUNTIME_GO_CONTENTION, "internal/sync.(*Mutex).unlockSlow" },
	{ RUNTIME_GO_CONTENTION, "internal/sync.runtime_SemacquireMutex" },
	{ RUNTIME_GO_MUTEX, "sync.(*Mutex).*" },
	{ RUNTIME_GO_MUTEX, "sync.(*RWMutex).*" },
	{ RUNTIME_GO_MUTEX, "internal/sync.(*Mutex).*" },
};

static enum runtime_work named(const char *symbol)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (standard_is_named(symbol, rows[i].symbol))
			return rows[i].work;
	return RUNTIME_NONE;
}

/* Returns whether the function is of Go's runtime, which is linked into the program. */
static bool is_of_go(const char *symbol)
{
	return !strncmp(symbol, "runtime.", strlen("runtime.")) ||
	       !strncmp(symbol, "sync.", strlen("sync.")) ||
	       !strncmp(symbol, "internal/", strlen("internal/"));
}

/* The stack of a thread that collects garbage, or looks for a goroutine, ends in the runtime. */
static enum runtime_work of_go(const struct meta *meta, const struct meta_stack *stack)
{
	enum runtime_work work = RUNTIME_NONE;
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		enum runtime_work here;

		if (*f->symbol && !is_of_go(f->symbol))
			break;
		here = named(f->symbol);
		/* Lock() calls lockSlow() */
		if (here == RUNTIME_GO_MUTEX && work == RUNTIME_GO_CONTENTION)
			here = work;
		work = here ? here : work;
	}
	return work;
}

/* Returns what a library works for, if no name of a function tells more. */
static enum runtime_work of_library(const char *object)
{
	return standard_is_openmp(object) ? RUNTIME_OPENMP
	       : standard_is_tbb(object)  ? RUNTIME_TBB
					  : RUNTIME_NONE;
}

static enum runtime_work of_libraries(const struct meta *meta, const struct meta_stack *stack)
{
	enum runtime_work work = RUNTIME_NONE, here;
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		if (!standard_is_library(f->object)) {
			here = i ? named(f->calls) : RUNTIME_NONE;
			return here ? here : work;
		}
		here = of_library(f->object) ? named(f->symbol) : RUNTIME_NONE;
		work = here ? here : work ? work : of_library(f->object);
	}
	return work;
}

/* A call that hands out a task may run it, or wait for others. */
enum runtime_work runtime_work_of_call(const char *object, const char *symbol)
{
	enum runtime_work work = standard_is_openmp(object) && !standard_wait_of(object, symbol)
					 ? named(symbol)
					 : RUNTIME_NONE;

	return work == RUNTIME_OPENMP_CHUNKS ? work : RUNTIME_NONE;
}

/* Without a name, the library may be in the kernel to fall asleep, which is no work. */
enum runtime_work runtime_work_of(const struct meta *meta, const struct meta_stack *stack,
				  bool kernel)
{
	const struct meta_frame *f = meta_frame_at(meta, stack, 0);
	enum runtime_work work;

	if (!f || f->spins || standard_spins(meta, stack))
		return RUNTIME_NONE;
	work = standard_is_library(f->object) ? of_libraries(meta, stack) : of_go(meta, stack);
	return kernel && work == RUNTIME_OPENMP ? RUNTIME_NONE : work;
}
