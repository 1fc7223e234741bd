/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/selfcost.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "probes/bpf/wire.h"
#include "probes/cost/interrupted.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/version.h"
#include "probes/place/marker_place.h"
#include "probes/place/probeset.h"
#include "probes/process/child.h"
#include "probes/ring/ringbuf.h"
#include "probes/select/marker.h"

#define CALLS	     2000 /* for each function and thread, … */
#define CALLS_ENOUGH 500  /* … or so many, if these have taken … */
#define LONG_NS	     5000000
#define LOOK_EVERY   100
#define WARM_UP	     100 /* first calls that are not counted: page faults, cold caches */
#define CALLS_LEAST  100

/*
 * name: the entry's instruction, then the place of the return. There are two copies, one for each
 * exit mechanism.
 */
#if defined(__x86_64__)
#define EMPTY(name, first)                                                                    \
	__asm__(".pushsection .text\n.balign 64\n.type " name ", @function\n" name ": " first \
		"\n" name "_ret: ret\n.size " name ", . - " name "\n.popsection\n")
#define JUMP	       "jmp"
#define FIRST_NOP5     ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define FIRST_EMULATED "push %rbp\npop %rbp"
#define FIRST_STEPPED  "mov %edi, %eax"
#define GO_ON	       "\njmp *%rsi"
#elif defined(__aarch64__)
#define EMPTY(name, first)                                                                    \
	__asm__(".pushsection .text\n.balign 64\n.type " name ", %function\n" name ": " first \
		"\n" name "_ret: ret\n.size " name ", . - " name "\n.popsection\n")
#define JUMP	       "b"
#define FIRST_NOP5     "nop" /* aarch64 has no cheaper class: the same as the emulated one */
#define FIRST_EMULATED "nop"
#define FIRST_STEPPED  "mov w0, w0"
#define GO_ON	       "\nbr x1"
#endif

/* The same, but left by a jump to a ret. */
#define EMPTY_JUMP(name, first) EMPTY(name, first "\n" name "_jump: " JUMP " " name "_ret")

EMPTY("ispot_empty_nop5_return", FIRST_NOP5);
EMPTY("ispot_empty_nop5_sites", FIRST_NOP5);
EMPTY("ispot_empty_emulated_return", FIRST_EMULATED);
EMPTY("ispot_empty_emulated_sites", FIRST_EMULATED);
EMPTY("ispot_work_probed", FIRST_EMULATED GO_ON);
EMPTY("ispot_work_not_probed", FIRST_EMULATED GO_ON);
__asm__(".globl ispot_work_probed, ispot_work_not_probed");
EMPTY("ispot_empty_stepped_return", FIRST_STEPPED);
EMPTY("ispot_empty_stepped_sites", FIRST_STEPPED);
EMPTY_JUMP("ispot_empty_nop5_jumps", FIRST_NOP5);
EMPTY_JUMP("ispot_empty_emulated_jumps", FIRST_EMULATED);
EMPTY_JUMP("ispot_empty_stepped_jumps", FIRST_STEPPED);

/* Markers, as probes/ispot.h makes them, and as other static probes are made. */
#if defined(__x86_64__)
#define PLACE_MARKER(label)                                                          \
	"lea -128(%rsp), %rsp\n" label ": nop\n.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" \
	"lea 128(%rsp), %rsp\n"
#else
#define PLACE_MARKER(label) label ": nop\n"
#endif
#define PLACE_USDT(label) label ": nop\n"
#define EMPTY_BLOCK(name, place)                                                               \
	__asm__(".pushsection .text\n.balign 64\n.type " name ", %function\n" name             \
		":\n" place(name "_begin") place(name "_ret") "ret\n.size " name ", . - " name \
							      "\n.popsection\n")

EMPTY_BLOCK("ispot_empty_marker", PLACE_MARKER);
EMPTY_BLOCK("ispot_empty_usdt", PLACE_USDT);

