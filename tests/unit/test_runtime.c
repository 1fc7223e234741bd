/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stack of a sample tells what a runtime works for. */
#include "unit.h"

#include <string.h>

#include "analysis/evidence/runtime.h"
#include "trace/meta/meta.h"

#define APP    "/usr/bin/app"
#define GOMP   "/lib/libgomp.so.1"
#define TBB    "/lib/libtbb.so.12"
#define C      "/lib/libc.so.6"
#define PAUSES "pause"
#define KERNEL "kernel"

struct at {
	const char *object, *symbol;
	const char *calls; /* NULL: not known; PAUSES: it is in a loop around a pause; KERNEL: it is
			    * in the kernel */
};

/* Innermost first, up to the first one without an object. */
static enum runtime_work work_at(const struct at *at)
{
	uint32_t numbers[8];
	struct meta_stack stack = { .frames = numbers };
	struct meta meta = { .session = { .machine = "x86_64" } };
	const bool kernel = at->calls && !strcmp(at->calls, KERNEL);
	enum runtime_work work;

	for (; at->object; at++) {
		numbers[stack.n_frames++] = (uint32_t)meta.frames.n;
		*vec_add(&meta.frames) =
			(struct meta_frame){ .object = at->object,
					     .symbol = at->symbol,
					     .calls = at->calls ? at->calls : "",
					     .file = "",
					     .spins = at->calls && !strcmp(at->calls, PAUSES) };
	}
	/* the loop in which it waits */
	*vec_add(&meta.frames) = (struct meta_frame){
		.object = GOMP, .symbol = "", .calls = "", .file = "", .spins = true
	};
	work = runtime_work_of(&meta, &stack, kernel);
	vec_release(&meta.frames);
	return work;
}

#define WORK(...) work_at((const struct at[]){ __VA_ARGS__, { NULL, NULL, NULL } })

static void openmp_hands_out_tasks_and_chunks(void **state)
{
	assert_int_equal(WORK({ GOMP, "", NULL }), RUNTIME_OPENMP);
	assert_int_equal(WORK({ GOMP, "", PAUSES }), RUNTIME_NONE);
	/* it may fall asleep there */
	assert_int_equal(WORK({ GOMP, "", KERNEL }), RUNTIME_NONE);
	assert_int_equal(WORK({ GOMP, "", NULL }, { APP, "fib", "GOMP_task" }),
			 RUNTIME_OPENMP_TASKS);
	assert_int_equal(WORK({ GOMP, "", KERNEL }, { APP, "fib", "GOMP_task" }),
			 RUNTIME_OPENMP_TASKS);
	assert_int_equal(WORK({ C, "malloc", NULL }, { APP, "fib", "GOMP_task" }),
			 RUNTIME_OPENMP_TASKS);
	assert_int_equal(WORK({ GOMP, "GOMP_taskwait", NULL }, { APP, "fib", NULL }),
			 RUNTIME_OPENMP_TASKS);
	assert_int_equal(WORK({ GOMP, "gomp_iter_dynamic_next", NULL },
			      { GOMP, "GOMP_loop_dynamic_next", NULL }, { APP, "main", NULL }),
			 RUNTIME_OPENMP_CHUNKS);
	/* a task that the program runs there, which allocates */
	assert_int_equal(
		WORK({ C, "malloc", NULL }, { APP, "task", "malloc" }, { GOMP, "GOMP_task", NULL }),
		RUNTIME_NONE);
	assert_int_equal(WORK({ APP, "task", NULL }, { GOMP, "GOMP_task", NULL }), RUNTIME_NONE);
	/* what waits at barriers and locks is said elsewhere */
	assert_int_equal(WORK({ GOMP, "GOMP_barrier", NULL }), RUNTIME_NONE);
}

static void tbb_hands_out_tasks(void **state)
{
	assert_int_equal(WORK({ TBB, "", NULL }), RUNTIME_TBB);
	assert_int_equal(WORK({ TBB, "", PAUSES }), RUNTIME_NONE);
	assert_int_equal(WORK({ C, "memset", NULL }, { TBB, "", NULL }, { APP, "fib", NULL }),
			 RUNTIME_TBB);
	assert_int_equal(WORK({ APP, "task", NULL }, { TBB, "", NULL }), RUNTIME_NONE);
}

static void go_collects_and_switches(void **state)
{
	assert_int_equal(WORK({ APP, "runtime.scanobject", NULL }, { APP, "runtime.gcDrain", NULL },
			      { APP, "runtime.goexit", NULL }),
			 RUNTIME_GO_MEMORY);
	assert_int_equal(WORK({ APP, "runtime.memclrNoHeapPointers", NULL },
			      { APP, "runtime.mallocgc", NULL }, { APP, "main.build", NULL }),
			 RUNTIME_GO_MEMORY);
	assert_int_equal(WORK({ APP, "runtime.lock2", NULL }, { APP, "runtime.chanrecv", NULL },
			      { APP, "main.stage", NULL }),
			 RUNTIME_GO_SWITCHING);
	assert_int_equal(WORK({ APP, "runtime.schedule", NULL },
			      { APP, "runtime.semacquire1", NULL },
			      { APP, "sync.(*Mutex).lockSlow", NULL },
			      { APP, "sync.(*Mutex).Lock", NULL }, { APP, "main.update", NULL }),
			 RUNTIME_GO_CONTENTION);
	assert_int_equal(WORK({ APP, "sync.runtime_SemacquireRWMutexR", NULL },
			      { APP, "sync.(*RWMutex).RLock", NULL }, { APP, "main.get", NULL }),
			 RUNTIME_GO_CONTENTION);
	assert_int_equal(WORK({ APP, "sync.(*Mutex).Unlock", NULL }, { APP, "main.get", NULL }),
			 RUNTIME_GO_MUTEX);
	assert_int_equal(WORK({ APP, "main.work", NULL }, { APP, "runtime.schedule", NULL }),
			 RUNTIME_NONE);
	assert_int_equal(WORK({ APP, "runtime.mapaccess1", NULL }, { APP, "main.get", NULL }),
			 RUNTIME_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openmp_hands_out_tasks_and_chunks),
		cmocka_unit_test(tbb_hands_out_tasks),
		cmocka_unit_test(go_collects_and_switches),
	};

	return unit_run(tests);
}
