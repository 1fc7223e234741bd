// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/cause/kind.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/by_spin.h"
#include "analysis/score/block.h"
#include "analysis/score/sci.h"
#include "analysis/threads/standard.h"
#include "analysis/threads/wait.h"
#include "trace/meta/meta.h"
#include "trace/waiting.h"

/*
 * Returns the share of the run queue time that the program's own threads are enough to explain, or
 * NAN if it is unknown.
 */
static double crowded(const struct block *b)
{
	const struct offcpu *off = b->sums ? &b->sums->own_off : NULL;

	if (!off || !off->preempted_ns || !b->all_threads->meta->session.cpus)
		return NAN;
	return (double)off->oversubscribed_ns / (double)off->preempted_ns;
}

bool cause_cpus_crowded(const struct block *b)
{
	return crowded(b) > CAUSE_CLEAR;
}

bool cause_cpus_taken(const struct block *b)
{
	return crowded(b) < 1 - CAUSE_CLEAR;
}

/* Returns the sleeps of that cause that took most of its time; largest: NULL, there are none. */
static struct wait_part part_of(const struct block *b, const char *kind)
{
	return b->waits && b->all_threads ? wait_part(b->all_threads, b->waits, kind)
					  : (struct wait_part){ 0 };
}

/* Whether the lock is no semaphore, which may admit several threads at once. Those of Python are
 * locks all the same. */
static bool is_no_semaphore(const struct block *b)
{
	struct wait_part part = part_of(b, "lock");

	return block_standard_wait(b) != STANDARD_SEMAPHORE &&
	       !(part.largest && wait_is_at_semaphore(b->all_threads, part.largest));
}

static bool has_descriptor(const struct meta_function *f)
{
	for (uint32_t i = 0; f && i < f->n_arguments; i++)
		if (f->arguments[i].class == ARGUMENT_FD)
			return true;
	return false;
}

/* Whether the symbol is one of these names, which end with NULL. */
static bool is_one_of(const char *symbol, const char *const *names)
{
	for (symbol += strspn(symbol, "_"); *names; names++)
		if (!strcmp(symbol, *names))
			return true;
	return false;
}

/* Functions that change the mappings of their process, for which the kernel has one lock. */
static const char *const changing_mappings[] = { "mmap",   "mmap64",   "munmap",
						 "mremap", "mprotect", "madvise",
						 "brk",	   "sbrk",     NULL };

/* Functions that make a thread or a process, or give back the stack of a thread that ends. */
static const char *const making_threads[] = {
	"pthread_create", "thrd_create",	"clone", "clone3", "fork", "vfork",
	"posix_spawn",	  "advise_stack_range", NULL
};

/* Where the kernel holds threads up. */
enum kernel_place { AT_UNKNOWN, AT_FILES, AT_MAPPINGS, AT_THREADS };

/* Whether one of these functions is the block, or waits in it. Every stack begins in a clone, in
 * its outermost frame. */
static bool waits_in(const struct block *b, const struct wait_cell *c, const char *const *names)
{
	const struct meta *meta = b->all_threads ? b->all_threads->meta : NULL;
	const struct meta_stack *stack = c && c->stack ? &meta->stacks.data[c->stack - 1] : NULL;

	for (uint32_t i = 0; stack && i + 1 < stack->n_frames; i++) {
		const struct meta_frame *f = meta_frame_at(meta, stack, i);

		if (f && f->symbol && is_one_of(f->symbol, names))
			return true;
	}
	return b->function && b->function->symbol && is_one_of(b->function->symbol, names);
}

static enum kernel_place kernel_place(const struct block *b)
{
	struct wait_part part = part_of(b, "kernel");
	uint32_t wait = part.largest ? part.largest->kind : WAIT_UNKNOWN;

	if (waits_in(b, part.largest, making_threads))
		return AT_THREADS;
	return wait == WAIT_PAGE_FAULT || waits_in(b, part.largest, changing_mappings) ? AT_MAPPINGS
	       : wait == WAIT_DISK || has_descriptor(b->function)		       ? AT_FILES
										       : AT_UNKNOWN;
}

static bool not_at_files(const struct block *b)
{
	return kernel_place(b) != AT_FILES;
}

static bool not_at_mappings(const struct block *b)
{
	return kernel_place(b) != AT_MAPPINGS;
}

static bool not_at_threads(const struct block *b)
{
	return kernel_place(b) != AT_THREADS;
}

static bool at_known_place(const struct block *b)
{
	return kernel_place(b) != AT_UNKNOWN;
}