#define DECLARE(name) extern void name(int unused), name##_ret(void)
DECLARE(ispot_empty_nop5_return);
DECLARE(ispot_empty_nop5_sites);
DECLARE(ispot_empty_emulated_return);
DECLARE(ispot_empty_emulated_sites);
DECLARE(ispot_empty_stepped_return);
DECLARE(ispot_empty_stepped_sites);
#define DECLARE_JUMP(name) extern void name(int unused), name##_jump(void)
DECLARE_JUMP(ispot_empty_nop5_jumps);
DECLARE_JUMP(ispot_empty_emulated_jumps);
DECLARE_JUMP(ispot_empty_stepped_jumps);
DECLARE(ispot_empty_marker);
DECLARE(ispot_empty_usdt);
extern void ispot_empty_marker_begin(void), ispot_empty_usdt_begin(void);

static const struct empty {
	void (*call)(int unused);
	void (*exit_site)(void);
	enum probe_class class;
	enum exit_mech exit;
	void (*begin)(void); /* begin of a block; NULL: the first instruction is probed */
	bool only_jumps;
} empties[] = {
	{ ispot_empty_nop5_return, ispot_empty_nop5_return_ret, CLASS_NOP5, EXIT_RETURN, NULL,
	  false },
	{ ispot_empty_nop5_sites, ispot_empty_nop5_sites_ret, CLASS_NOP5, EXIT_RET_SITES, NULL,
	  false },
	{ ispot_empty_emulated_return, ispot_empty_emulated_return_ret, CLASS_EMULATED, EXIT_RETURN,
	  NULL, false },
	{ ispot_empty_emulated_sites, ispot_empty_emulated_sites_ret, CLASS_EMULATED,
	  EXIT_RET_SITES, NULL, false },
	{ ispot_empty_stepped_return, ispot_empty_stepped_return_ret, CLASS_SINGLE_STEP,
	  EXIT_RETURN, NULL, false },
	{ ispot_empty_stepped_sites, ispot_empty_stepped_sites_ret, CLASS_SINGLE_STEP,
	  EXIT_RET_SITES, NULL, false },
	{ ispot_empty_nop5_jumps, ispot_empty_nop5_jumps_jump, CLASS_NOP5, EXIT_RET_SITES, NULL,
	  true },
	{ ispot_empty_emulated_jumps, ispot_empty_emulated_jumps_jump, CLASS_EMULATED,
	  EXIT_RET_SITES, NULL, true },
	{ ispot_empty_stepped_jumps, ispot_empty_stepped_jumps_jump, CLASS_SINGLE_STEP,
	  EXIT_RET_SITES, NULL, true },
	{ ispot_empty_marker, ispot_empty_marker_ret, CLASS_MARKER, EXIT_RET_SITES,
	  ispot_empty_marker_begin, false },
	{ ispot_empty_usdt, ispot_empty_usdt_ret, CLASS_USDT, EXIT_RET_SITES,
	  ispot_empty_usdt_begin, false },
};
#define N_EMPTIES (sizeof(empties) / sizeof(*empties))

_Static_assert(N_EMPTIES <= SELFCOST_ROWS_MAX, "a row for each empty function");

struct own_segment {
	uintptr_t address;
	uint64_t file_offset;
	bool found;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct own_segment *s = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || s->address < start || s->address >= start + p->p_filesz)
			continue;
		s->file_offset = s->address - start + p->p_offset;
		s->found = true;
		return 1;
	}
	return 0;
}

static uint64_t own_file_offset(void *code)
{
	struct own_segment s = { .address = (uintptr_t)code };

	dl_iterate_phdr(find_segment, &s);
	return s.found ? s.file_offset : UINT64_MAX;
}

static void add_block(struct probeset *set, const struct empty *e, const char *path, uint32_t id)
{
	uint32_t second = e->class == CLASS_MARKER ? marker_offset(kernel_version_running()) : 0;

	probeset_add_point(set, SET_BEGIN, path, own_file_offset(e->begin) + second, id);
	probeset_add_point(set, SET_END, path, own_file_offset(e->exit_site) + second, id);
}

/* Nobody reads the records of this function. */
static void add_work(struct probeset *set, const char *path)
{
	uint64_t offset = own_file_offset(ispot_work_probed);

	probeset_add_point(set, SET_ENTRY, path, offset, SELFCOST_ID_FIRST + N_EMPTIES);
	probeset_add_point(set, SET_RETURN, path, offset, SELFCOST_ID_FIRST + N_EMPTIES);
}

