/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/standard.h"

#include <ctype.h>
#include <string.h>

#include "analysis/threads/call.h"
#include "analysis/threads/threads.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/meta/wrapper.h"
#include "trace/waiting.h"

/* The beginnings of file names. Before 2.34, glibc had a separate library for threads. */
static const char *const libraries[][6] = {
	{ "libc.so.", "libc-2.", "libpthread", "ld-musl-", "libc.musl-", NULL },
	{ "libstdc++.so.", "libc++.so.", "libc++abi.so.", NULL },
	{ "libgomp.so.", "libgomp-", NULL },
	{ "libomp.so", "libomp5.so", "libiomp5.so", NULL },
	{ "libtbb.so.", "libtbb-", NULL },
};
/* INLINE: what libraries of C++ and Rust compile into programs; no others may call their functions
 * std. */
enum library { LIBC, LIBSTDCXX, LIBGOMP, LIBOMP, LIBTBB, INLINE };

/* A name that ends in * stands for all names with that beginning. */
static const struct {
	enum library library;
	enum standard_wait wait;
	const char *symbol;
} functions[] = {
	{ LIBC, STANDARD_LOCK, "pthread_mutex_lock" },
	{ LIBC, STANDARD_LOCK, "pthread_mutex_timedlock" },
	{ LIBC, STANDARD_LOCK, "pthread_mutex_clocklock" },
	{ LIBC, STANDARD_LOCK, "pthread_rwlock_*" },
	{ LIBC, STANDARD_LOCK, "lll_lock_wait*" },
	{ LIBC, STANDARD_LOCK, "pthread_spin_lock" },
	{ LIBC, STANDARD_LOCK, "mtx_lock" },
	{ LIBC, STANDARD_LOCK, "mtx_timedlock" },
	{ LIBC, STANDARD_LOCK, "flock" },
	{ LIBC, STANDARD_LOCK, "lockf*" },
	{ LIBC, STANDARD_LOCK, "fcntl*" }, /* its other operations do not wait */
	{ LIBC, STANDARD_LOCK, "pthread_once*" },
	{ LIBC, STANDARD_LOCK, "call_once" },
	{ LIBC, STANDARD_SEMAPHORE, "sem_wait" },
	{ LIBC, STANDARD_SEMAPHORE, "sem_timedwait" },
	{ LIBC, STANDARD_SEMAPHORE, "sem_clockwait" },
	{ LIBC, STANDARD_SEMAPHORE, "semop" },
	{ LIBC, STANDARD_SEMAPHORE, "semtimedop" },
	{ LIBC, STANDARD_CONDITION, "pthread_cond_*" },
	{ LIBC, STANDARD_CONDITION, "cnd_*" },
	{ LIBC, STANDARD_BARRIER, "pthread_barrier_wait" },
	{ LIBC, STANDARD_END, "pthread_join" },
	{ LIBC, STANDARD_END, "pthread_timedjoin_np" },
	{ LIBC, STANDARD_END, "pthread_clockjoin_*" },
	{ LIBC, STANDARD_END, "thrd_join" },
	{ LIBSTDCXX, STANDARD_CONDITION, "_ZNSt18condition_variable4wait*" },
	{ LIBSTDCXX, STANDARD_CONDITION, "std::condition_variable::wait*" },
	{ LIBSTDCXX, STANDARD_LOCK, "__cxa_guard_acquire" },
	{ LIBSTDCXX, STANDARD_END, "_ZNSt6thread4joinEv" },
	{ LIBSTDCXX, STANDARD_END, "std::thread::join*" },
	{ LIBSTDCXX, STANDARD_RESULT, "_ZNSt28__atomic_futex_unsigned_base*" },
	{ LIBSTDCXX, STANDARD_RESULT, "std::__atomic_futex_unsigned_base::*" },
	{ INLINE, STANDARD_RESULT, "std::__future_base::_State_baseV2::wait*" },
	{ INLINE, STANDARD_RESULT, "std::latch::*" },
	{ INLINE, STANDARD_BARRIER, "std::barrier<*" },
	{ INLINE, STANDARD_SEMAPHORE, "std::counting_semaphore<*" },
	/* Parts of the classes above. Where a compiler inlines a class, its parts may remain. */
	{ INLINE, STANDARD_RESULT, "std::__atomic_wait_address<long, std::latch::*" },
	{ INLINE, STANDARD_BARRIER, "std::__atomic_wait_address<std::__barrier_phase_t*" },
	{ INLINE, STANDARD_BARRIER, "std::__tree_barrier<*" },
	{ INLINE, STANDARD_SEMAPHORE,
	  "std::__atomic_wait_address_bare<std::__atomic_semaphore::*" },
	{ INLINE, STANDARD_SEMAPHORE, "std::__atomic_semaphore::*" },
	{ INLINE, STANDARD_SEMAPHORE, "std::__platform_semaphore::*" },
	{ LIBGOMP, STANDARD_LOCK, "GOMP_critical_*" },
	{ LIBGOMP, STANDARD_LOCK, "GOMP_atomic_start" },
	{ LIBGOMP, STANDARD_LOCK, "gomp_mutex_lock*" },
	{ LIBGOMP, STANDARD_LOCK, "omp_set_lock*" },
	{ LIBGOMP, STANDARD_LOCK, "omp_set_nest_lock*" },
	{ LIBGOMP, STANDARD_BARRIER, "GOMP_barrier*" },
	{ LIBGOMP, STANDARD_BARRIER, "GOMP_parallel*" }, /* ends in a barrier */
	{ LIBGOMP, STANDARD_BARRIER, "GOMP_loop_end" },
	{ LIBGOMP, STANDARD_BARRIER, "GOMP_sections_end" },
	{ LIBGOMP, STANDARD_BARRIER, "gomp_barrier_*" },
	{ LIBGOMP, STANDARD_BARRIER, "gomp_team_barrier_*" },
	{ LIBGOMP, STANDARD_BARRIER, "gomp_team_end" },
	{ LIBOMP, STANDARD_LOCK, "__kmpc_critical*" },
	{ LIBOMP, STANDARD_LOCK, "__kmpc_set_lock" },
	{ LIBOMP, STANDARD_LOCK, "omp_set_lock" },
	{ LIBOMP, STANDARD_BARRIER, "__kmpc_barrier*" },
	{ LIBOMP, STANDARD_BARRIER, "__kmpc_fork_call*" },
	{ LIBTBB, STANDARD_LOCK, "_ZN3tbb6detail2r115wait_on_address*" },
	{ LIBTBB, STANDARD_LOCK, "tbb::detail::r1::wait_on_address*" },
	{ LIBTBB, STANDARD_CONDITION, "_ZN3tbb6detail2r126wait_bounded_queue_monitor*" },
	{ LIBTBB, STANDARD_CONDITION, "tbb::detail::r1::wait_bounded_queue_monitor*" },
	{ LIBTBB, STANDARD_END, "_ZN3tbb6detail2r116execute_and_wait*" },
	{ LIBTBB, STANDARD_END, "tbb::detail::r1::execute_and_wait*" },
	{ INLINE, STANDARD_WORK, "runtime.findRunnable*" }, /* Go's */
	{ INLINE, STANDARD_WORK, "runtime.findrunnable*" },
	{ INLINE, STANDARD_WORK, "runtime.stopm*" },
	{ INLINE, STANDARD_WORK, "runtime.stoplockedm*" },
	{ INLINE, STANDARD_WORK, "runtime.sysmon*" },
	{ INLINE, STANDARD_LOCK, "runtime.lock2*" },
	{ INLINE, STANDARD_LOCK, "std::sys::sync::mutex::*" },
	{ INLINE, STANDARD_LOCK, "std::sys::sync::rwlock::*" },
	{ INLINE, STANDARD_LOCK, "std::sys::unix::locks::futex::Mutex::*" },
	{ INLINE, STANDARD_LOCK, "std::sys::unix::locks::futex_mutex::*" },
	{ INLINE, STANDARD_LOCK, "std::sys::unix::locks::futex_rwlock::*" },
	{ INLINE, STANDARD_CONDITION, "std::sys::sync::condvar::*" },
	{ INLINE, STANDARD_CONDITION, "std::sys::unix::locks::futex::Condvar::*" },
	{ INLINE, STANDARD_CONDITION, "std::sys::unix::locks::futex_condvar::*" },
};

