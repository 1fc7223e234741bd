// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/injection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "probes/inject/machine/blob.h"
#include "probes/inject/detour.h"
#include "probes/inject/machine/steps.h"
#include "probes/inject/machine/stub.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/inproc.h"
#include "probes/process/status.h"
#include "symbol/maps.h"

#define PAGE	      4096ull
#define LOWEST	      0x10000ull /* lowest address that a process may map */
#define PROGRAM_BYTES 4096u	 /* without the arenas behind the first */
#define MAP_BYTES     128u	 /* of the program, for each arena: more than it takes */
#define NAME_BYTES    8u	 /* bytes of the region's name, which precedes the code */

_Static_assert(sizeof(struct arena_header) == ARENA_HEADER, "as it is found");

/* ---- free addresses ---- */

struct range {
	uint64_t start, end;
};

struct ranges {
	VEC(struct range)
};

static bool add_range(void *ctx, const struct mapping_line *line)
{
	struct ranges *r = ctx;

	*vec_add(r) = (struct range){ line->start, line->end };
	return true;
}

static void insert_range(struct ranges *r, uint64_t at, size_t bytes)
{
	size_t i = r->n;

	vec_add(r);
	for (; i && r->data[i - 1].start > at; i--)
		r->data[i] = r->data[i - 1];
	r->data[i] = (struct range){ at, at + bytes };
}

/* Returns the room for the code that makes the system calls, at the end of the first arena. */
static size_t program_bytes(const struct injection *in)
{
	return PROGRAM_BYTES + in->arenas.n * MAP_BYTES;
}

static bool is_near(const struct stub_arena *a, uint64_t at)
{
	uint64_t lowest = at < a->near_start ? at : a->near_start;
	uint64_t highest = at + a->bytes > a->near_end ? at + a->bytes : a->near_end;

	return at >= LOWEST && highest - lowest < steps_reach();
}

/*
 * Returns the end of the nearest gap below the code, as heaps grow into the start of a gap, or else
 * the start of a gap above the code, or 0. A page stays free on both sides: the kernel would
 * otherwise merge arenas, and sweep() searches for their starts.
 */
static uint64_t find_room(const struct ranges *r, const struct stub_arena *a)
{
	for (size_t i = r->n; i--;) {
		uint64_t start = i ? r->data[i - 1].end : LOWEST, end = r->data[i].start - PAGE;

		if (end <= a->near_start && end > start && end - start >= a->bytes + PAGE &&
		    is_near(a, end - a->bytes))
			return end - a->bytes;
	}
	for (size_t i = 0; i + 1 < r->n; i++) {
		uint64_t start = r->data[i].end + PAGE, end = r->data[i + 1].start;

		if (start >= a->near_end && end > start && end - start >= a->bytes + PAGE &&
		    is_near(a, start))
			return start;
	}
	return 0;
}

int injection_place(struct injection *in, pid_t pid, struct err *err)
{
	struct ranges r = { 0 };
	int ret = mappings_each(pid, add_range, &r);

	if (ret)
		err_set(err, ret,
			"the mappings of process %d cannot be read; record it with --engine kernel",
			pid);
	for (size_t i = 0; !ret && i < in->arenas.n; i++) {
		struct stub_arena *a = &in->arenas.data[i];

		a->bytes += ARENA_HEADER + (i ? PROGRAM_BYTES : program_bytes(in)) + PAGE - 1;
		a->bytes &= ~(PAGE - 1);
		a->at = find_room(&r, a);
		if (!a->at)
			ret = err_set(err, -ENOMEM,
				      "process %d has no room for code near its own; choose fewer "
				      "functions with -F",
				      pid);
		else
			insert_range(&r, a->at, a->bytes);
	}
	vec_release(&r);
	return ret;
}

static bool is_occupied(const struct ranges *r, const struct stub_arena *a)
{
	vec_for_each (r, const struct range, here)
		if (here->start < a->at + a->bytes + PAGE && here->end + PAGE > a->at)
			return true;
	return false;
}