int selfcost_add(struct probeset *set, bool markers)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return -errno;
	path[n] = '\0';
	if (access(path, R_OK))
		return -errno; /* the file was replaced: probes would be set in another file */
	for (uint32_t i = 0; i < N_EMPTIES; i++) {
		const struct empty *e = &empties[i];
		bool sites = e->exit == EXIT_RET_SITES;

		if (e->begin) {
			if (markers)
				add_block(set, e, path, SELFCOST_ID_FIRST + i);
			continue;
		}
		if (!sites && probeset_add_session(set, path, own_file_offset(e->call),
						   SELFCOST_ID_FIRST + i, SELFCOST_ID_FIRST + i))
			continue;
		probeset_add_point(set, SET_ENTRY, path, own_file_offset(e->call),
				   SELFCOST_ID_FIRST + i);
		probeset_add_point(set, sites ? SET_RET_SITES : SET_RETURN, path,
				   own_file_offset(sites ? (void *)e->exit_site : (void *)e->call),
				   SELFCOST_ID_FIRST + i);
	}
	add_work(set, path);
	return 0;
}

static void call_often(void (*empty)(int unused))
{
	uint64_t begin_ns = clock_now_ns();

	for (int k = 0; k < CALLS; k++) {
		if (k >= CALLS_ENOUGH && k % LOOK_EVERY == 0 && clock_now_ns() - begin_ns > LONG_NS)
			return;
		empty(k);
	}
}

static void *call_all(void *start)
{
	pthread_barrier_wait(start);
	for (size_t i = 0; i < N_EMPTIES; i++)
		call_often(empties[i].call);
	return NULL;
}

static void child(uint32_t threads)
{
	pthread_barrier_t start;
	pthread_t *ids = calloc(threads, sizeof(*ids));
	uint32_t n = 0;

	if (!ids)
		_exit(1);
	pthread_barrier_init(&start, NULL, threads);
	for (n = 1; n < threads; n++)
		if (pthread_create(&ids[n], NULL, call_all, &start))
			_exit(1);
	call_all(&start);
	for (n = 1; n < threads; n++)
		pthread_join(ids[n], NULL);
	_exit(0);
}

struct samples {
	VEC(uint64_t)
};

/* The state of one thread, derived from its records so far. */
struct calling_thread {
	uint32_t id;	   /* the function in progress */
	uint64_t entry_ns; /* of the last entry */
	bool open;
	uint32_t calls;
};

struct measurement {
	pid_t child;
	uint64_t records, expected;
	struct map thread_index; /* tid -> threads */
	struct {
		VEC(struct calling_thread)
	} threads;
	struct samples inner[N_EMPTIES], full[N_EMPTIES];
};

static struct calling_thread *thread_of(struct measurement *m, uint32_t tid)
{
	uint32_t i = map_get(&m->thread_index, tid);

	if (i == MAP_NONE) {
		i = m->threads.n;
		map_put(&m->thread_index, tid, i);
		vec_add(&m->threads)->id = UINT32_MAX;
	}
	return &m->threads.data[i];
}

static void on_entry(struct measurement *m, struct calling_thread *t, uint32_t id, uint64_t now_ns)
{
	if (t->id != id) {
		t->id = id;
		t->calls = 0;
	} else if (t->calls > WARM_UP && t->entry_ns) {
		*vec_add(&m->full[id]) = now_ns - t->entry_ns;
	}
	t->entry_ns = now_ns;
	t->open = true;
	t->calls++;
}

static void on_exit_of(struct measurement *m, struct calling_thread *t, uint32_t id,
		       uint64_t now_ns)
{
	if (t->open && t->id == id && t->calls > WARM_UP)
		*vec_add(&m->inner[id]) = now_ns - t->entry_ns;
	t->open = false;
}

static void visit(void *ctx, uint32_t cpu, const void *record)
{
	const struct wire_call *call = record;
	struct measurement *m = ctx;
	uint32_t kind, id;

	(void)cpu;
	if (call->h.tgid != (uint32_t)m->child)
		return;
	kind = call->h.head >> WIRE_ID_BITS & WIRE_KIND_MASK;
	id = (call->h.head & WIRE_ID_MASK) - SELFCOST_ID_FIRST;
	if (id >= N_EMPTIES)
		return;
	m->records++;
	if (kind == WIRE_ENTRY)
		on_entry(m, thread_of(m, call->h.tid), id, call->h.time_ns);
	else if (kind == WIRE_EXIT)
		on_exit_of(m, thread_of(m, call->h.tid), id, call->h.time_ns);
}