static bool is_of(enum library library, const char *file)
{
	for (const char *const *begin = libraries[library]; *begin; begin++)
		if (!strncmp(file, *begin, strlen(*begin)))
			return true;
	return false;
}

bool standard_is_libc(const char *object)
{
	return is_of(LIBC, text_base_name(object));
}

bool standard_is_loader(const char *object)
{
	return !strncmp(text_base_name(object), "ld-linux", strlen("ld-linux"));
}

bool standard_is_library(const char *object)
{
	const char *file = text_base_name(object);

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (is_of((enum library)i, file))
			return true;
	return false;
}

/* Removes the prefixes of glibc's own names for its functions: __pthread_cond_wait,
 * ___pthread_cond_wait, __GI_… */
static const char *plain(const char *symbol)
{
	const char *s = symbol;

	while (*s == '_')
		s++;
	return !strncmp(s, "GI_", 3) ? plain(s + 3) : s;
}

bool standard_is_named(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	if (name[n - 1] == '*')
		return !strncmp(symbol, name, n - 1);
	return !strncmp(symbol, name, n) && (!symbol[n] || symbol[n] == '@');
}

bool standard_is_start(const char *object, const char *symbol)
{
	static const char *const starts[] = {
		"start_thread",		"clone",	  "clone3", "thread_start",
		"libc_start_call_main", "libc_start_main"
	};

	if (!strcmp(symbol, "_start"))
		return true;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (standard_is_named(plain(symbol), starts[i]) &&
		    is_of(LIBC, text_base_name(object)))
			return true;
	return false;
}