const struct cause_kind cause_kinds[] = {
	{
		.kind = "lock",
		.name = "lock contention",
		.group = CAUSE_LOCK,
		.story = "Lock contention",
		.idle = "waits for a lock",
		.needs_cpu = true,
		.advice = { { .text = "shorten the critical section, or shard the lock" },
			    { .text = "if the semaphore counts free places, let it admit more threads at once",
			      .unless = is_no_semaphore } },
	},
	{
		.kind = "condition-wait",
		.name = "condition variable",
		.story = "Waiting on a condition variable",
		.idle = "waits for work",
		.needs_cpu = true,
		.advice = { { .text = "signal earlier, or hand out work in larger pieces" } },
	},
	{
		.kind = "barrier",
		.name = "barrier wait",
		.story = "Waiting at a barrier",
		.idle = "waits at a barrier",
		.needs_cpu = true,
		.advice = { { .text = "balance the work: smaller pieces, taken when a thread is ready" } },
	},
	{
		.kind = "disk-io",
		.name = "disk I/O",
		.group = CAUSE_IO,
		.story = "Disk I/O",
		.idle = "waits for the disk",
		.needs_cpu = true,
		.advice = { { .text = "batch the flushes, read ahead, or move the I/O to another thread" } },
	},
	{
		.kind = "network",
		.name = "network I/O",
		.group = CAUSE_IO,
		.story = "Network I/O",
		.idle = "waits for the network",
		.needs_cpu = true,
		.advice = { { .text = "batch or pipeline the requests, or let another thread wait" } },
	},
	{
		.kind = "pipe",
		.name = "pipe I/O",
		.group = CAUSE_IO,
		.story = "Pipe I/O",
		.idle = "waits at a pipe",
		.needs_cpu = true,
		.advice = { { .text = "look at the other end: it writes or reads too slowly or too little" } },
	},
	{
		.kind = "sleep",
		.name = "timed sleep",
		.story = "A timed sleep",
		.idle = "sleeps",
		.needs_cpu = true,
		.advice = { { .text = "wait for the event itself instead of a fixed time" } },
	},
	{
		.kind = "cpu-wait",
		.name = "run queue",
		.group = CAUSE_CPU,
		.story = "Waiting for a CPU",
		.idle = "waits for a CPU",
		.advice = { { .text = "run no more threads at a time than there are CPUs",
			      .unless = cause_cpus_taken },
			    { .text = "see what else uses these CPUs (top), and the affinity (taskset -p)",
			      .unless = cause_cpus_crowded } },
	},
	{
		.kind = "page-fault",
		.name = "page faults",
		.group = CAUSE_FAULT,
		.story = "Page faults",
		.plural = true,
		.idle = "waits for memory",
		.advice = { { .text = "touch memory beforehand, use huge pages, keep freed memory (mallopt(3))" } },
	},
	{
		.kind = "kernel",
		.name = "kernel contention",
		.story = "Kernel contention",
		.idle = "waits in the kernel",
		.advice = { { .text = "spread the work over more files, or map and unmap less often",
			      .unless = at_known_place },
			    { .text = "spread the work over more files", .unless = not_at_files },
			    { .text = "map and unmap less often, or touch memory beforehand",
			      .unless = not_at_mappings },
			    { .text = "make threads once and give them work again and again, or make larger pieces of work",
			      .unless = not_at_threads } },
	},
	{
		.kind = "cache-sharing",
		.name = "cache-line sharing",
		.story = "Cache-line sharing",
		.advice = { { .text = "pad the data so that each thread writes its own cache lines" } },
	},
	{
		.kind = "memory-bandwidth",
		.name = "memory bandwidth",
		.story = "Memory bandwidth",
		.advice = { { .text = "touch less memory, in blocks that fit the cache" } },
	},
	{
		.kind = "numa",
		.name = "remote memory",
		.story = "Remote memory",
		.advice = { { .text = "let the thread that uses memory touch it first; bind both to a node" } },
	},
	/* ispot imbalance names this cause for slow threads, too */
	{
		.kind = "cache-misses",
		.name = "cache misses",
		.story = "Cache misses",
		.plural = true,
		.advice = { { .text = "keep what is used together close together in memory" } },
		.uneven = "misses the first cache unevenly",
		.counted = "missed",
	},
	{
		.kind = "frequency-smt",
		.name = "slow/shared core",
		.story = "A slow or shared core",
		.advice = { { .text = "use one thread per core, or leave a core idle" } },
	},
	{
		.kind = "concurrency",
		.name = "parallel threads",
		.story = "Running beside other threads",
		.advice = { { .text = "let each thread write its own cache lines, touch less memory, and do not spin" } },
	},
	{
		.kind = "callee",
		.name = "in callees",
		.group = CAUSE_PATH,
		.story = "Time in callees",
	},
	{
		.kind = "workload",
		.name = "more work",
		.story = "More work",
		.idle = "workload",
	},
	{
		.kind = "ispot",
		.name = "ispot overhead",
		.story = "ispot overhead",
		.advice = { { .text = "trace fewer functions (-F), or one call in N (-c)" } },
	},
	{
		.kind = "unknown",
		.name = "unknown",
		.group = CAUSE_UNKNOWN,
		.idle = "waits for work",
	},

	/* only for outliers */
	{ .kind = "slow-path", .name = "slow path", .group = CAUSE_PATH },
	{ .kind = "first-execution", .name = "first call", .group = CAUSE_FIRST },
	{ .kind = "pause", .name = "garbage collection", .group = CAUSE_PAUSE },
	{ .kind = "safepoint", .name = "safepoint", .group = CAUSE_PAUSE },

	/* only for threads that are late */
	{ .kind = "branch", .uneven = "branch taken unevenly", .counted = "taken" },
	{ .kind = "loop", .uneven = "loop goes round unevenly", .counted = "repeated" },
	{ .kind = "call", .uneven = "function called unevenly", .counted = "called" },
	{ .kind = "memory", .uneven = "misses the last cache unevenly", .counted = "missed" },
	{ .kind = "page-faults", .uneven = "faults pages unevenly", .counted = "faulted" },
	{ .kind = "event", .uneven = "what was sampled happens unevenly", .counted = "happened" },
};
const size_t cause_kinds_n = sizeof(cause_kinds) / sizeof(cause_kinds[0]);

