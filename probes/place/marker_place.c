/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/marker_place.h"

#include <linux/version.h>
#include <stdio.h>
#include <string.h>

#include "probes/bpf/wire.h"
#include "probes/place/plan.h"
#include "probes/place/probeset.h"
#include "probes/select/marker.h"

static const uint8_t nop1[] = { 0x90 };
static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t past_red_zone[] = { 0x48, 0x8d, 0x64, 0x24, 0x80 }; /* lea -128(%rsp),%rsp */
static const uint8_t nop_arm64[] = { 0x1f, 0x20, 0x03, 0xd5 };

enum nop { NOP_NONE, NOP_ONE, NOP_FIVE, NOP_BOTH, NOP_BOTH_SAFE };

static bool bytes_are(struct dso *dso, uint64_t address, const uint8_t *wanted, size_t n)
{
	size_t readable;
	const uint8_t *code = dso_code(dso, address, &readable);

	return code && readable >= n && !memcmp(code, wanted, n);
}

/*
 * Returns the kind of nop at the note's address: of 1 or 5 bytes, or both, and whether an lea that
 * skips the red zone stands before both.
 */
static enum nop nop_at(struct dso *dso, uint64_t address)
{
	if (dso_machine(dso) == DSO_AARCH64)
		return bytes_are(dso, address, nop_arm64, sizeof(nop_arm64)) ? NOP_ONE : NOP_NONE;
	if (bytes_are(dso, address, nop5, sizeof(nop5)))
		return NOP_FIVE;
	if (!bytes_are(dso, address, nop1, sizeof(nop1)))
		return NOP_NONE;
	if (!bytes_are(dso, address + 1, nop5, sizeof(nop5)))
		return NOP_ONE;
	return bytes_are(dso, address - sizeof(past_red_zone), past_red_zone, sizeof(past_red_zone))
		       ? NOP_BOTH_SAFE
		       : NOP_BOTH;
}

/* Returns the worst nop of several places, as a block has one class. */
static enum nop worst(struct dso *dso, const struct marker_points *points, enum nop so_far)
{
	vec_for_each (points, const struct marker_point, at) {
		enum nop nop = nop_at(dso, at->address);

		if (nop == NOP_FIVE || nop == NOP_NONE)
			return nop;
		so_far = nop < so_far ? nop : so_far;
	}
	return so_far;
}

static void refuse(struct planned *p, const char *why)
{
	p->possible = false;
	snprintf(p->place.reason, sizeof(p->place.reason), "%s", why);
	p->reason = p->place.reason;
}

static void note_ends(struct planned *p)
{
	const struct marker *m = p->what.marker;
	struct placement *place = &p->place;

	place->ret_sites_complete = true;
	for (size_t i = 0; i < m->ends.n && i < PLACEMENT_RET_SITES_MAX; i++)
		place->ret_sites[place->n_ret_sites++] =
			(int64_t)(m->ends.data[i].file_offset + place->entry_offset -
				  m->function.file_offset);
}

uint32_t marker_offset(unsigned kernel_version)
{
#if defined(__x86_64__)
	return kernel_version >= KERNEL_VERSION(6, 18, 0);
#else
	(void)kernel_version;
	return 0;
#endif
}

void marker_plan(struct planned *p, unsigned kernel_version)
{
	const struct marker *m = p->what.marker;
	bool nops_become_calls = kernel_version >= KERNEL_VERSION(6, 18, 0);
	enum nop nop = worst(p->what.dso, &m->begins, NOP_BOTH_SAFE);

	if (nop != NOP_NONE && nop != NOP_FIVE)
		nop = worst(p->what.dso, &m->ends, nop);
	p->place = (struct placement){ .naive_class = CLASS_USDT, .class = CLASS_USDT };
	if (nop == NOP_NONE)
		return refuse(p, "no nop stands at its place");
	if (nop == NOP_FIVE && nops_become_calls)
		return refuse(p, "the kernel turns its nop into a call, which may harm the stack");
	if (nop == NOP_BOTH_SAFE ||
	    (dso_machine(p->what.dso) == DSO_AARCH64 && !strncmp(m->function.symbol, "marker:", 7)))
		p->place.class = CLASS_MARKER;
	p->place.entry_offset = nop == NOP_BOTH_SAFE ? marker_offset(kernel_version) : 0;
	p->place.possible = p->possible = true;
	p->exit = (struct exit_choice){ .mech = m->ends.n ? EXIT_RET_SITES : EXIT_NONE,
					.reason = m->ends.n ? "" : "it has no end" };
	note_ends(p);
}

static void add_all(struct probeset *set, enum set_point kind, const struct planned *p,
		    const struct marker_points *points, const char *path, uint32_t id)
{
	vec_for_each (points, const struct marker_point, at)
		probeset_add_counted(set, kind, path, at->file_offset + p->place.entry_offset,
				     at->semaphore_offset,
				     id | (uint32_t)at->operands << WIRE_ID_BITS);
}

void marker_add_counts(struct probeset *set, const struct planned *p, const char *path, uint32_t id)
{
	vec_for_each (&p->what.marker->begins, const struct marker_point, at)
		probeset_add_counted(set, SET_COUNT, path, at->file_offset + p->place.entry_offset,
				     at->semaphore_offset, id);
}

void marker_add_points(struct probeset *set, const struct planned *p, const char *path, uint32_t id)
{
	add_all(set, SET_BEGIN, p, &p->what.marker->begins, path, id);
	add_all(set, SET_END, p, &p->what.marker->ends, path, id);
}
