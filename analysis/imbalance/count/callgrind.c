/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/callgrind.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/imbalance/count/counts.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/regular.h"

#define COSTS_MAX   16
#define THREADS_MAX 65536 /* valgrind's default is 500 */

/* The state of reading a file. */
struct state {
	struct counts *c;
	struct counts_dump dump;
	uint32_t object, file, function;
	uint32_t to_object, to_file,
		to_function;	   /* of the next jump or call; MAP_NONE: as source */
	struct counts_row pending; /* jump or call whose source is on the next line */
	bool has_pending;
	int l1[2], ll[2]; /* columns of misses of data reads and writes; -1: none */
	bool any;
};

static uint32_t own_place(struct state *s, uint64_t address, uint32_t line)
{
	uint32_t at = counts_place(s->c, s->object, address);
	struct counts_place *p = &s->c->places.data[at];

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
	struct counts_row *p = &s->pending;

	if (sscanf(line, "jcnd=%llu/%llu 0x%llx", &count, &executed, &address) == 3)
		p->kind = COUNTS_COND;
	else if (sscanf(line, "jump=%llu 0x%llx", &count, &address) == 2)
		p->kind = COUNTS_JUMP;
	else if (sscanf(line, "calls=%llu 0x%llx", &count, &address) == 2)
		p->kind = COUNTS_CALL;
	else
		return false;
	p->count = count;
	p->to = counts_place(s->c, s->to_object == MAP_NONE ? s->object : s->to_object, address);
	if (p->kind == COUNTS_CALL && s->c->places.data[p->to].function == MAP_NONE)
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

/* Reads "0xaddress line costs…": the costs of an instruction, or the source of the pending jump or
 * call. */
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
		s->c->places.data[from].cond |= s->pending.kind == COUNTS_COND;
		/* callgrind gives 0 as the count of a call that has not returned; its place is
		 * still needed */
		*vec_add(&s->dump.counts) = s->pending;
		return true;
	}
	for (line += used; n < COSTS_MAX && sscanf(line, " %llu%n", &number, &used) == 1; n++) {
		costs[n] = number;
		line += used;
	}
	if (n)
		*vec_add(&s->dump.counts) = (struct counts_row){
			.kind = COUNTS_RUN,
			.from = from,
			.count = costs[0],
			.l1_misses = cost(costs, n, s->l1),
			.ll_misses = cost(costs, n, s->ll),
		};
	return true;
}

static bool read_name(struct state *s, const char *line, const char *key, uint32_t *into)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0)
		return false;
	*into = strtab_add(&s->c->names, line + n);
	return true;
}

/* For programs built by clang, valgrind puts the directory even before absolute paths; removes
 * it. */
static bool read_file(struct state *s, char *line, const char *key)
{
	char *twice = strstr(line, "//");

	if (strncmp(line, key, strlen(key)) != 0)
		return false;
	if (twice && !access(twice + 1, F_OK))
		memmove(line + strlen(key), twice + 1, strlen(twice));
	return read_name(s, line, key, &s->file);
}

static void read_line(struct state *s, char *line)
{
	if (read_costs(s, line) || read_turn(s, line))
		s->any = true;
	else if (read_file(s, line, "fl=") || read_file(s, line, "fi=") ||
		 read_file(s, line, "fe=") || read_name(s, line, "fn=", &s->function) ||
		 read_name(s, line, "ob=", &s->object) ||
		 read_name(s, line, "cob=", &s->to_object) ||
		 read_name(s, line, "job=", &s->to_object) ||
		 read_name(s, line, "cfn=", &s->to_function) ||
		 read_name(s, line, "jfn=", &s->to_function) ||
		 read_name(s, line, "cfi=", &s->to_file) ||
		 read_name(s, line, "jfi=", &s->to_file) ||
		 read_name(s, line, "desc: Trigger: ", &s->dump.trigger))
		return;
	else if (!strncmp(line, "events: ", 8))
		find_columns(s, line + 8);
	else if (sscanf(line, "thread: %u", &s->dump.thread) != 1)
		sscanf(line, "part: %u", &s->dump.part);
}

int callgrind_read(struct counts *c, const char *path, struct err *err)
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
	FILE *f = regular_fopen(path);
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
	/* there is a row for each number up to the highest, so the number in a damaged file is
	 * limited */
	if (s.dump.thread > THREADS_MAX) {
		s.dump.thread = 0;
		s.any = false;
	}
	*vec_add(&c->dumps) = s.dump;
	return s.any ? 0 : -EINVAL;
}

static int is_dump(const struct dirent *file)
{
	return !strncmp(file->d_name, "cg", 2);
}

int callgrind_read_all(struct counts *c, const char *dir, struct err *err)
{
	struct dirent **files;
	int n = scandir(dir, &files, is_dump, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", dir, files[i]->d_name);

		if (!rc) {
			rc = callgrind_read(c, path, err);
			rc = rc == -EINVAL ? 0 : rc; /* an empty dump */
		}
		free(path);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return rc;
}
