/* SPDX-License-Identifier: MIT */
/*
 * The runtime of programs that are compiled with -fsanitize-coverage=trace-pc: counts, in each
 * thread for itself, how often control flow goes from one block to another. Nothing is shared
 * between threads, no lock is taken, nothing is allocated by malloc(). Without ISPOT_EDGES in the
 * environment it does nothing.
 */
#include "probes/edges/runtime/runtime.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 4096 /* counted per process, each with a file */
#define MODULES_MAX 64	 /* remembered per thread; more are told of again */
#define CELLS	    4096 /* at first; a power of two */
#define CELLS_USED  8	 /* one of so many: in a crowd hot edges stand in each other's way */
#define LOG_BYTES   (16u << 10)
#define LOG_MAX	    (256u << 20)
#define OFF	    ((struct edges_thread *)1) /* this thread is not counted */

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

struct cell {
	uintptr_t from, to; /* to 0: free */
	uint64_t count;	    /* since the latest cut */
	uint64_t number;    /* of the edge in the log, from 1; 0: not yet there */
};

struct range {
	uintptr_t start, end;
};

struct edges_thread {
	struct cell *cells;
	uint32_t *order; /* cells that are used, [used] */
	uintptr_t previous;
	uint64_t mask, used, edges;
	bool busy; /* a signal handler came between */
	struct edges_header *log;
	uint64_t log_bytes;
	uint32_t made;		   /* threads */
	struct edges_moment begin; /* of the part that it is in */
	struct range modules[MODULES_MAX];
	unsigned n_modules;
	char path[PATH_MAX];
};

static __thread struct edges_thread *self __attribute__((tls_model("initial-exec")));
static char directory[PATH_MAX - 64]; /* empty: nothing is counted */
static bool is_set_up;
static unsigned n_threads;
static struct edges_header *first_log;
static pthread_key_t at_end;

static void begin_part(struct edges_thread *t)
{
	t->begin = edges_moment_now(false);
}

/* ---- memory ---- */

static void *memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The rest of the log is given up. */
static void *log_full(struct edges_thread *t)
{
	t->log->full = 1;
	return NULL;
}

static bool log_grow(struct edges_thread *t, uint64_t bytes)
{
	int fd = bytes > LOG_MAX ? -1 : open(t->path, O_RDWR | O_CLOEXEC);
	void *p = MAP_FAILED;

	/* Room that is not there is to be known now, not by SIGBUS. */
	if (fd >= 0 && !posix_fallocate(fd, 0, (off_t)bytes))
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return false;
	if (first_log == t->log)
		__atomic_store_n(&first_log, p, __ATOMIC_RELEASE);
	else
		munmap(t->log, t->log_bytes);
	t->log = p;
	t->log_bytes = bytes;
	return true;
}

/* Room behind the finished records; NULL: there is none. */
static void *log_room(struct edges_thread *t, size_t bytes)
{
	uint64_t needed = sizeof(*t->log) + t->log->used + bytes, want = t->log_bytes;

	if (t->log->full)
		return NULL;
	while (want < needed)
		want *= 2;
	if (want != t->log_bytes && !log_grow(t, want))
		return log_full(t);
	return (char *)(t->log + 1) + t->log->used;
}

static void log_done(struct edges_thread *t, size_t bytes)
{
	__atomic_store_n(&t->log->used, t->log->used + bytes, __ATOMIC_RELEASE);
}

/* ---- where code is from ---- */

static void log_module(struct edges_thread *t, const struct edges_mapped *mapped)
{
	size_t length = strlen(mapped->path);
	size_t bytes = sizeof(struct edges_module) + (length + 8) / 8 * 8;
	struct edges_module *m = log_room(t, bytes);

	t->modules[t->n_modules++ % MODULES_MAX] = (struct range){ mapped->start, mapped->end };
	if (!m)
		return;
	memset(m, 0, bytes);
	*m = (struct edges_module){ .record = { EDGES_MODULE, (uint32_t)bytes },
				    .bias = mapped->bias,
				    .start = mapped->start,
				    .end = mapped->end };
	memcpy(m + 1, mapped->path, length);
	log_done(t, bytes);
}

