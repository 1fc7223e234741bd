/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/callgrind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define COSTS_MAX 16

/* Where in the file the reader is. */
struct state {
	struct callgrind *c;
	struct callgrind_dump dump;
	uint32_t object, file, function;
	uint32_t to_object, to_file,
		to_function;		/* of the jump or call to come; MAP_NONE: as own */
	struct callgrind_count pending; /* its source is the next line */
	bool has_pending;
	int l1[2], ll[2]; /* columns of data misses; -1: none */
	bool any;
};

static uint32_t place_at(struct callgrind *c, uint32_t object, uint64_t address)
{
	for (uint64_t key = hash_u64(address ^ (uint64_t)object << 48);; key++) {
		uint32_t at = map_get(&c->place_of, key);
		struct callgrind_place *p;

		if (at == MAP_NONE) {
			at = (uint32_t)c->places.n;
			map_put(&c->place_of, key, at);
			p = vec_add(&c->places);
			p->object = object;
			p->address = address;
			p->file = p->function = MAP_NONE;
			return at;
		}
		if (c->places.data[at].object == object && c->places.data[at].address == address)
			return at;
	}
}

static uint32_t own_place(struct state *s, uint64_t address, uint32_t line)
{
	uint32_t at = place_at(s->c, s->object, address);
	struct callgrind_place *p = &s->c->places.data[at];

	p->function = s->function;
	p->file = s->file;
	p->line = line;
	return at;
}

static void find_columns(struct state *s, char *events)
{
	int column = 0;

	for (char *e = strtok(events, " "); e; e = strtok(NULL, " "), column++) {
		if (!strcmp(e, "D1mr") || !strcmp(e, "D1mw"))
			s->l1[e[3] == 'w'] = column;
		else if (!strcmp(e, "DLmr") || !strcmp(e, "DLmw"))
			s->ll[e[3] == 'w'] = column;
	}
	s->c->caches = s->l1[0] >= 0;
}

/* "jcnd=taken/executed address line", "jump=count address line", "calls=count address line" */
static bool read_turn(struct state *s, const char *line)
{
	unsigned long long count = 0, executed = 0, address = 0;
	struct callgrind_count *p = &s->pending;

	if (sscanf(line, "jcnd=%llu/%llu 0x%llx", &count, &executed, &address) == 3)
		p->kind = CALLGRIND_COND;
	else if (sscanf(line, "jump=%llu 0x%llx", &count, &address) == 2)
		p->kind = CALLGRIND_JUMP;
	else if (sscanf(line, "calls=%llu 0x%llx", &count, &address) == 2)
		p->kind = CALLGRIND_CALL;
	else
		return false;
	p->count = count;
	p->to = place_at(s->c, s->to_object == MAP_NONE ? s->object : s->to_object, address);
	if (p->kind == CALLGRIND_CALL && s->c->places.data[p->to].function == MAP_NONE)
		s->c->places.data[p->to].function = s->to_function;
	s->to_object = s->to_file = s->to_function = MAP_NONE;
	s->has_pending = true;
	return true;
}

static uint64_t cost(const uint64_t *costs, int n, const int columns[2])
{
	uint64_t sum = 0;

	for (int i = 0; i < 2; i++)
		sum += columns[i] >= 0 && columns[i] < n ? costs[columns[i]] : 0;
	return sum;
}

/* "0xaddress line costs…": what an instruction cost, or where the pending turn is. */
static bool read_costs(struct state *s, const char *line)
{
	uint64_t costs[COSTS_MAX];
	unsigned long long address, number;
	int used = 0, n = 0;
	uint32_t from;

	if (sscanf(line, "0x%llx %llu%n", &address, &number, &used) < 2)
		return false;
	from = own_place(s, address, (uint32_t)number);
	if (s->has_pending) {
		s->has_pending = false;
		s->pending.from = from;
		s->c->places.data[from].turns = true;
		s->c->places.data[from].cond |= s->pending.kind == CALLGRIND_COND;
		/* Of a call that has not returned the count is 0: where it is, is known. */
		*vec_add(&s->dump.counts) = s->pending;
		return true;
	}
	for (line += used; n < COSTS_MAX && sscanf(line, " %llu%n", &number, &used) == 1; n++) {
		costs[n] = number;
		line += used;
	}
	if (n)
		*vec_add(&s->dump.counts) = (struct callgrind_count){
			.kind = CALLGRIND_RUN,
			.from = from,
			.count = costs[0],
			.l1_misses = cost(costs, n, s->l1),
			.ll_misses = cost(costs, n, s->ll),
		};
	return true;
}

static bool take(struct state *s, const char *line, const char *key, uint32_t *into)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return false;
	*into = strtab_add(&s->c->names, line + n);
	return true;
}

static void read_line(struct state *s, char *line)
{
	if (read_costs(s, line) || read_turn(s, line))
		s->any = true;
	else if (take(s, line, "fl=", &s->file) || take(s, line, "fi=", &s->file) ||
		 take(s, line, "fe=", &s->file) || take(s, line, "fn=", &s->function) ||
		 take(s, line, "ob=", &s->object) || take(s, line, "cob=", &s->to_object) ||
		 take(s, line, "job=", &s->to_object) || take(s, line, "cfn=", &s->to_function) ||
		 take(s, line, "jfn=", &s->to_function) || take(s, line, "cfi=", &s->to_file) ||
		 take(s, line, "jfi=", &s->to_file) ||
		 take(s, line, "desc: Trigger: ", &s->dump.trigger))
		return;
	else if (!strncmp(line, "events: ", 8))
		find_columns(s, line + 8);
	else if (sscanf(line, "thread: %u", &s->dump.thread) != 1)
		sscanf(line, "part: %u", &s->dump.part);
}

int callgrind_read(struct callgrind *c, const char *path, struct err *err)
{
	struct state s = { .c = c,
			   .object = MAP_NONE,
			   .file = MAP_NONE,
			   .function = MAP_NONE,
			   .to_object = MAP_NONE,
			   .to_file = MAP_NONE,
			   .to_function = MAP_NONE,
			   .l1 = { -1, -1 },
			   .ll = { -1, -1 },
			   .dump = { .thread = 1, .trigger = MAP_NONE } };
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!f)
		return err_set(err, -errno, "%s: %s; is there room for callgrind's files?", path,
			       strerror(errno));
	while ((n = getline(&line, &room, f)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		read_line(&s, line);
	}
	free(line);
	fclose(f);
	*vec_add(&c->dumps) = s.dump;
	return s.any ? 0 : -EINVAL;
}

void callgrind_release(struct callgrind *c)
{
	vec_for_each (&c->dumps, struct callgrind_dump, d)
		vec_release(&d->counts);
	vec_release(&c->dumps);
	vec_release(&c->places);
	map_release(&c->place_of);
	strtab_release(&c->names);
}