static bool is_own(const struct meta_frame *f)
{
	return *f->object && !standard_is_library(f->object) && !meta_frame_is_wrapper(f) &&
	       !standard_is_start(f->object, f->symbol);
}

/* Returns the program's outermost function, or NULL if the stack does not reach the beginning of a
 * thread. */
static const struct meta_frame *first_own(const struct meta *meta, const struct meta_stack *stack)
{
	bool begins = false;

	for (uint32_t i = stack->n_frames; i--;) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (f && begins && is_own(f))
			return f;
		begins |= f && standard_is_start(f->object, f->symbol);
	}
	return NULL;
}

bool standard_begins_thread(const struct meta *meta, const struct meta_function *f)
{
	const char *object = meta_object(meta, f->object)->path;

	vec_for_each (&meta->stacks, const struct meta_stack, stack) {
		const struct meta_frame *first = first_own(meta, stack);

		if (first && !strcmp(first->symbol, f->name) && !strcmp(first->object, object))
			return true;
	}
	return false;
}

const struct meta_frame *standard_own_function(const struct meta *meta,
					       const struct meta_stack *stack)
{
	const struct meta_frame *first = NULL, *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		if (!is_own(f))
			continue;
		if (*f->symbol)
			return f;
		if (!first)
			first = f;
	}
	return first;
}

/* Removes what stands before the name of a function that a compiler makes of a template: "void
 * std::f<int>()", "<std::sys::sync::mutex::futex::Mutex>::lock_contended". */
static const char *of_template(const char *name)
{
	static const char returns_nothing[] = "void ";

	if (!strncmp(name, returns_nothing, sizeof(returns_nothing) - 1))
		return name + sizeof(returns_nothing) - 1;
	return *name == '<' ? name + 1 : name;
}