static void know(struct edges_thread *t, uintptr_t pc)
{
	unsigned n = t->n_modules < MODULES_MAX ? t->n_modules : MODULES_MAX;
	struct edges_mapped m;

	for (unsigned i = 0; i < n; i++)
		if (pc >= t->modules[i].start && pc < t->modules[i].end)
			return;
	if (edges_mapped_at(pc, &m))
		log_module(t, &m);
}

/* ---- a thread ---- */

static void forget(struct edges_thread *t)
{
	self = OFF;
	if (t->cells)
		munmap(t->cells, (t->mask + 1) * sizeof(*t->cells));
	if (t->order)
		munmap(t->order, (t->mask + 1) / CELLS_USED * sizeof(*t->order));
	if (t->log && t->log != first_log)
		munmap(t->log, t->log_bytes);
	munmap(t, sizeof(*t));
}

static void on_thread_end(void *value)
{
	struct edges_thread *t = value;

	edges_cut(t, EDGES_THREAD, 0, 0);
	forget(t);
}

/* A child counts for itself: what is its parent's it leaves alone, for who was interrupted by it.
 */
static void on_fork(void)
{
	n_threads = 0;
	first_log = NULL;
	pthread_setspecific(at_end, NULL);
	self = NULL;
	edges_origin = (struct edges_origin){ 0 };
}

__attribute__((constructor)) static void set_up(void)
{
	const char *from = getenv(EDGES_ENVIRONMENT);

	is_set_up = true;
	if (!from || strlen(from) >= sizeof(directory))
		return;
	if (pthread_key_create(&at_end, on_thread_end) || pthread_atfork(NULL, NULL, on_fork))
		return;
	strcpy(directory, from);
}

/* An exec keeps the number of the process: the next free name. */
static bool open_log(struct edges_thread *t, unsigned number)
{
	int fd = -1;

	t->log_bytes = LOG_BYTES;
	for (unsigned again = 0; fd < 0 && again < 100; again++) {
		snprintf(t->path, sizeof(t->path), "%s/%u.%u.%u", directory, (unsigned)getpid(),
			 again, number);
		fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (fd < 0 || posix_fallocate(fd, 0, LOG_BYTES)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	t->log = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (t->log == MAP_FAILED)
		return t->log = NULL, false;
	*t->log = (struct edges_header){
		.magic = EDGES_MAGIC,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)syscall(SYS_gettid),
		.number = number,
		.maker = edges_origin.known ? edges_origin.maker : EDGES_NOBODY,
		.made = edges_origin.made,
		.thread = (uint64_t)pthread_self(),
		.begin_ns = edges_now_ns(),
	};
	return true;
}

static struct edges_thread *begin_thread(void)
{
	unsigned number;
	struct edges_thread *t;

	if (!is_set_up)
		return NULL;
	self = OFF; /* until it is known better */
	if (!*directory)
		return NULL;
	number = __atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED);
	t = number < THREADS_MAX ? memory(sizeof(*t)) : NULL;
	if (t) {
		t->cells = memory(CELLS * sizeof(struct cell));
		t->order = memory(CELLS / CELLS_USED * sizeof(*t->order));
		t->mask = CELLS - 1;
	}
	if (!t || !t->cells || !t->order || !open_log(t, number)) {
		struct edges_header *first = __atomic_load_n(&first_log, __ATOMIC_ACQUIRE);

		if (first)
			__atomic_fetch_add(&first->missed, 1, __ATOMIC_RELAXED);
		if (t)
			forget(t);
		return NULL;
	}
	if (!first_log)
		first_log = t->log;
	pthread_setspecific(at_end, t);
	begin_part(t);
	self = t;
	return t;
}