const struct cause_kind *cause_kind_find(const char *kind)
{
	for (size_t i = 0; i < cause_kinds_n; i++)
		if (!strcmp(cause_kinds[i].kind, kind))
			return &cause_kinds[i];
	return NULL;
}

/*
 * A wait for another thread without a condition variable: for its output on a pipe, or for its end.
 */
static const struct cause_kind for_a_thread = {
	.kind = "condition-wait",
	.name = "another thread",
	.story = "Waiting for another thread",
	.idle = "waits for work",
	.needs_cpu = true,
	.advice = { { .text = "look at what that thread does until then, and let it signal earlier" } },
};

/* A wait for a thread that in turn waits for the waiters. */
static const struct cause_kind in_turn = {
	.kind = "condition-wait",
	.name = "taking turns",
	.story = "Taking turns with another thread",
	.idle = "waits for work",
	.needs_cpu = true,
	.advice = { { .text = "let both work at the same time: hand out more at once, and wait for it later" } },
};

/* A wait for the next round of work: for the last thread of this round, and for what is done
 * between the rounds. */
static const struct cause_kind rounds = {
	.kind = "condition-wait",
	.name = "rounds of work",
	.story = "Waiting for the next round of work",
	.idle = "waits for work",
	.needs_cpu = true,
	.advice = { { .text = "give each thread the same amount of work, in larger rounds, and do less between them" } },
};

/*
 * A wait for threads that wait in the same place at other times, each at a futex of its own or at
 * none: a lock of a database, a queue of writers.
 */
static const struct cause_kind queue = {
	.kind = "condition-wait",
	.group = CAUSE_LOCK,
	.name = "queue of threads",
	.story = "Queueing behind other threads",
	.idle = "waits for its turn",
	.needs_cpu = true,
	.advice = { { .text = "shorten what each thread does before it lets the next go on, or split what they queue for" } },
};

/*
 * Waits of threads at one place that release each other: either for something that is taken and
 * given back, or for what one thread has made for the next.
 */
static const struct cause_kind either[] = {
	{
		.kind = "lock",
		.group = CAUSE_LOCK,
		.name = "lock or condition",
		.story = "Waiting for a lock or a condition",
		.idle = "waits for a lock or a condition",
		.needs_cpu = true,
		.advice = { { .text = "do less between the wait and the wakeup of the next thread, or split what they wait for" } },
	},
	{
		.kind = "condition-wait",
		.name = "lock or condition",
		.story = "Waiting for a lock or a condition",
		.idle = "waits for a lock or a condition",
		.needs_cpu = true,
		.advice = { { .text = "do less between the wait and the wakeup of the next thread, or split what they wait for" } },
	},
};

/* Probably a lock that threads wait for by sleeping between tries to take it (tries.h). */
static const struct cause_kind tried = {
	.kind = "lock",
	.group = CAUSE_LOCK,
	.name = "sleep between tries",
	.story = "Probably sleeping between tries for a lock",
	.idle = "probably sleeps between tries for a lock",
	.needs_cpu = true,
	.advice = { { .text = "these threads sleep while another one works: if it has a lock, wait for its release (a mutex, a condition) instead of sleeping" } },
};