bool injection_has_room(const struct injection *in, pid_t pid)
{
	struct ranges r = { 0 };
	bool has = !mappings_each(pid, add_range, &r);

	vec_for_each (&in->arenas, const struct stub_arena, a)
		has &= !is_occupied(&r, a);
	vec_release(&r);
	return has;
}

/* ---- code ---- */

static void emit_call(struct stub_code *c, uint32_t number, const uint64_t args[6])
{
	steps_arguments(c, args);
	steps_call(c, number);
}

static void emit_map(struct stub_code *c, uint64_t at, uint64_t bytes, uint64_t prot)
{
	const uint64_t flags =
		MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : MAP_NORESERVE);

	emit_call(c, SYS_mmap, (const uint64_t[6]){ at, bytes, prot, flags, UINT64_MAX, 0 });
}

/* The tags of marks. */
enum { AT_ARENA, AT_BLOCKS, AT_WIPED, AT_FILE, AT_REGION, AT_END, AT_ARENAS };

/* Maps the first arena, and then jumps to the code that the recorder has written there, or back if
 * the recorder has not written any. */
static void emit_start(struct stub_code *c, struct injection *in, uint64_t resume)
{
	const struct stub_arena *a = &in->arenas.data[0];

	steps_save(c);
	emit_map(c, a->at, a->bytes, PROT_READ | PROT_EXEC);
	steps_mark(c, DETOUR_TAG + AT_ARENA);
	steps_go_to_told(c);
	steps_resume(c, resume, &in->back);
}

static uint64_t rows_at(const struct injection *in)
{
	return INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot) + INPROC_NAMES +
	       INPROC_SLOTS * in->ring_bytes;
}

static uint64_t region_bytes(const struct injection *in)
{
	return rows_at(in) + INPROC_SLOTS * in->rows_bytes;
}

/* If the kernel requires files in memory to declare whether they are executable, the flags declare
 * that this one is not. */