enum standard_wait standard_wait_of(const char *object, const char *symbol)
{
	const char *file = text_base_name(object);

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		enum library library = functions[i].library;
		const char *name = library == LIBC ? plain(symbol) : symbol;

		if (library == INLINE)
			name = of_template(name);
		if (standard_is_named(name, functions[i].symbol) &&
		    (library == INLINE || is_of(library, file)))
			return functions[i].wait;
	}
	return STANDARD_NONE;
}

enum standard_wait standard_wait_of_function(const char *object, const struct meta_function *f)
{
	enum standard_wait wait = f->symbol ? standard_wait_of(object, f->symbol) : STANDARD_NONE;

	return wait || !f->name ? wait : standard_wait_of(object, f->name);
}

/* Returns whether the file is an interpreter of that name, or its library: python3.11,
 * libpython3.11.so.1.0. */
static bool is_interpreter(const char *object, const char *name)
{
	const char *file = text_base_name(object);

	if (!strncmp(file, "lib", 3))
		file += 3;
	return !strncmp(file, name, strlen(name)) && !isalpha((unsigned char)file[strlen(name)]);
}

/* Returns whether the function of Ruby lets a thread sleep: what it waits for at its end is the
 * lock, but nothing tells when that begins. */
static bool sleeps_in_ruby(const struct meta_frame *f)
{
	return f && (standard_is_named(f->symbol, "thread_sched_to_waiting*") ||
		     standard_is_named(f->symbol, "thread_sched_wait_events*") ||
		     standard_is_named(f->symbol, "native_sleep*"));
}

/*
 * Returns the language whose interpreter's lock is taken in a function of its own; waits: what the
 * C library's function that it called waits for, if that was its innermost function. Python's own
 * files call no function of conditions but for that lock: its other locks are semaphores. Ruby
 * waits for its lock below functions that let other threads run. So both are known without the
 * names of inner functions, which distributions strip.
 */
static enum standard_language takes_interpreter_lock(const struct meta_frame *f,
						     enum standard_wait waits)
{
	static const struct {
		enum standard_language language;
		const char *file, *symbol; /* file NULL: it is linked into the program */
	} rows[] = {
		{ LANGUAGE_PYTHON, "pypy", "RPyGilAcquire*" },
		{ LANGUAGE_RUBY, "ruby", "gvl_acquire*" },
		{ LANGUAGE_RUBY, "ruby", "thread_sched_to_running*" },
		{ LANGUAGE_RUBY, "ruby", "thread_sched_wait_running_turn*" },
		{ LANGUAGE_RUBY, "ruby", "rb_threadptr_execute_interrupts" },
		{ LANGUAGE_RUBY, "ruby", "rb_thread_schedule" },
		{ LANGUAGE_RUBY, "ruby", "rb_thread_call_with_gvl" },
		{ LANGUAGE_RUBY, "ruby", "rb_thread_call_without_gvl*" },
		{ LANGUAGE_RUBY, "ruby", "rb_thread_io_blocking_region" },
		{ LANGUAGE_RUBY, "ruby", "rb_nogvl" },
		{ LANGUAGE_OCAML, NULL, "st_masterlock_acquire" },
		/* before OCaml 5, with that inlined */
		{ LANGUAGE_OCAML, NULL, "caml_thread_yield" },
		{ LANGUAGE_OCAML, NULL, "caml_thread_leave_blocking_section" },
	};

	if (waits == STANDARD_CONDITION && is_interpreter(f->object, "python") &&
	    strncmp(f->symbol, "PyThread_", strlen("PyThread_")) != 0)
		return LANGUAGE_PYTHON;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((!rows[i].file || is_interpreter(f->object, rows[i].file)) &&
		    standard_is_named(f->symbol, rows[i].symbol))
			return rows[i].language;
	return LANGUAGE_NONE;
}

#define INTERPRETER_FRAMES 4 /* deeper ones are in the middle of something else */

