/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/probeset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/regular.h"
#include "probes/bpf/wire.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/usession.h"
#include "probes/place/marker_place.h"
#include "probes/place/plan.h"
#include "probes/select/marker.h"
#include "symbol/dso/dso.h"

/* Entries are the first: see probeset_open() and probeset_quiet(). */
static const enum point_class class_of[SET_EVENTS] = { POINT_CODE, POINT_RETURN, POINT_EXIT,
						       POINT_COUNT };

/* The event of a kind of points, and what tells it from the event's others. */
static const struct {
	uint32_t event;
	enum wire_point point;
} place_of[] = {
	[SET_ENTRY] = { 0, WIRE_POINT_ENTRY },	  [SET_RETURN] = { 1, 0 },
	[SET_RET_SITES] = { 2, WIRE_POINT_EXIT }, [SET_COUNT] = { 3, 0 },
	[SET_BEGIN] = { 0, WIRE_POINT_BEGIN },	  [SET_END] = { 2, WIRE_POINT_END },
};

void probeset_init(struct probeset *set, struct dynevent_session *session, uint32_t id)
{
	uint32_t number = dynevent_next_number(session);

	*set = (struct probeset){ .id = id };
	for (int c = 0; c < SET_EVENTS; c++)
		set->events[c] = dynevent_new(session, class_of[c], number);
}

void probeset_use_sessions(struct probeset *set)
{
	set->session = usession_new();
}

#define PAGE_BITS 12 /* of the smallest page size */

static bool has_read(const struct probeset *set, const char *path, uint64_t offset)
{
	return set->read.path && set->read.page == offset >> PAGE_BITS &&
	       !strcmp(set->read.path, path);
}

/*
 * Reads the page into the page cache: the kernel reads it when it sets the breakpoint, and if that
 * fails the probe is silently missing.
 */
static void read_page(struct probeset *set, const char *path, uint64_t file_offset)
{
	char instruction[16]; /* may extend into the next page */
	uint64_t last_byte = file_offset + sizeof(instruction) - 1;
	ssize_t n;
	int fd;

	if (has_read(set, path, file_offset) && has_read(set, path, last_byte))
		return;
	fd = regular_open(path, NULL); /* fails for a device or a FIFO that replaced the file */
	if (fd < 0)
		return;
	n = pread(fd, instruction, sizeof(instruction), file_offset);
	close(fd);
	if (n <= 0)
		return;
	free(set->read.path);
	set->read.path = xstrdup(path);
	set->read.page = last_byte >> PAGE_BITS;
}

void probeset_add_counted(struct probeset *set, enum set_point kind, const char *path,
			  uint64_t file_offset, uint64_t counter_offset, uint32_t id)
{
	read_page(set, path, file_offset);
	dynevent_add_counted(set->events[place_of[kind].event], path, file_offset, counter_offset,
			     (uint64_t)place_of[kind].point << WIRE_POINT_BITS | id);
}

void probeset_add_point(struct probeset *set, enum set_point kind, const char *path,
			uint64_t file_offset, uint32_t id)
{
	probeset_add_counted(set, kind, path, file_offset, 0, id);
}

bool probeset_add_session(struct probeset *set, const char *path, uint64_t file_offset,
			  uint32_t entry_id, uint32_t return_id)
{
	if (!set->session)
		return false;
	read_page(set, path, file_offset);
	usession_add(set->session, path, file_offset, (uint64_t)return_id << 32 | entry_id);
	return true;
}

/* offset is negative in a part of the function that lies before its entry. */
static uint64_t offset_in_file(const struct planned *p, int64_t offset)
{
	return dso_address_to_offset(p->what.dso, p->what.function->address + (uint64_t)offset);
}

void probeset_add(struct probeset *set, const struct planned *p, const char *path, uint32_t id)
{
	const struct placement *place = &p->place;
	uint32_t values = p->arguments.registers;

	if (p->what.marker) {
		marker_add_points(set, p, path, id);
		return;
	}
	if (p->arguments.occasional)
		values |= WIRE_ARGS_OCCASIONAL;
	values = id | values << WIRE_ID_BITS;
	id |= (uint32_t)p->arguments.returns << WIRE_ID_BITS;
	if (p->exit.mech == EXIT_RETURN && place->entry_offset == place->return_offset &&
	    probeset_add_session(set, path, offset_in_file(p, place->entry_offset), values, id))
		return;
	probeset_add_point(set, SET_ENTRY, path, offset_in_file(p, place->entry_offset), values);
	if (p->exit.mech == EXIT_RETURN)
		probeset_add_point(set, SET_RETURN, path, offset_in_file(p, place->return_offset),
				   id);
	if (p->exit.mech == EXIT_RET_SITES)
		for (uint32_t i = 0; i < place->n_ret_sites; i++)
			probeset_add_point(set, SET_RET_SITES, path,
					   offset_in_file(p, place->ret_sites[i]), id);
}