struct edges_thread *edges_self(void)
{
	struct edges_thread *t = self;

	return t == OFF ? NULL : t ? t : begin_thread();
}

/* ---- counting ---- */

static inline uint64_t home_of(uint64_t mask, uintptr_t from, uintptr_t to)
{
	return ((from + ((uint64_t)to << 20)) * 0x9e3779b97f4a7c15ull >> 40) & mask;
}

static uint64_t cell_of(const struct cell *cells, uint64_t mask, uintptr_t from, uintptr_t to)
{
	uint64_t home = home_of(mask, from, to), i = 0;

	while (cells[home ^ i].to && (cells[home ^ i].from != from || cells[home ^ i].to != to))
		i++;
	return home ^ i;
}

/* A signal handler that interrupts this finds a table that fits its mask. */
static bool cells_grow(struct edges_thread *t)
{
	uint64_t n = t->mask + 1, room = n / CELLS_USED;
	struct cell *more = memory(2 * n * sizeof(*more)), *old = t->cells;
	uint32_t *order = memory(2 * room * sizeof(*order));

	if (!more || !order) {
		if (more)
			munmap(more, 2 * n * sizeof(*more));
		return false;
	}
	for (uint64_t i = 0; i < t->used; i++) {
		const struct cell *cell = &old[t->order[i]];
		uint64_t at = cell_of(more, 2 * n - 1, cell->from, cell->to);

		more[at] = *cell;
		order[i] = (uint32_t)at;
	}
	t->cells = more;
	t->mask = 2 * n - 1;
	munmap(old, n * sizeof(*more));
	munmap(t->order, room * sizeof(*order));
	t->order = order;
	return true;
}

/* NULL: there is no room. */
static struct cell *cell_new(struct edges_thread *t, uintptr_t from, uintptr_t to)
{
	uint64_t at;

	if (t->used == (t->mask + 1) / CELLS_USED && !cells_grow(t))
		return log_full(t);
	at = cell_of(t->cells, t->mask, from, to);
	t->order[t->used++] = (uint32_t)at;
	t->cells[at].from = from;
	t->cells[at].to = to;
	return &t->cells[at];
}

/* An edge that is new to the thread, or not at the first places where it could be. */
static __attribute__((noinline)) void count_otherwise(uintptr_t from, uintptr_t to)
{
	struct edges_thread *t = self;
	struct cell *cell;

	if (!t)
		t = begin_thread();
	if (!t || t == OFF || t->busy)
		return;
	t->busy = true;
	t->previous = to;
	cell = &t->cells[cell_of(t->cells, t->mask, from, to)];
	if (!cell->to)
		cell = cell_new(t, from, to);
	if (cell)
		cell->count++;
	t->busy = false;
}

static inline __attribute__((always_inline)) void count(uintptr_t to)
{
	struct edges_thread *t = self;
	uint64_t home;
	uintptr_t from;
	struct cell *cell;

	if (unlikely((uintptr_t)t <= (uintptr_t)OFF)) {
		if (!t)
			count_otherwise(0, to);
		return;
	}
	from = t->previous;
	home = home_of(t->mask, from, to);
	cell = &t->cells[home];
	if (unlikely(cell->to != to || cell->from != from))
		cell = &t->cells[home ^ 1];
	if (likely(cell->to == to && cell->from == from)) {
		t->previous = to;
		cell->count++;
		return;
	}
	count_otherwise(from, to);
}

#define HERE ((uintptr_t)__builtin_return_address(0))

EDGES_PUBLIC void __sanitizer_cov_trace_pc(void);
EDGES_PUBLIC void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
EDGES_PUBLIC void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);
EDGES_PUBLIC void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);

void __sanitizer_cov_trace_pc(void)
{
	count(HERE);
}

/* clang's other kind: the guard is not needed. */
void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
	(void)guard;
	count(HERE);
}

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
	(void)start;
	(void)stop;
}