/* The lock of a SQLite database, which one connection has at a time, waited for in the same way. */
static const struct cause_kind of_database = {
	.kind = "lock",
	.group = CAUSE_LOCK,
	.name = "database lock",
	.story = "Sleeping between tries for the lock of a SQLite database",
	.idle = "sleeps between tries for a database's lock",
	.needs_cpu = true,
	.advice = { { .text = "one connection writes at a time: write more in each transaction, or let one thread write for all" } },
};

/* The lock of an interpreter: no change to what its holder does lets two threads run at once. */
static const struct cause_kind of_interpreter[LANGUAGES] = {
	[LANGUAGE_PYTHON] = {
		.kind = "lock",
		.group = CAUSE_LOCK,
		.name = "interpreter lock",
		.story = "Waiting for Python's interpreter lock",
		.idle = "waits for the interpreter lock",
		.needs_cpu = true,
		.advice = { { .text = "one thread at a time runs Python code: use processes (multiprocessing), or calls that release the lock" } },
	},
	[LANGUAGE_RUBY] = {
		.kind = "lock",
		.group = CAUSE_LOCK,
		.name = "interpreter lock",
		.story = "Waiting for Ruby's interpreter lock",
		.idle = "waits for the interpreter lock",
		.needs_cpu = true,
		.advice = { { .text = "one thread at a time runs Ruby code: use processes, or Ractors" } },
	},
	[LANGUAGE_OCAML] = {
		.kind = "lock",
		.group = CAUSE_LOCK,
		.name = "interpreter lock",
		.story = "Waiting for OCaml's runtime lock",
		.idle = "waits for the runtime lock",
		.needs_cpu = true,
		.advice = { { .text = "one thread of a domain at a time runs OCaml code: use domains, or processes" } },
	},
};

/* What all rows have that only advise otherwise than a lock's. */
#define LOCK_CONTENTION                                                 \
	.kind = "lock", .group = CAUSE_LOCK, .name = "lock contention", \
	.story = "Lock contention", .idle = "waits for a lock"

/* Locks that the C library has for itself, whose critical sections the program cannot change. */
static const struct cause_kind inside_library[INSIDE_LOCKS] = {
	[INSIDE_MALLOC] = {
		LOCK_CONTENTION,
		.needs_cpu = true,
		.advice = { { .text = "allocate less often, or use an allocator with memory for each thread (jemalloc, tcmalloc); glibc's arenas are limited by MALLOC_ARENA_MAX" } },
	},
	[INSIDE_STDIO] = {
		LOCK_CONTENTION,
		.needs_cpu = true,
		.advice = { { .text = "let each thread use a FILE of its own, or format apart and write in larger pieces" } },
	},
	[INSIDE_RANDOM] = {
		LOCK_CONTENTION,
		.needs_cpu = true,
		.advice = { { .text = "give each thread random numbers of its own (rand_r, random_r, a generator of C++)" } },
	},
	[INSIDE_LOADER] = {
		LOCK_CONTENTION,
		.needs_cpu = true,
		.advice = { { .text = "the loader has one lock: load libraries once, keep what was looked up, and throw fewer exceptions" } },
	},
	[INSIDE_ONCE] = {
		.kind = "lock",
		.group = CAUSE_LOCK,
		.name = "initialization",
		.story = "Waiting for an initialization by another thread",
		.idle = "waits for an initialization",
		.needs_cpu = true,
		.advice = { { .text = "initialize before threads need it, in smaller parts, or by several threads" } },
	},
	[INSIDE_OTHER] = {
		LOCK_CONTENTION,
		.needs_cpu = true,
		.advice = { { .text = "the lock is the C library's own: call that function less often, or from fewer threads" } },
	},
};

/* The mutex of a condition, for which all threads queue that were woken at once, or before it was
 * given back. */
static const struct cause_kind after_signal = {
	LOCK_CONTENTION,
	.advice = { { .text = "wake only as many waiters as can go on (signal or notify_one, not broadcast or notify_all), behind the unlock" },
		    { .text = "shorten the critical section, or shard the lock" } },
};

/* Waits without sleeping in a library of OpenMP, where no name says for what. */
static const struct cause_kind in_openmp = {
	.kind = "lock",
	.group = CAUSE_LOCK,
	.name = "lock or barrier",
	.story = "Waiting for a lock or at a barrier of OpenMP",
	.advice = { { .text = "do less in critical regions, or give each thread as much work" } },
};