static uint64_t quantile(const struct samples *s, double q)
{
	return s->data[(size_t)(q * (s->n - 1))];
}

static double mean(const struct samples *s)
{
	double sum = 0;

	vec_for_each (s, const uint64_t, v)
		sum += *v;
	return sum / s->n;
}

static void drop_interrupted(struct samples *s)
{
	vec_sort(s, vec_by_u64);
	s->n = interrupted_from(s->data, s->n);
}

static size_t summarise(struct measurement *m, uint32_t threads, const char *when,
			struct meta_calibration *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < N_EMPTIES; i++) {
		struct samples *inner = &m->inner[i], *full = &m->full[i];

		if (inner->n < CALLS_LEAST || full->n < CALLS_LEAST)
			continue;
		drop_interrupted(inner);
		drop_interrupted(full);
		rows[n++] = (struct meta_calibration){
			.class = empties[i].class,
			.exit = empties[i].exit,
			.only_jumps = empties[i].only_jumps,
			.threads = threads,
			.when = when,
			.inner_min_ns = inner->data[0],
			.inner_p50_ns = quantile(inner, 0.5),
			.inner_p99_ns = quantile(inner, 0.99),
			.inner_mean_ns = mean(inner),
			.full_p50_ns = quantile(full, 0.5),
			.calls = inner->n,
		};
	}
	return n;
}

static void measurement_release(struct measurement *m)
{
	for (size_t i = 0; i < N_EMPTIES; i++) {
		vec_release(&m->inner[i]);
		vec_release(&m->full[i]);
	}
	map_release(&m->thread_index);
	vec_release(&m->threads);
}

/*
 * Reads the rings while the child runs. A child that hangs (on a stopped machine) is ended after 10
 * s, and any child at Ctrl-C if the caller notes interrupts.
 */
static void read_until_ended(struct measurement *m, struct ringbufs *rings)
{
	uint64_t begin_ns = clock_now_ns();
	struct progress progress;
	bool ended = false;

	progress_init(&progress, "measuring probes");
	while (!ended) {
		ended = waitpid(m->child, NULL, WNOHANG) == m->child;
		if (!ended && (interrupt_noted() || clock_now_ns() - begin_ns > 10000000000ull))
			kill(m->child, SIGKILL);
		for (uint32_t i = 0; i < rings->n; i++)
			ringbuf_drain(&rings->rings[i], visit, m);
		progress_share(&progress, (double)m->records / (double)m->expected);
		if (!ended)
			clock_sleep_ns(2000000);
	}
	progress_end(&progress);
}

int selfcost_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		     uint32_t threads, const char *when, struct meta_calibration *rows, size_t *n,
		     struct err *err)
{
	struct measurement m = { .expected = 2ull * threads * N_EMPTIES * CALLS };
	int go_fd, ret;

	*n = 0;
	m.child = child_fork_held(&go_fd, -1);
	if (m.child == 0)
		child(threads);
	if (m.child < 0)
		return err_set(err, -errno,
			       "cannot start a process: %s; raise ulimit -u, or end some",
			       strerror(errno));
	ret = set->attached ? probeset_follow(set, m.child, false, err)
			    : probeset_open(set, b, m.child, err);
	if (!ret)
		ret = probeset_open_session(set, b, m.child, err);
	if (!ret) {
		bpfprog_record(b, true);
		ret = child_go(go_fd) ? 0 : -errno;
		close(go_fd);
		read_until_ended(&m, rings);
		bpfprog_record(b, false);
		if (interrupt_noted())
			ret = err_set(err, -EINTR,
				      "interrupted before anything was measured; let it run on");
		else
			*n = summarise(&m, threads, when, rows);
	} else {
		close(go_fd);
		waitpid(m.child, NULL, 0);
	}
	probeset_close_session(set, m.child);
	measurement_release(&m);
	return ret;
}
