/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/returns.h"

#include <stdbool.h>
#include <string.h>

#include "probes/bpf/wire.h"

/*
 * If the word at this offset of the copy, masked by bits, is the trampoline, replaces it by address
 * and returns true.
 */
static bool restore_at(struct wire_copy *w, uint64_t at, uint64_t bits, uint64_t address)
{
	uint64_t word;

	if (at > w->n_bytes || at + sizeof(word) > w->n_bytes)
		return false;
	memcpy(&word, w->stack + at, sizeof(word));
	if ((word & bits) != w->trampoline)
		return false;
	memcpy(w->stack + at, &address, sizeof(address));
	return true;
}

/* Restores the lowest one in the frame: those above could be left from earlier calls. */
static void restore_in_frame(struct wire_copy *w, uint64_t from, uint64_t to, uint64_t address)
{
	if (to > w->n_bytes)
		to = w->n_bytes;
	for (uint64_t at = from; at < to; at += sizeof(address))
		if (restore_at(w, at, WIRE_SIGNED_TRAMPOLINE(w->trampoline), address))
			return;
}

/*
 * Restores the link register of a function that has just begun. Returns how many of the returns
 * this settles.
 */
static uint32_t restore_link(struct wire_copy *w, uint32_t n, uint32_t link)
{
	uint32_t i = 0;

	if (!n || (w->registers[link] & WIRE_SIGNED_TRAMPOLINE(w->trampoline)) != w->trampoline)
		return 0;
	w->registers[link] = w->returns[0].address;
	while (i < n && w->returns[i].stack == w->returns[0].stack) /* tail calls share the place */
		i++;
	return i;
}

void returns_restore(struct wire_copy *w, uint64_t sp, uint32_t link)
{
	uint32_t n = w->n_returns < WIRE_RETURNS_MAX ? w->n_returns : WIRE_RETURNS_MAX;
	uint32_t i = link == RETURNS_ON_STACK ? 0 : restore_link(w, n, link);
	uint64_t from = 0;

	for (; i < n; i++) {
		uint64_t at = w->returns[i].stack - sp;

		if (link == RETURNS_ON_STACK) {
			restore_at(w, at, UINT64_MAX, w->returns[i].address);
		} else if (w->returns[i].stack >= sp && at >= from) {
			restore_in_frame(w, from, at, w->returns[i].address);
			from = at;
		}
	}
}