enum standard_language standard_interpreter_in(const struct meta *meta,
					       const struct meta_stack *stack)
{
	enum standard_wait waits = STANDARD_NONE;
	const struct meta_frame *f, *callee = NULL, *first = NULL;
	unsigned own = 0;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		enum standard_language language;

		if (!first && is_of(LIBC, text_base_name(f->object))) {
			waits = standard_wait_of(f->object, f->symbol);
			callee = f;
			continue;
		}
		if (!first && callee && *f->calls)
			waits = standard_wait_of(callee->object, f->calls);
		if (waits != STANDARD_CONDITION || own++ == INTERPRETER_FRAMES ||
		    (first && strcmp(f->object, first->object) != 0))
			return LANGUAGE_NONE;
		language = takes_interpreter_lock(f, first ? STANDARD_NONE : waits);
		if (language == LANGUAGE_RUBY && sleeps_in_ruby(meta_frame_at(meta, stack, i + 1)))
			return LANGUAGE_NONE;
		if (language)
			return language;
		first = first ? first : f;
	}
	return LANGUAGE_NONE;
}

/*
 * A frame whose function has no name is identified by the function that its caller calls there.
 * What a library's function runs of the program, as the body of a parallel region, does not wait
 * for what that function waits for.
 */
enum standard_wait standard_wait_in(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *callee = NULL, *f;
	bool of_program = false;

	if (standard_interpreter_in(meta, stack))
		return STANDARD_INTERPRETER;
	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		enum standard_wait wait = STANDARD_NONE;

		if (callee && *f->calls)
			wait = standard_wait_of(of_program ? "" : callee->object, f->calls);
		if (!wait && *f->symbol)
			wait = standard_wait_of(of_program ? "" : f->object, f->symbol);
		if (wait)
			return wait;
		of_program |= is_own(f) && *f->object != '[' && !standard_is_loader(f->object);
		callee = f;
	}
	return STANDARD_NONE;
}

bool standard_condition_in(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		if (!standard_is_library(f->object))
			return i && standard_wait_of("libc.so.6", f->calls) == STANDARD_CONDITION;
		if (standard_wait_of(f->object, f->symbol) == STANDARD_CONDITION)
			return true;
	}
	return false;
}

/* The library is often compiled into the program. */
const struct meta_frame *standard_tries_in(const struct meta *meta, const struct meta_stack *stack)
{
	static const char *const trying[] = { "sqliteDefaultBusyCallback",
					      "sqlite3InvokeBusyHandler",
					      "btreeInvokeBusyHandler" };
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++)
		for (size_t k = 0; k < sizeof(trying) / sizeof(trying[0]); k++)
			if (standard_is_named(f->symbol, trying[k]))
				return f;
	return NULL;
}

bool standard_is_openmp(const char *object)
{
	const char *file = text_base_name(object);

	return is_of(LIBGOMP, file) || is_of(LIBOMP, file);
}

bool standard_is_tbb(const char *object)
{
	return is_of(LIBTBB, text_base_name(object));
}

static bool is_of_openmp(const struct meta_frame *f)
{
	return standard_is_openmp(f->object);
}

/* Whether a function of OpenMP is known to wait: others hand out work, run tasks or make memory. */
static bool waits_in_openmp(const char *object, const char *symbol)
{
	static const char *const waiting[] = {
		"do_wait",
		"do_spin",
		"futex_wait*",
		"gomp_sem_wait*",
		"gomp_ptrlock_get*",
		"gomp_simple_barrier_wait*",
		"gomp_ordered_sync",
		"GOMP_ordered_start",
		"GOMP_taskwait*",
		"__kmp_wait*",
		"__kmp_acquire*",
		"__kmp_barrier*",
		"__kmp_hyper_barrier*",
		"__kmp_dist_barrier*",
		"__kmp_fork_barrier*",
		"__kmp_join_barrier*",
		"__kmp_hardware_pause",
		"__kmp_x86_pause",
		"__kmp_yield*",
		"__kmpc_omp_taskwait*",
	};

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
		if (standard_is_named(symbol, waiting[i]))
			return true;
	/* Templates of LLVM, "bool __kmp_wait_template<...>(...)", by any name of theirs. */
	if (strstr(symbol, "__kmp_wait_") ||
	    (strstr(symbol, "kmp_flag_") && strstr(symbol, "wait")))
		return true;
	return standard_wait_of(object, symbol) != STANDARD_NONE;
}

