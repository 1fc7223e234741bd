/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/unwind.h"

#include <string.h>

#include <asm/perf_regs.h>
#include <libunwind.h>

#include "base/mem.h"
#include "base/vec.h"
#include "symbol/dso/cfi.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/frames.h"
#include "symbol/maps.h"
#include "symbol/vdso.h"

/*
 * libunwind's search in the table of .eh_frame_hdr, through the accessors of this file. libunwind
 * exports the function for unwinders of other processes (perf uses it, too) but declares it in no
 * public header.
 */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
				       unw_proc_info_t *pi, int need_unwind_info, void *arg);

/* The beginning of what the search finds (struct dwarf_cie_info of libunwind 1.2 to 1.8). */
struct found_info {
	struct cfi_range of_cie, of_fde;
	uint64_t code_align, data_align, return_column;
};

/*
 * Expressions in .eh_frame can jump backwards, and the addresses that they read may be in none of
 * thousands of mappings: a malicious file must not keep ispot busy forever. So the reads of words,
 * and the searches of objects for these words, are limited for each stack. An object whose stacks
 * exceed a limit WASTED_MAX times is not unwound by its table any more.
 */
#define READS_MAX  100000
#define LOOKS_MAX  500000
#define WASTED_MAX 4

struct wasteful {
	const struct dso *dso;
	unsigned stacks;
};

struct unwinder {
	unw_addr_space_t space;
	struct {
		VEC(struct wasteful)
	} wasteful;
	unsigned given_up; /* number of wasteful objects whose tables are not used */
	/* state of the stack that is being unwound */
	const struct unwind_input *in;
	uint64_t sp;
	uint64_t first_ip, first_sp; /* of the frame in which the tables take over */
	uint64_t refused;	     /* a possible return address outside of all mappings */
	unsigned reads, looks;
	struct dso *dso; /* the object whose table was used last; NULL: none */
	uint64_t bias;
};

/* N_REGISTERS: the number of registers that libunwind has room for (DWARF_NUM_PRESERVED_REGS). */
#if defined(__x86_64__)
#define N_REGISTERS 17
#define PERF_IP	    PERF_REG_X86_IP
#define PERF_SP	    PERF_REG_X86_SP
static const uint8_t perf_register[] = {
	/* by DWARF number */
	PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,	PERF_REG_X86_SI,
	PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,	PERF_REG_X86_R9,
	PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
	PERF_REG_X86_R15, PERF_REG_X86_IP,
};
const uint64_t unwind_register_mask = 0xff01ff; /* AX … IP, R8 … R15 */
#elif defined(__aarch64__)
#define N_REGISTERS 97
#define PERF_IP	    PERF_REG_ARM64_PC
#define PERF_SP	    PERF_REG_ARM64_SP
static const uint8_t perf_register[] = {
	/* DWARF and perf use the same numbers */
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};
const uint64_t unwind_register_mask = 0x1ffffffff; /* x0 … x30, sp, pc */
#endif

const unsigned unwind_register_sp = PERF_SP, unwind_register_ip = PERF_IP;

static bool get_register(const struct unwind_input *in, unsigned number, uint64_t *value)
{
	uint64_t bit = 1ull << number;

	if (!(in->register_mask & bit))
		return false;
	*value = in->registers[__builtin_popcountll(in->register_mask & (bit - 1))];
	return true;
}

/*
 * Finds the object that is mapped at ip, and what to add to an address of its file. The mappings
 * list only code, but an object's segments keep their distances.
 */
static struct dso *find_object(const struct unwind_input *in, uint64_t ip, uint64_t *bias)
{
	const struct mapping *m = mappings_find(in->maps, ip);
	struct dso *dso = m ? in->dsos[m - in->maps->data] : NULL;
	uint64_t address;

	if (!dso)
		return NULL;
	address = dso_offset_to_address(dso, ip - m->start + m->file_offset);
	*bias = ip - address;
	return address == UINT64_MAX ? NULL : dso;
}

static bool is_code(struct unwinder *u, uint64_t ip)
{
	bool known = mappings_find(u->in->maps, ip);

	if (!known)
		u->refused = ip;
	return known;
}

/*
 * aarch64 signs return addresses in the bits above the address. Returns the address without the
 * signature, if it is in a mapping.
 */
static uint64_t without_signature(const struct unwind_input *in, uint64_t word)
{
#if defined(__aarch64__)
	uint64_t address = word & 0xffffffffffffull;

	if (address != word && mappings_find(in->maps, address))
		return address;
#else
	(void)in;
#endif
	return word;
}