void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop)
{
	(void)start;
	(void)stop;
}

/* ---- cuts ---- */

static void log_edge(struct edges_thread *t, struct cell *cell)
{
	struct edges_edge *e;

	know(t, cell->from);
	know(t, cell->to);
	e = log_room(t, sizeof(*e));
	if (!e)
		return;
	*e = (struct edges_edge){ { EDGES_EDGE, sizeof(*e) }, cell->from, cell->to };
	cell->number = ++t->edges;
	log_done(t, sizeof(*e));
}

/* How many edges there are to tell of, all of them known to the log. */
static uint32_t log_edges(struct edges_thread *t)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < t->used; i++) {
		struct cell *cell = &t->cells[t->order[i]];

		if (cell->count && !cell->number)
			log_edge(t, cell);
		n += cell->count && cell->number;
	}
	return n;
}

static void move_counts(struct edges_thread *t, struct edges_count *counts)
{
	for (uint64_t i = 0; i < t->used; i++) {
		struct cell *cell = &t->cells[t->order[i]];

		if (counts && cell->count && cell->number)
			*counts++ = (struct edges_count){ cell->number - 1, cell->count };
		cell->count = 0;
	}
}

void edges_drop(struct edges_thread *t)
{
	t->busy = true;
	move_counts(t, NULL);
	t->previous = 0;
	t->busy = false;
	begin_part(t);
}

uint64_t edges_cut(struct edges_thread *t, enum edges_end end, uintptr_t site, uint64_t object)
{
	struct edges_moment now = edges_moment_now(true);
	struct edges_cut *cut;
	uint64_t at;
	size_t bytes;
	uint32_t n;

	t->busy = true;
	know(t, site);
	n = log_edges(t);
	bytes = sizeof(*cut) + n * sizeof(struct edges_count);
	cut = log_room(t, bytes);
	move_counts(t, cut ? (struct edges_count *)(cut + 1) : NULL);
	t->busy = false;
	if (!cut)
		return 0;
	*cut = (struct edges_cut){
		.record = { EDGES_CUT, (uint32_t)bytes },
		.end = end,
		.n = n,
		.site = site,
		.object = object,
		.begin_ns = t->begin.time_ns,
		.end_ns = now.time_ns,
		.leave_ns = end == EDGES_BARRIER ? 0 : now.time_ns,
		.cpu_ns = now.cpu_ns - t->begin.cpu_ns,
		.cpu_wait_ns = now.cpu_wait_ns == EDGES_UNKNOWN
				       ? now.cpu_wait_ns
				       : now.cpu_wait_ns - t->begin.cpu_wait_ns,
		.sleeps = now.sleeps - t->begin.sleeps,
	};
	at = sizeof(*t->log) + t->log->used;
	log_done(t, bytes);
	return at;
}

void edges_go_on(struct edges_thread *t, uint64_t cut)
{
	begin_part(t);
	if (cut)
		((struct edges_cut *)((char *)t->log + cut))->leave_ns = t->begin.time_ns;
}

/* ---- threads that are made and waited for ---- */

struct edges_origin edges_make(struct edges_thread *t)
{
	struct edges_made *m = log_room(t, sizeof(*m));
	struct edges_origin origin = { true, t->log->number, t->made++ };

	if (m) {
		*m = (struct edges_made){ { EDGES_MADE, sizeof(*m) }, origin.made, edges_now_ns() };
		log_done(t, sizeof(*m));
	}
	return origin;
}

void edges_awaited(struct edges_thread *t, uint64_t thread, uintptr_t site)
{
	struct edges_awaited *a;

	t->busy = true;
	know(t, site);
	t->busy = false;
	a = log_room(t, sizeof(*a));
	if (!a)
		return;
	*a = (struct edges_awaited){ { EDGES_AWAITED, sizeof(*a) }, thread, site, edges_now_ns() };
	log_done(t, sizeof(*a));
}