static uint64_t file_flags(void)
{
	FILE *f = fopen("/proc/sys/vm/memfd_noexec", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return MFD_CLOEXEC | MFD_ALLOW_SEALING | (scope > 0 ? 8 /* MFD_NOEXEC_SEAL */ : 0);
}

/* Behind a mark, which tells the address of a mapping. */
static void emit_advice(struct stub_code *c, uint64_t bytes, uint64_t advice)
{
	steps_told_argument(c, bytes, advice);
	steps_call(c, SYS_madvise);
}

static void emit_region(struct stub_code *c, const struct injection *in, uint64_t name_at)
{
	emit_call(c, SYS_memfd_create, (const uint64_t[6]){ name_at, file_flags() });
	steps_keep(c);
	steps_mark(c, DETOUR_TAG + AT_FILE);
	steps_arguments(c, (const uint64_t[6]){ 0, region_bytes(in), PROT_READ | PROT_WRITE,
						MAP_SHARED | MAP_NORESERVE, 0, 0 });
	steps_kept_fifth(c);
	steps_call(c, SYS_mmap);
	steps_mark(c, DETOUR_TAG + AT_REGION);
	emit_advice(c, region_bytes(in), MADV_DONTDUMP);
	steps_kept_first(c);
	steps_call(c, SYS_close);
	steps_mark(c, DETOUR_TAG + AT_END);
}

static void emit_program(struct stub_code *c, struct injection *in, uint64_t resume)
{
	static const char name[NAME_BYTES] = "ispot";
	const uint64_t name_at = c->address;
	const uint64_t blocks_bytes = (INPROC_SLOTS + 1) * in->block_bytes + in->table_bytes;

	stub_emit(c, name, sizeof(name));
	for (size_t i = 1; i < in->arenas.n; i++) {
		emit_map(c, in->arenas.data[i].at, in->arenas.data[i].bytes, PROT_READ | PROT_EXEC);
		steps_mark(c, (uint32_t)(DETOUR_TAG + AT_ARENAS + i));
	}
	emit_map(c, 0, blocks_bytes, PROT_READ | PROT_WRITE);
	steps_mark(c, DETOUR_TAG + AT_BLOCKS);
	emit_advice(c, blocks_bytes, MADV_WIPEONFORK);
	steps_mark(c, DETOUR_TAG + AT_WIPED);
	emit_region(c, in, name_at);
	steps_resume(c, resume, &in->back);
}

/* ---- mapping the memory ---- */

static int report_failure(const struct tracees *t, const char *what, int64_t value, struct err *err)
{
	return err_set(err, value < 0 && value > -4096 ? (int)value : -EIO,
		       "process %d cannot %s: %s; its limits (ulimit -v) or its rules forbid it",
		       t->pid, what, strerror(value < 0 && value > -4096 ? (int)-value : EIO));
}

static uint64_t locked_kib(pid_t pid)
{
	char *line = status_line(pid, "VmLck:");
	uint64_t n = line ? strtoull(line, NULL, 10) : 0;

	free(line);
	return n;
}

/* The process would load all rings into memory, gigabytes of them, before it continues. */
static int refuse_locked(const struct tracees *t, struct err *err)
{
	return err_set(
		err, -ENOTSUP,
		"process %d keeps all that it maps in memory (mlockall), so the room for its "
		"records would fill gigabytes; record it with --engine kernel",
		t->pid);
}

static int run_start(struct injection *in, struct tracees *t, uint64_t start, uint64_t resume,
		     struct err *err)
{
	const uint64_t locked = locked_kib(t->pid);
	uint8_t bytes[STEPS_ROOM_MOST];
	struct stub_code c = { .bytes = bytes, .address = start, .room = steps_room() };
	int64_t value;
	int ret;

	emit_start(&c, in, resume);
	ret = c.n < c.room ? tracees_write(t, start, bytes, c.n) : -E2BIG;
	if (ret)
		return err_set(
			err, ret,
			"process %d cannot be written to: %s; record it with --engine kernel",
			t->pid, strerror(-ret));
	ret = tracees_begin_detour(t, start, err);
	if (!ret)
		ret = tracees_run_to_mark(t, DETOUR_TAG + AT_ARENA, TRACEE_PATIENCE_NS, &value,
					  err);
	if (!ret && value != (int64_t)in->arenas.data[0].at)
		ret = report_failure(t, "map memory for code", value, err);
	if (!ret && locked_kib(t->pid) > locked)
		ret = refuse_locked(t, err);
	return ret;
}

/* The jump at the arena's start is written last: the thread does not go there while it is 0. */
static int write_program(struct injection *in, struct tracees *t, uint64_t resume, struct err *err)
{
	const struct stub_arena *a = &in->arenas.data[0];
	const size_t room = program_bytes(in);
	uint8_t *bytes = xmalloc(room), jump[8] = { 0 };
	struct stub_code c = { .bytes = bytes, .address = a->at + a->bytes - room, .room = room },
			 j = { .bytes = jump, .address = a->at, .room = sizeof(jump) };
	int ret;

	emit_program(&c, in, resume);
	stub_emit_jump(&j, c.address + NAME_BYTES);
	ret = c.n < c.room ? tracees_write(t, c.address, bytes, c.n) : -E2BIG;
	if (!ret)
		ret = tracees_write(t, a->at, jump, sizeof(jump));
	free(bytes);
	return ret ? err_set(err, ret,
			     "process %d cannot be written to: %s; record it with --engine kernel",
			     t->pid, strerror(-ret))
		   : 0;
}

static int run_to_mark(struct tracees *t, unsigned mark, const char *what, int64_t *value,
		       struct err *err)
{
	int ret = tracees_run_to_mark(t, DETOUR_TAG + mark, TRACEE_PATIENCE_NS, value, err);

	return ret || *value >= 0 ? ret : report_failure(t, what, *value, err);
}

/* Returns whether the file is the empty one in memory that the process was made to open. A process
 * that shares its descriptors runs meanwhile, and can put any other file at that number. */
static bool is_new_memory(int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && !(seals & F_SEAL_SEAL) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       !st.st_size && !st.st_nlink;
}

/* Opens the region and seals it, so that no process can change its size. */
static int open_region(struct injection *in, const struct tracees *t, int64_t number,
		       struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, (int)number);
	in->region_fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (in->region_fd >= 0 && !is_new_memory(in->region_fd))
		return err_set(err, -EBADF,
			       "another process has changed the descriptors of process %d; "
			       "record it with --engine kernel",
			       t->pid);
	if (in->region_fd < 0 || ftruncate(in->region_fd, (off_t)region_bytes(in)) ||
	    fcntl(in->region_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return err_set(
			err, -errno,
			"memory cannot be shared with process %d: %s; record it with --engine kernel",
			t->pid, strerror(errno));
	return 0;
}

static int run_program(struct injection *in, struct tracees *t, struct err *err)
{
	int64_t value = 0;
	int ret = 0;

	for (size_t i = 1; !ret && i < in->arenas.n; i++) {
		ret = run_to_mark(t, (unsigned)(AT_ARENAS + i), "map memory for code", &value, err);
		if (!ret && value != (int64_t)in->arenas.data[i].at)
			ret = report_failure(t, "map memory for code", value, err);
	}
	if (!ret)
		ret = run_to_mark(t, AT_BLOCKS, "map memory", &value, err);
	in->blocks = (uint64_t)value;
	in->no_block = in->blocks + INPROC_SLOTS * in->block_bytes;
	in->table = in->no_block + in->block_bytes;
	if (!ret)
		ret = run_to_mark(t, AT_WIPED, "have memory wiped on fork", &value, err);
	if (!ret)
		ret = run_to_mark(t, AT_FILE, "make a file in memory", &value, err);
	if (!ret)
		ret = open_region(in, t, value, err);
	if (!ret)
		ret = run_to_mark(t, AT_REGION, "map memory", &value, err);
	in->region = (uint64_t)value;
	in->rows = in->region + rows_at(in);
	return ret ? ret : run_to_mark(t, AT_END, "close a file", &value, err);
}

static int map_memory(struct injection *in, struct tracees *t, uint64_t start, uint64_t resume,
		      struct err *err)
{
	uint8_t before[STEPS_ROOM_MOST];
	int ret = tracees_read(t, start, before, steps_room());

	if (ret)
		return err_set(err, ret,
			       "process %d cannot be read; record it with --engine kernel", t->pid);
	ret = run_start(in, t, start, resume, err);
	if (!ret)
		ret = write_program(in, t, resume, err);
	if (!ret)
		ret = run_program(in, t, err);
	if (!ret && in->back)
		ret = tracees_end_detour(t, err);
	if (!ret) /* the thread is in the arena now, or back */
		tracees_write(t, start, before, steps_room());
	return ret;
}

int injection_make(struct injection *in, struct tracees *t, struct err *err)
{
	uint64_t start;
	int ret;

	in->region_fd = -1;
	in->back = 0;
	in->table_bytes = blob_table_bytes();
	in->block_bytes = blob_block_bytes(in->period, in->n_functions, in->gives_up);
	in->rows_bytes = in->period > 1 ? inproc_rows_bytes(in->n_functions) : 0;
	ret = tracees_resume_at(t, &in->resume, err);
	if (ret)
		return ret;
	start = detour_room(t->pid, in->resume);
	if (!start)
		ret = err_set(err, -ENOMEM,
			      "process %d has no room behind its code; record it with --engine "
			      "kernel",
			      t->pid);
	if (!ret)
		ret = map_memory(in, t, start, in->resume, err);
	in->no_tls = in->arenas.n
			     ? in->arenas.data[0].at + offsetof(struct arena_header, mark.magic)
			     : 0;
	return ret;
}

void injection_release(struct injection *in)
{
	vec_release(&in->arenas);
	if (in->region_fd >= 0)
		close(in->region_fd);
	in->region_fd = -1;
}
