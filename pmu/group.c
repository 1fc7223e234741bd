/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/group.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#define BLANKS " \t\r"

extern const char ispot_groups_start[], ispot_groups_end[];

static void group_release(struct pmu_group *g)
{
	vec_for_each (&g->rows, struct pmu_group_row, row) {
		free(row->role);
		free(row->processors);
		free(row->event);
	}
	vec_release(&g->rows);
	free(g->name);
	free(g->what);
	free(g->serves);
}

void pmu_groups_release(struct pmu_groups *groups)
{
	vec_for_each (groups, struct pmu_group, g)
		group_release(g);
	vec_release(groups);
}

static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, BLANKS);

	*rest = word + strcspn(word, BLANKS);
	if (**rest)
		*(*rest)++ = '\0';
	return word;
}

/* Returns the rest of the line, without blanks around it. */
static char *all_words(char *rest)
{
	size_t n;

	rest += strspn(rest, BLANKS);
	for (n = strlen(rest); n && strchr(BLANKS, rest[n - 1]);)
		n--;
	return xstrndup(rest, n);
}

static int read_event(struct pmu_group *g, char *rest)
{
	char *role = next_word(&rest), *processors = next_word(&rest), *event = next_word(&rest);
	struct pmu_group_row *row;

	if (!*event || *next_word(&rest))
		return -EINVAL;
	row = vec_add(&g->rows);
	row->role = xstrdup(role);
	row->processors = xstrdup(processors);
	row->event = xstrdup(event);
	return 0;
}

static int read_member(char **member, char *rest)
{
	if (*member)
		return -EINVAL;
	*member = all_words(rest);
	return **member ? 0 : -EINVAL;
}

static int read_line(struct pmu_groups *groups, char *line)
{
	struct pmu_group *g;
	char *word;

	line[strcspn(line, "#")] = '\0';
	word = next_word(&line);
	if (!*word)
		return 0;
	if (!strcmp(word, "name"))
		return read_member(&vec_add(groups)->name, line);
	g = groups->n ? vec_last(groups) : NULL;
	if (g && !strcmp(word, "what"))
		return read_member(&g->what, line);
	if (g && !strcmp(word, "serves"))
		return read_member(&g->serves, line);
	return g && !strcmp(word, "event") ? read_event(g, line) : -EINVAL;
}

int pmu_groups_parse(struct pmu_groups *groups, const char *text, size_t n, const char *origin,
		     struct err *err)
{
	char *copy = xstrndup(text, n), *rest = copy, *line;
	unsigned number = 0;
	int ret = 0;

	while (!ret && (line = strsep(&rest, "\n"))) {
		number++;
		ret = read_line(groups, line);
	}
	free(copy);
	if (ret)
		return err_set(err, ret,
			       "%s:%u: a line is name NAME, what WORDS, serves CAUSES or event "
			       "ROLE PROCESSORS EVENT; see ispot-list(1)",
			       origin, number);
	return 0;
}

void pmu_groups_load(struct pmu_groups *groups)
{
	*groups = (struct pmu_groups){ 0 };
	pmu_groups_parse(groups, ispot_groups_start,
			 (size_t)(ispot_groups_end - ispot_groups_start), "pmu/groups", NULL);
}

const struct pmu_group *pmu_groups_find(const struct pmu_groups *groups, const char *name)
{
	vec_for_each (groups, const struct pmu_group, g)
		if (!strcmp(g->name, name))
			return g;
	return NULL;
}

static bool is_for(const struct pmu_group_row *row, const char *processor)
{
	char *copy, *rest, *glob;
	bool matches = false;

	if (!strcmp(row->processors, "*"))
		return true;
	if (!processor)
		return false;
	rest = copy = xstrdup(row->processors);
	while (!matches && (glob = strsep(&rest, ",")))
		matches = !fnmatch(glob, processor, 0);
	free(copy);
	return matches;
}

static bool has_role(const struct pmu_group_choice *choice, const char *role)
{
	for (unsigned i = 0; i < choice->n; i++)
		if (!strcmp(choice->rows[i]->role, role))
			return true;
	return false;
}

void pmu_group_choose(const struct pmu_group *g, const char *processor,
		      struct pmu_group_choice *choice)
{
	choice->n = 0;
	vec_for_each (&g->rows, const struct pmu_group_row, row)
		if (choice->n < PMU_LIST_MAX && is_for(row, processor) &&
		    !has_role(choice, row->role))
			choice->rows[choice->n++] = row;
}
