// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as the log of a program that counts its edges: read, all that it names looked up. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "given.h"
#include "probes/edges/edges.h"

static char directory[] = "/tmp/ispot-fuzz.XXXXXX", path[64];
static uint64_t sum; /* of what was read, so that it is */

static void leave(void)
{
	unlink(path);
	rmdir(directory);
}

static void add_up(const struct edges *e)
{
	vec_for_each (&e->logs, const struct edges_log, log)
		vec_for_each (&log->steps, const struct edges_step, s)
			sum += s->from + s->to;
	vec_for_each (&e->parts, const struct edges_part, p) {
		sum += p->cut->object + p->site;
		for (uint32_t i = 0; i < p->cut->n; i++)
			sum += p->counts[i].count +
			       e->logs.data[p->log].steps.data[p->counts[i].edge].to;
	}
	vec_for_each (&e->events, const struct edges_event, event)
		sum += event->thread + event->site + e->logs.data[event->log].header->begin_ns;
	vec_for_each (&e->places, const struct edges_place, place)
		sum += strlen(e->names.strings[place->object]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edges_header h = { 0 };
	struct edges e = { 0 };
	struct err err = { 0 };
	int fd;

	if (!*path) {
		if (!mkdtemp(directory))
			abort();
		snprintf(path, sizeof(path), "%s/7.0.0", directory);
		atexit(leave);
	}
	if (size < sizeof(h))
		return -1;
	memcpy(&h, data, sizeof(h));
	h.magic = EDGES_MAGIC;
	if (h.used > size)
		h.used %= size;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &h, sizeof(h)) != sizeof(h) ||
	    write(fd, data + sizeof(h), size - sizeof(h)) != (ssize_t)(size - sizeof(h)))
		abort();
	close(fd);
	if (!edges_read(&e, directory, &err))
		add_up(&e);
	edges_release(&e);
	return 0;
}