static struct wasteful *wasteful(struct unwinder *u, const struct dso *dso)
{
	vec_for_each (&u->wasteful, struct wasteful, w)
		if (w->dso == dso)
			return w;
	return NULL;
}

/* Forgets what libunwind keeps of a table once it is not used any more. */
static void note_waste(struct unwinder *u, uint64_t ip)
{
	uint64_t bias;
	const struct dso *dso = find_object(u->in, ip, &bias);
	struct wasteful *w = wasteful(u, dso);

	if (!w) {
		w = vec_add(&u->wasteful);
		*w = (struct wasteful){ .dso = dso };
	}
	if (++w->stacks != WASTED_MAX)
		return;
	u->given_up++;
	unwinder_forget(u);
}

/*
 * Tries the object whose table is in use first: its table refers to its own addresses, as a rule.
 */
static bool read_own(const struct unwinder *u, uint64_t address, uint64_t *word)
{
	const uint8_t *bytes = u->dso ? dso_bytes(u->dso, address - u->bias, sizeof(*word)) : NULL;

	if (bytes)
		memcpy(word, bytes, sizeof(*word));
	return bytes != NULL;
}

static bool read_object(const struct unwind_input *in, size_t i, uint64_t address, uint64_t *word)
{
	const struct mapping *m = &in->maps->data[i];
	const uint8_t *bytes;
	uint64_t bias;

	if (!in->dsos[i] || !find_object(in, m->start, &bias))
		return false;
	bytes = dso_bytes(in->dsos[i], address - bias, sizeof(*word));
	if (bytes)
		memcpy(word, bytes, sizeof(*word));
	return bytes != NULL;
}

static bool is_vdso(const struct unwind_input *in, uint64_t address)
{
	return address >= in->maps->vdso_start && address < in->maps->vdso_end;
}

static bool read_vdso(const struct unwind_input *in, uint64_t address, uint64_t *word)
{
	const uint8_t *bytes = is_vdso(in, address)
				       ? vdso_bytes(address - in->maps->vdso_start, sizeof(*word))
				       : NULL;

	if (bytes)
		memcpy(word, bytes, sizeof(*word));
	return bytes != NULL;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *word, int write,
		      void *arg)
{
	struct unwinder *u = arg;
	const struct unwind_input *in = u->in;
	uint64_t from_top = address - u->sp;

	(void)as;
	if (write || ++u->reads > READS_MAX)
		return -UNW_EINVAL;
	if (address >= u->sp && from_top < in->stack_bytes) {
		if (in->stack_bytes - from_top < sizeof(*word))
			return -UNW_EINVAL;
		memcpy(word, in->stack + from_top, sizeof(*word));
		*word = without_signature(in, *word);
		return 0;
	}
	if (read_own(u, address, word))
		return 0;
	for (size_t i = 0; i < in->maps->n; i++) {
		uint64_t value;

		if (++u->looks > LOOKS_MAX)
			return -UNW_EINVAL;
		if (!read_object(in, i, address, &value))
			continue;
		*word = value;
		return 0;
	}
	return read_vdso(in, address, word) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *word, int write,
		      void *arg)
{
	struct unwinder *u = arg;
	uint64_t value;

	(void)as;
	if (write || number < 0 || (size_t)number >= sizeof(perf_register) ||
	    !get_register(u->in, perf_register[number], &value))
		return -UNW_EBADREG;
	if (perf_register[number] == PERF_IP)
		value = u->first_ip;
	else if (perf_register[number] == PERF_SP)
		value = u->first_sp;
	*word = without_signature(u->in, value);
	return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)as, (void)number, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG; /* not copied; the frames of callers do not depend on them */
}

/*
 * Finds the table for the code at ip. All results but n are addresses of the file, to which bias
 * must be added.
 */
static bool find_table(struct unwinder *u, uint64_t ip, uint64_t *bias, uint64_t *header,
		       uint64_t *entries, uint64_t *n)
{
	const struct unwind_input *in = u->in;
	const struct wasteful *w;

	if (is_vdso(in, ip)) {
		*bias = in->maps->vdso_start;
		return vdso_unwind_table(header, entries, n);
	}
	u->dso = find_object(in, ip, bias);
	u->bias = *bias;
	w = wasteful(u, u->dso);
	return u->dso && (!w || w->stacks < WASTED_MAX) &&
	       dso_unwind_table(u->dso, header, entries, n);
}

static bool read_word(void *u, uint64_t address, uint64_t *word)
{
	unw_word_t value;

	if (access_mem(((struct unwinder *)u)->space, address, &value, 0, u))
		return false;
	*word = value;
	return true;
}