bool standard_spins_somewhere(const struct meta_frame *f)
{
	return is_of_openmp(f) && (!*f->symbol || (waits_in_openmp(f->object, f->symbol) &&
						   !standard_wait_of(f->object, f->symbol)));
}

/* Returns the name of the innermost function of OpenMP, or of the one that the program calls there
 * if those of the library have none; "": neither is known. */
static const char *name_in_openmp(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f;

	for (uint32_t i = 0; (f = meta_frame_at(meta, stack, i)); i++) {
		if (!is_of_openmp(f))
			return f->calls;
		if (*f->symbol)
			return f->symbol;
	}
	return "";
}

bool standard_is_yield(const char *object, const char *symbol)
{
	static const char *const yielding[] = { "sched_yield", "pthread_yield", "thrd_yield" };

	for (size_t i = 0; i < sizeof(yielding) / sizeof(yielding[0]); i++)
		if (standard_is_named(plain(symbol), yielding[i]) &&
		    is_of(LIBC, text_base_name(object)))
			return true;
	return false;
}

bool standard_yields(const struct meta_frame *f)
{
	return standard_is_yield(f->object, f->symbol);
}

static bool spins_at(const struct meta_frame *f)
{
	return standard_yields(f) || (standard_is_named(plain(f->symbol), "pthread_spin_lock") &&
				      is_of(LIBC, text_base_name(f->object)));
}

/*
 * Whether the library waits in loops around a pause instruction only, and these are known: GNU's on
 * x86 does. Older recordings, and those that could not read the file, do not have these loops; so
 * the library must be seen in one of them.
 */
static bool pauses(const struct meta *meta, const struct meta_frame *f)
{
	if (!is_of(LIBGOMP, text_base_name(f->object)) || !meta->session.machine ||
	    strcmp(meta->session.machine, "x86_64") != 0)
		return false;
	vec_for_each (&meta->frames, const struct meta_frame, seen)
		if (seen->spins && !strcmp(seen->object, f->object))
			return true;
	return false;
}

bool standard_spins(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f = meta_frame_at(meta, stack, 0);
	const char *name;

	if (!f || !is_of_openmp(f))
		return f && spins_at(f);
	name = name_in_openmp(meta, stack);
	if (pauses(meta, f) && (!*name || standard_is_named(name, "GOMP_task*")))
		return f->spins;
	return !*name || waits_in_openmp(f->object, name);
}

bool standard_is_in_clone(const struct meta *meta, const struct meta_stack *stack)
{
	const struct meta_frame *f = meta_frame_at(meta, stack, 0);
	const char *name = f ? plain(f->symbol) : "";

	return f && standard_is_libc(f->object) &&
	       (standard_is_named(name, "clone") || standard_is_named(name, "clone3"));
}

static enum standard_wait of_stack(struct threads *th, uint64_t stack)
{
	uint32_t wait = map_get(&th->standard_stacks, stack);

	if (wait == MAP_NONE) {
		wait = standard_wait_in(th->meta, &th->meta->stacks.data[stack]);
		map_put(&th->standard_stacks, stack, wait);
	}
	return (enum standard_wait)wait;
}

/* Returns the innermost traced function that the thread is in, or NULL if there is none or it has
 * no name. */
static const struct meta_function *function_of(const struct thread *t)
{
	const struct meta *meta = t->all->meta;
	const struct meta_function *f;

	if (!t->n_open || t->open[t->n_open - 1].id >= meta->functions.n)
		return NULL;
	f = &meta->functions.data[t->open[t->n_open - 1].id];
	return f->symbol && f->object < meta->objects.n ? f : NULL;
}

