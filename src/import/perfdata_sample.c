// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/perfdata_sample.h"

#include <string.h>

#include "import/perfdata.h"

#define SP_X86_64  7 /* bits of the register mask: asm/perf_regs.h */
#define SP_AARCH64 31
#define TRAILER                                                                        \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* A reading position in a record. Reading past the end gives 0 and sets bad. */
struct cursor {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static const uint8_t *read_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->p;

	if (n > c->left) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	c->left -= n;
	return at;
}

static uint64_t read_u64(struct cursor *c)
{
	const uint8_t *at = read_bytes(c, 8);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, 8);
	return v;
}

static uint32_t read_u32(struct cursor *c)
{
	const uint8_t *at = read_bytes(c, 4);
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, 4);
	return v;
}

/* Skips n entries of a size; it is an error if they do not fit into the record. */
static void skip(struct cursor *c, uint64_t n, uint64_t size)
{
	if (n > c->left)
		c->bad = true;
	else
		read_bytes(c, n * size);
}

static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & 1u << 4); /* FORMAT_LOST */
	uint64_t n = format & PERF_FORMAT_GROUP ? read_u64(c) : 1;

	skip(c, times, 8);
	skip(c, n, 8 * each);
}

static void read_sp(struct cursor *c, uint64_t mask, struct perfdata_sample *s)
{
	uint64_t abi = read_u64(c);
	unsigned bit = mask >> 32 & 1 || mask >> SP_AARCH64 & 1 ? SP_AARCH64 : SP_X86_64;

	for (unsigned i = 0; abi && i < 64; i++) {
		uint64_t value;

		if (!(mask >> i & 1))
			continue;
		value = read_u64(c);
		if (i == bit) {
			s->sp = value;
			s->has_sp = !c->bad;
		}
	}
}

/* Reads the fields behind the common ones, up to the stack pointer. */
static void read_tail(struct cursor *c, const struct perf_event_attr *a, struct perfdata_sample *s)
{
	uint64_t type = a->sample_type;

	if (type & PERF_SAMPLE_PERIOD)
		read_u64(c);
	if (type & PERF_SAMPLE_READ)
		skip_read(c, a->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip(c, read_u64(c), 8);
	if (type & PERF_SAMPLE_RAW) {
		s->raw_bytes = read_u32(c);
		s->raw = read_bytes(c, s->raw_bytes);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		uint64_t n = read_u64(c);

		if (a->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
			read_u64(c);
		skip(c, n, 24);
	}
	if (type & PERF_SAMPLE_REGS_USER)
		read_sp(c, a->sample_regs_user, s);
}

static const struct perfdata_event *event_of(const struct perfdata *p, uint64_t id)
{
	uint32_t i = map_get(&p->by_id, id);

	return i == MAP_NONE ? NULL : &p->events.data[i];
}

/*
 * Returns the event of a sample. All events of a file have the bits for the event's id in common,
 * as the id could not be found otherwise.
 */
static const struct perfdata_event *which(const struct perfdata *p, struct cursor c)
{
	const struct perfdata_event *first = p->events.data;
	uint64_t type = first->attr.sample_type;
	uint64_t before = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	if (p->events.n == 1)
		return first;
	if (type & PERF_SAMPLE_IDENTIFIER)
		return event_of(p, read_u64(&c));
	if (!(type & PERF_SAMPLE_ID))
		return NULL;
	skip(&c, (uint64_t)__builtin_popcountll(type & before), 8);
	return event_of(p, read_u64(&c));
}

static bool of_sample(const struct perfdata *p, struct cursor c, struct perfdata_sample *s)
{
	uint64_t type;

	s->event = which(p, c);
	if (!s->event)
		return false;
	type = s->event->attr.sample_type;
	if (type & PERF_SAMPLE_IDENTIFIER)
		read_u64(&c);
	if (type & PERF_SAMPLE_IP)
		s->ip = read_u64(&c);
	if (type & PERF_SAMPLE_TID) {
		s->pid = read_u32(&c);
		s->tid = read_u32(&c);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time_ns = read_u64(&c);
	if (type & PERF_SAMPLE_ADDR)
		read_u64(&c);
	if (type & PERF_SAMPLE_ID)
		read_u64(&c);
	if (type & PERF_SAMPLE_STREAM_ID)
		read_u64(&c);
	if (type & PERF_SAMPLE_CPU) {
		s->cpu = read_u32(&c);
		read_u32(&c);
	}
	read_tail(&c, &s->event->attr, s);
	return !c.bad;
}

static bool of_other(const struct perfdata *p, struct cursor c, struct perfdata_sample *s)
{
	uint64_t type = p->events.data->attr.sample_type & TRAILER;
	size_t bytes = 8 * (size_t)__builtin_popcountll(type);

	if (!p->events.data->attr.sample_id_all)
		return true;
	if (c.left < bytes)
		return false;
	read_bytes(&c, c.left - bytes);
	if (type & PERF_SAMPLE_TID) {
		s->pid = read_u32(&c);
		s->tid = read_u32(&c);
	}
	if (type & PERF_SAMPLE_TIME)
		s->time_ns = read_u64(&c);
	if (type & PERF_SAMPLE_ID)
		read_u64(&c);
	if (type & PERF_SAMPLE_STREAM_ID)
		read_u64(&c);
	if (type & PERF_SAMPLE_CPU)
		s->cpu = read_u32(&c);
	return true;
}

bool perfdata_sample(const struct perfdata *p, const struct perf_event_header *h,
		     struct perfdata_sample *s)
{
	struct cursor c = { .p = (const uint8_t *)(h + 1), .left = h->size - sizeof(*h) };

	*s = (struct perfdata_sample){ 0 };
	if (!p->events.n)
		return false;
	return h->type == PERF_RECORD_SAMPLE ? of_sample(p, c, s) : of_other(p, c, s);
}