/* An unsound table counts as a wasteful one, which is not used any more after some stacks. */
static bool is_sound(struct unwinder *u, const unw_proc_info_t *pi)
{
	const struct cfi_memory memory = { .read = read_word, .ctx = u };
	struct found_info found;

	if (!pi->unwind_info)
		return true;
	memcpy(&found, pi->unwind_info, sizeof(found));
	if (found.return_column < N_REGISTERS &&
	    cfi_is_sound(&found.of_cie, N_REGISTERS, &memory) &&
	    cfi_is_sound(&found.of_fde, N_REGISTERS, &memory))
		return true;
	u->reads = READS_MAX + 1;
	return false;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	struct unwinder *u = arg;
	uint64_t bias, header, entries, n;
	unw_dyn_info_t di = { 0 };
	int ret;

	if (!find_table(u, ip, &bias, &header, &entries, &n))
		return -UNW_ENOINFO;
	di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	di.start_ip = 0;
	di.end_ip = UINT64_MAX;
	di.u.rti.segbase = header + bias; /* what the table's addresses are relative to */
	di.u.rti.table_data = entries + bias;
	di.u.rti.table_len = n * 8 / sizeof(unw_word_t);
	ret = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need, arg);
	return ret || is_sound(u, pi) ? ret : -UNW_EBADFRAME;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as, (void)pi, (void)arg;
}

static int no_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as, (void)list, (void)arg;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int no_proc_name(unw_addr_space_t as, unw_word_t ip, char *buf, size_t n, unw_word_t *offset,
			void *arg)
{
	(void)as, (void)ip, (void)buf, (void)n, (void)offset, (void)arg;
	return -UNW_EINVAL;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_dyn_info_list,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = no_resume,
	.get_proc_name = no_proc_name,
};

struct unwinder *unwinder_new(void)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->space = unw_create_addr_space(&accessors, 0);
	if (u->space)
		unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	if (u->space)
		unw_destroy_addr_space(u->space);
	vec_release(&u->wasteful);
	free(u);
}

void unwinder_forget(struct unwinder *u)
{
	u->dso = NULL;
	if (u->space)
		unw_flush_cache(u->space, 0, 0);
}

uint64_t unwinder_refused(const struct unwinder *u)
{
	return u->refused;
}

unsigned unwinder_given_up(const struct unwinder *u)
{
	return u->given_up;
}

struct frame {
	uint64_t ip, sp, fp;
	uint64_t place;	 /* where its return address was stored */
	bool has_record; /* reached by frame pointers: the tables ended */
};

/* Steps to the frame whose record, the outer frame pointer and the return address, the frame
 * pointer leads to. */
static bool step_to_record(struct unwinder *u, struct frame *f)
{
	unw_word_t next_fp, ip;

	if (f->fp < f->sp || access_mem(u->space, f->fp, &next_fp, 0, u) ||
	    access_mem(u->space, f->fp + sizeof(ip), &ip, 0, u) || !is_code(u, ip))
		return false;
	*f = (struct frame){ .ip = ip,
			     .sp = f->fp + 2 * sizeof(ip),
			     .fp = next_fp,
			     .place = f->fp + sizeof(ip),
			     .has_record = true };
	return true;
}

#if defined(__x86_64__)
static uint64_t place_of_return(unw_cursor_t *cursor, uint64_t sp)
{
	(void)cursor;
	return sp - sizeof(sp);
}

/* Programs of Go have no tables, but frame pointers. libunwind would guess the frames from these,
 * but not their places. */
static bool has_records(struct unwinder *u, const struct frame *f)
{
	uint64_t bias;
	const struct dso *dso = find_object(u->in, f->ip - (f->place != UNWIND_NOWHERE), &bias);

	return dso && dso_is_go(dso);
}

static bool step_by_record(struct unwinder *u, struct frame *f)
{
	return has_records(u, f) && step_to_record(u, f);
}
#else
static uint64_t place_of_return(unw_cursor_t *cursor, uint64_t sp)
{
	unw_save_loc_t place = { .type = UNW_SLT_NONE };

	(void)sp;
	if (unw_get_save_loc(cursor, UNW_AARCH64_X30, &place))
		return UNWIND_NOWHERE;
	return place.type == UNW_SLT_MEMORY ? place.u.addr
	       : place.type == UNW_SLT_REG  ? UNWIND_IN_LINK
					    : UNWIND_NOWHERE;
}