/* A lock whose waiters give up their CPUs between tries, and take them from the holder when they
 * try. */
static const struct cause_kind yielding = {
	LOCK_CONTENTION,
	.advice = { { .text = "let waiters sleep, as at a mutex: each try takes a CPU from the others" },
		    { .text = "shorten the critical section, or shard the lock" } },
};

/* The run queue in sched_yield(): the thread gave up its CPU, to look later whether it may go on,
 * whoever has the CPU meanwhile. */
static const struct cause_kind giving_up = {
	.kind = "cpu-wait",
	.group = CAUSE_CPU,
	.name = "yielding",
	.story = "Giving up the CPU",
	.idle = "waits for a CPU",
	.advice = { { .text = "let threads sleep until they can go on, at a mutex or a condition, instead of giving up the CPU again and again" } },
};

/* Whether more is lost in samples that spin than asleep in any one wait of that kind. */
static bool spins_most(const struct block *b, const char *kind)
{
	struct wait_part part = part_of(b, kind);

	return !part.largest || (double)(part.largest->ns - part.largest->idle_ns) <
					b->pools[POOL_RUNNING] * cause_spins(b);
}

static bool spins_in_openmp(const struct block *b)
{
	const struct meta_frame *at = cause_spins(b) ? b->samples.spins_at : NULL;

	return at && block_standard_wait(b) != STANDARD_LOCK && standard_spins_somewhere(at) &&
	       spins_most(b, in_openmp.kind);
}

static bool is_yield(const struct block *b)
{
	return b->function && b->object && b->function->symbol &&
	       standard_is_yield(b->object->path, b->function->symbol);
}

bool cause_gives_up(const struct block *b)
{
	const struct offcpu *off = b->sums ? &b->sums->own_off : NULL;

	return is_yield(b) || (off && 2 * off->yielded_ns > off->preempted_ns);
}

static bool yields_most(const struct block *b)
{
	const struct meta_frame *at = cause_spins(b) ? b->samples.spins_at : NULL;

	return at && standard_yields(at) && spins_most(b, yielding.kind);
}

const struct cause_kind *cause_kind_of(const struct block *b, const char *kind)
{
	bool lock = !strcmp(kind, either[0].kind);
	enum standard_language language;
	enum inside_lock inside;
	const struct wait_cell *most;

	if (!strcmp(kind, giving_up.kind) && cause_gives_up(b))
		return &giving_up;
	if (lock && spins_in_openmp(b))
		return &in_openmp;
	if (lock && yields_most(b))
		return &yielding;
	if (!strcmp(kind, for_a_thread.kind) && cause_spins_alone(b) && spins_most(b, kind))
		return &for_a_thread;
	most = lock || !strcmp(kind, for_a_thread.kind) ? part_of(b, kind).largest : NULL;
	if (!most)
		return cause_kind_find(kind);
	language = lock ? wait_is_at_interpreter(b->all_threads, most) : LANGUAGE_NONE;
	if (language)
		return &of_interpreter[language];
	inside = lock ? wait_is_inside(b->all_threads, most) : INSIDE_NONE;
	if (inside)
		return &inside_library[inside];
	if (wait_is_either(b->all_threads, most))
		return &either[!lock];
	if (lock && wait_is_after_signal(b->all_threads, most))
		return &after_signal;
	if (lock && wait_is_tried_surely(b->all_threads, most))
		return &of_database;
	if (lock)
		return wait_is_tried(b->all_threads, most) ? &tried : cause_kind_find(kind);
	if (wait_is_queue(b->all_threads, most))
		return &queue;
	if (wait_is_in_turn(b->all_threads, most))
		return &in_turn;
	if (wait_is_for_round(b->all_threads, most))
		return &rounds;
	return wait_is_signaled(b->all_threads, most) ? cause_kind_find(kind) : &for_a_thread;
}

const char *cause_name(const struct block *b, const char *kind)
{
	const struct cause_kind *row = cause_kind_of(b, kind);

	return row && row->name ? row->name : kind;
}

bool cause_needs_cpu(const struct block *b, const char *kind)
{
	const struct cause_kind *row = cause_kind_of(b, kind);

	return row && row->needs_cpu;
}

const char *cause_advice(const struct block *b, const char *kind, size_t n)
{
	const struct cause_kind *row = cause_kind_of(b, kind);

	for (size_t i = 0; row && i < CAUSE_ADVICES && row->advice[i].text; i++)
		if (!(row->advice[i].unless && row->advice[i].unless(b)) && !n--)
			return row->advice[i].text;
	return NULL;
}