void probeset_add_count(struct probeset *set, const struct planned *p, const char *path,
			uint32_t id)
{
	if (p->what.marker)
		marker_add_counts(set, p, path, id);
	else
		probeset_add_point(set, SET_COUNT, path, offset_in_file(p, p->place.entry_offset),
				   id);
}

int probeset_create(struct probeset *set,
		    void (*refused)(void *ctx, uint32_t function_id, int errnum), void *ctx,
		    struct err *err)
{
	int ret = 0;

	for (int c = 0; c < SET_EVENTS && !ret; c++) {
		if (dynevent_n(set->events[c])) {
			ret = dynevent_create(set->events[c], refused, ctx, err);
			continue;
		}
		dynevent_delete(set->events[c]);
		set->events[c] = NULL;
	}
	return ret;
}

int probeset_open(struct probeset *set, struct bpfprog *b, pid_t pid, struct err *err)
{
	/* Exits first: a call whose entry is probed before its exit could stay open for good. */
	for (int c = SET_EVENTS - 1; c >= 0; c--) {
		int fd, ret;

		if (!set->events[c])
			continue;
		fd = dynevent_open(set->events[c], pid, 0, 1, err);
		if (fd < 0)
			return fd;
		ret = set->attached ? 0 : bpfprog_attach_event(b, class_of[c], fd, err);
		if (ret)
			return ret;
	}
	set->attached = true;
	return 0;
}

uint32_t probeset_n_events(const struct probeset *set)
{
	uint32_t n = 0;

	for (int c = 0; c < SET_EVENTS; c++)
		n += set->events[c] != NULL;
	return n;
}

int probeset_follow(struct probeset *set, pid_t tid, bool inherit, struct err *err)
{
	for (int c = SET_EVENTS - 1; c >= 0; c--) {
		int fd = set->events[c] ? dynevent_open(set->events[c], tid, inherit, 1, err) : 0;

		if (fd < 0)
			return fd;
	}
	return 0;
}

int probeset_hold(struct probeset *set, pid_t pid, struct err *err)
{
	int ret = 0;

	for (int c = SET_EVENTS - 1; c >= 0 && !ret; c--)
		if (set->events[c])
			ret = dynevent_hold(set->events[c], pid, err);
	return ret;
}

int probeset_open_session(struct probeset *set, const struct bpfprog *b, pid_t pid, struct err *err)
{
	return set->session ? usession_open(set->session, bpfprog_session(b), pid, err) : 0;
}

void probeset_close_session(struct probeset *set, pid_t pid)
{
	if (set->session)
		usession_close_process(set->session, pid);
}

void probeset_unhold_ended(struct probeset *set)
{
	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			dynevent_unhold_ended(set->events[c]);
}

void probeset_unfollow(struct probeset *set)
{
	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			dynevent_unfollow(set->events[c]);
}

void probeset_unhold(struct probeset *set)
{
	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			dynevent_unhold(set->events[c]);
}

void probeset_quiet(struct probeset *set)
{
	/*
	 * Entries first: an exit without its entry is ignored, but an entry without its exit stays
	 * open.
	 */
	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			dynevent_close_carriers(set->events[c]);
	if (set->session)
		usession_close(set->session);
}

void probeset_close_beside(struct probeset *set)
{
	probeset_quiet(set);
	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			dynevent_close_beside(set->events[c]);
}

bool probeset_is_closed(struct probeset *set)
{
	bool closed = true;

	for (int c = 0; c < SET_EVENTS; c++)
		if (set->events[c])
			closed &= dynevent_is_closed(set->events[c]);
	return closed;
}

void probeset_release(struct probeset *set)
{
	for (int c = 0; c < SET_EVENTS; c++) {
		if (set->events[c])
			dynevent_delete(set->events[c]);
		set->events[c] = NULL;
	}
	usession_free(set->session);
	free(set->read.path);
	set->read.path = NULL;
	set->session = NULL;
	set->attached = false;
}