/* Returns the plain name of that function if it belongs to the C library, or else "". */
static const char *libc_function_of(const struct thread *t)
{
	const struct meta_function *f = function_of(t);
	const char *path = f ? t->all->meta->objects.data[f->object].path : "";

	return f && is_of(LIBC, text_base_name(path)) ? plain(f->symbol) : "";
}

static enum standard_wait of_call(const struct thread *t)
{
	const struct meta_function *f = function_of(t);

	if (f && f->contended_only)
		return STANDARD_LOCK;
	return f ? standard_wait_of_function(t->all->meta->objects.data[f->object].path, f)
		 : STANDARD_NONE;
}

uint32_t standard_kind_of_call(const struct thread *t)
{
	static const struct {
		const char *symbol;
		enum wait_kind kind;
	} calls[] = {
		{ "nanosleep", WAIT_SLEEP },  { "clock_nanosleep", WAIT_SLEEP },
		{ "usleep", WAIT_SLEEP },     { "sleep", WAIT_SLEEP },
		{ "thrd_sleep", WAIT_SLEEP }, { "fsync", WAIT_DISK },
		{ "fdatasync", WAIT_DISK },   { "syncfs", WAIT_DISK },
		{ "sync", WAIT_DISK },	      { "sync_file_range", WAIT_DISK },
		{ "msync", WAIT_DISK },	      { "pread*", WAIT_DISK },
		{ "pwrite*", WAIT_DISK },     { "accept*", WAIT_SOCKET },
		{ "connect", WAIT_SOCKET },   { "recv*", WAIT_SOCKET },
		{ "send", WAIT_SOCKET },      { "sendto", WAIT_SOCKET },
		{ "sendmsg", WAIT_SOCKET },   { "sendmmsg", WAIT_SOCKET },
		{ "wait", WAIT_CHILD },	      { "wait3", WAIT_CHILD },
		{ "wait4", WAIT_CHILD },      { "waitpid", WAIT_CHILD },
		{ "waitid", WAIT_CHILD },
	};
	const char *name = libc_function_of(t);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (standard_is_named(name, calls[i].symbol))
			return calls[i].kind;
	return of_call(t) ? WAIT_OTHER : WAIT_UNKNOWN;
}

enum standard_release standard_release_in(const struct thread *t)
{
	static const struct {
		const char *symbol;
		enum standard_release release;
	} releases[] = {
		{ "pthread_cond_signal", RELEASE_ONE },
		{ "pthread_cond_broadcast", RELEASE_ALL },
		{ "cnd_signal", RELEASE_ONE },
		{ "cnd_broadcast", RELEASE_ALL },
	};
	const char *name = libc_function_of(t);

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (standard_is_named(name, releases[i].symbol))
			return releases[i].release;
	return RELEASE_UNKNOWN;
}

static void set_wait(struct thread *t, enum standard_wait wait)
{
	if (!wait || t->sleep.standard)
		return;
	t->sleep.standard = wait;
	if (t->sleep.word == SLEEP_NOBODY)
		return;
	t->all->futexes.all.data[t->sleep.word].standard[wait]++;
	if (wait == STANDARD_CONDITION && t->sleep.stack)
		t->all->futexes.all.data[t->sleep.word].of_program++;
}

void standard_see_stack(struct thread *t, uint64_t stack)
{
	if (stack >= t->all->meta->stacks.n)
		return;
	t->sleep.stack = stack + 1;
	if (t->sleep.kind) /* otherwise standard_see_wait() adds it */
		set_wait(t, of_stack(t->all, stack));
}

void standard_see_wait(struct thread *t)
{
	enum standard_wait wait = of_call(t), in = STANDARD_NONE;

	if (t->sleep.stack)
		in = of_stack(t->all, t->sleep.stack - 1);
	/* the call that an interpreter's lock is made of waits for a condition */
	set_wait(t, wait && in != STANDARD_INTERPRETER ? wait : in);
}
