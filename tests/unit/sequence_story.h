/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording told in letters, and the sequences that are found in it. */
#ifndef ISPOT_TESTS_SEQUENCE_STORY_H
#define ISPOT_TESTS_SEQUENCE_STORY_H

#include <stdio.h>

#include "scene.h"

#include "analysis/cause/judge.h"
#include "analysis/score/keyed.h"
#include "analysis/sequence/sequence.h"
#include "base/text.h"

#define FUNCTIONS 64

/* A recording in memory: read three times, as report reads a file. */
struct story {
	struct meta meta;
	struct {
		VEC(struct record)
	} records;
	struct {
		VEC(struct values { uint64_t v[RECORD_VALUES_MIN]; })
	} values; /* of records; room for all is made before the first */
	uint64_t now;
	char names[FUNCTIONS][16];
	struct calls calls;
	struct sequences sequences;
	struct keyed keyed;
	struct blocks blocks;
	const struct sequence_loss *losses; /* [function id]; NULL: not known */
};

static inline void begin(struct story *s, const char *const *names, unsigned n)
{
	*s = (struct story){ .now = 1000 };
	s->meta.session.clock = "monotonic";
	for (unsigned i = 0; i < n; i++) {
		struct meta_function *f = vec_add(&s->meta.functions);

		snprintf(s->names[i], sizeof(s->names[i]), "%s", names ? names[i] : "");
		if (!names)
			snprintf(s->names[i], sizeof(s->names[i]), "f%u", i);
		*f = (struct meta_function){ .id = i, .set = 1, .name = s->names[i] };
		f->symbol = s->names[i];
		f->block = "function";
		f->object = UINT32_MAX;
		f->exit = EXIT_RETURN;
	}
}

static inline void note(struct story *s, uint32_t kind, uint32_t tid, uint32_t id, uint64_t sp)
{
	*vec_add(&s->records) = (struct record){ .time_ns = s->now,
						 .kind = kind,
						 .cpu = tid,
						 .tid = tid,
						 .tgid = 1,
						 .id = id,
						 .sp = sp };
}

static inline void call(struct story *s, uint32_t tid, uint32_t id, uint64_t ns)
{
	s->now += 10;
	note(s, REC_ENTRY, tid, id, 0x1000);
	s->now += ns;
	note(s, REC_EXIT, tid, id, 0x1000);
}

static inline void feed(struct story *s, const struct call_visitor *v)
{
	calls_init(&s->calls, &s->meta, 1000);
	calls_add_visitor(&s->calls, v);
	vec_for_each (&s->records, struct record, r)
		calls_record(&s->calls, r);
	calls_end(&s->calls, s->now);
}

static inline void read_all(struct story *s)
{
	struct block_options o = { .duration_ns = s->now - 1000, .period = 1 };
	struct keyed_rule rule;
	struct call_visitor v;

	sequences_init(&s->sequences, &s->meta);
	for (enum sequence_stage stage = SEQUENCE_LOOPS; stage < SEQUENCE_MEASURE; stage++) {
		sequences_begin(&s->sequences, stage, &s->calls, NULL);
		v = sequences_visitor(&s->sequences);
		feed(s, &v);
		calls_release(&s->calls);
	}
	for (uint32_t id = 0; s->losses && id < s->meta.functions.n; id++)
		sequences_set_loss(&s->sequences, id, s->losses[id]);
	rule = sequences_rule(&s->sequences);
	keyed_init(&s->keyed, &rule, &s->calls, &s->meta);
	sequences_begin(&s->sequences, SEQUENCE_MEASURE, &s->calls, &s->keyed);
	v = sequences_visitor(&s->sequences);
	feed(s, &v);
	keyed_build(&s->keyed, NULL, &o, &s->blocks);
	blocks_judge(&s->blocks,
		     &(struct evidence){ .meta = &s->meta, .duration_ns = o.duration_ns });
	sequences_finish(&s->sequences, &s->blocks, o.duration_ns);
}

static inline void end(struct story *s)
{
	blocks_release(&s->blocks);
	keyed_release(&s->keyed);
	sequences_release(&s->sequences);
	calls_release(&s->calls);
	vec_release(&s->records);
	vec_release(&s->values);
	vec_release(&s->meta.calibrations);
	vec_release(&s->meta.functions);
}

static inline const struct block *find(const struct story *s, const char *name)
{
	vec_for_each (&s->blocks, const struct block, b)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

static inline uint64_t count(const struct story *s, const char *name)
{
	const struct block *b = find(s, name);

	return b ? b->calls : 0;
}

/* One call a letter, of the functions a to e; 'f' holds those in brackets after it. */
static inline void play(struct story *s, uint32_t tid, const char *text)
{
	uint64_t sp = 0x10000;
	char open[32];
	unsigned n = 0;

	for (; *text; text++) {
		s->now += *text == ' ' ? 0 : 10;
		if (*text == '}') {
			sp += 0x100;
			n--;
			note(s, REC_EXIT, tid, (uint32_t)(open[n] - 'a'), sp);
		} else if (*text != ' ') {
			note(s, REC_ENTRY, tid, (uint32_t)(*text - 'a'), sp);
			s->now += 100;
			if (text[1] == '{') {
				open[n++] = *text++;
				sp -= 0x100;
			} else {
				note(s, REC_EXIT, tid, (uint32_t)(*text - 'a'), sp);
			}
		}
	}
}

static const char *const letters[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

#endif