/* The tables are tried first. */
static bool has_records(struct unwinder *u, const struct frame *f)
{
	(void)u, (void)f;
	return false;
}

#define PACIASP 0xd503233fu
#define BTI_C	0xd503245fu

static bool has_just_begun(struct unwinder *u, const struct frame *f)
{
	unw_word_t code;

	if (f->sp != u->sp || access_mem(u->space, f->ip, &code, 0, u))
		return false;
	return (uint32_t)code == PACIASP || (uint32_t)code == BTI_C;
}

/*
 * libunwind before 1.7 cannot read the tables of code that signs its return addresses. Such code
 * has frame records, to which the frame pointer leads.
 */
static bool step_by_record(struct unwinder *u, struct frame *f)
{
	if (!f->has_record && has_just_begun(u, f)) {
		f->place = UNWIND_IN_LINK;
		return !access_reg(u->space, UNW_AARCH64_X30, &f->ip, 0, u) && f->ip;
	}
	return step_to_record(u, f);
}
#endif

#if defined(__x86_64__)
#define FRAME_POINTER UNW_X86_64_RBP
/* Steps out of a function that has not changed the stack since it was called. */
static bool step_from_entry(struct unwinder *u, struct frame *f)
{
	unw_word_t ip;

	if (access_mem(u->space, f->sp, &ip, 0, u) || !is_code(u, ip))
		return false;
	f->ip = ip;
	f->place = f->sp;
	f->sp += sizeof(ip);
	return true;
}
#else
#define FRAME_POINTER UNW_AARCH64_X29
static bool step_from_entry(struct unwinder *u, struct frame *f)
{
	unw_word_t ip;

	if (access_reg(u->space, UNW_AARCH64_X30, &ip, 0, u) || !is_code(u, ip))
		return false;
	f->ip = ip;
	f->place = UNWIND_IN_LINK;
	return true;
}
#endif

/* Steps to the next outer frame. It must lie above the last one, because stacks grow downwards. */
static bool step_by_tables(unw_cursor_t *cursor, struct frame *f)
{
	unw_word_t sp, ip, fp;

	if (unw_step(cursor) <= 0 || unw_get_reg(cursor, UNW_REG_SP, &sp) ||
	    unw_get_reg(cursor, UNW_REG_IP, &ip))
		return false;
	if (!ip || sp < f->sp || (sp == f->sp && ip == f->ip))
		return false;
	f->sp = sp;
	f->ip = ip;
	f->place = place_of_return(cursor, sp);
	if (!unw_get_reg(cursor, FRAME_POINTER, &fp))
		f->fp = fp;
	return true;
}

/*
 * A return address points behind its call, which may be the last instruction of a function, so one
 * byte is subtracted before the function is looked up.
 */
static bool start(struct unwinder *u, unw_cursor_t *cursor, const struct frame *f)
{
	u->first_ip = f->ip - (f->place != UNWIND_NOWHERE);
	u->first_sp = f->sp;
	return u->space && !unw_init_remote(cursor, u->space, u);
}

static size_t unwind(struct unwinder *u, const struct unwind_input *in, uint64_t *ips,
		     uint64_t *places, size_t n)
{
	struct frame f = { .place = UNWIND_NOWHERE };
	bool by_tables;
	unw_cursor_t cursor;
	size_t found = 0;

	u->reads = u->looks = 0;
	if (!n || !get_register(in, PERF_IP, &f.ip) || !get_register(in, PERF_SP, &f.sp))
		return 0;
	get_register(in, perf_register[FRAME_POINTER], &f.fp);
	u->in = in;
	u->sp = f.sp;
	u->refused = 0;
	ips[0] = f.ip;
	if (places)
		places[0] = f.place;
	if (n > 1 && in->at_entry)
		found += step_from_entry(u, &f);
	by_tables = start(u, &cursor, &f);
	for (;;) {
		if (places)
			places[found] = f.place;
		ips[found++] = f.ip;
		if (found == n || !u->space)
			return found;
		by_tables = by_tables && !has_records(u, &f) && step_by_tables(&cursor, &f);
		if (!by_tables && !step_by_record(u, &f))
			return found;
	}
}

size_t unwind_stack(struct unwinder *u, const struct unwind_input *in, uint64_t *ips,
		    uint64_t *places, size_t n)
{
	size_t found = unwind(u, in, ips, places, n);

	if (found && (u->reads > READS_MAX || u->looks > LOOKS_MAX))
		note_waste(u, ips[found - 1] - (found > 1)); /* unwinding stopped at this frame */
	return found;
}
