/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/text.h"
#include "pmu/pfm.h"
#include "pmu/sysfs.h"

struct row {
	const char *name, *role, *unit;
	enum pmu_source source;
	uint32_t type;
	uint64_t config;
};

#define TASK(name, id, unit)                                 \
	{                                                    \
		name, name, unit, PMU_TASK, 0, PMU_TASK_##id \
	}
#define SOFTWARE(name, id, unit)                                                     \
	{                                                                            \
		name, "", unit, PMU_SOFTWARE, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id \
	}
#define HARDWARE(name, role, id, unit)                                                 \
	{                                                                              \
		name, role, unit, PMU_HARDWARE, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id \
	}
#define CACHE(name, role, id, op, result)                                               \
	{                                                                               \
		name, role, "events", PMU_HARDWARE, PERF_TYPE_HW_CACHE,                 \
			PERF_COUNT_HW_CACHE_##id | (PERF_COUNT_HW_CACHE_OP_##op << 8) | \
				(PERF_COUNT_HW_CACHE_RESULT_##result << 16)             \
	}

/*
 * An event has a role only if, on every machine, it counts exactly what the cause rules expect of
 * that role.
 */
static const struct row rows[] = {
	TASK("page-faults", PAGE_FAULTS, "faults"),
	TASK("minor-faults", MINOR_FAULTS, "faults"),
	TASK("major-faults", MAJOR_FAULTS, "faults"),
	TASK("context-switches", CONTEXT_SWITCHES, "switches"),
	TASK("voluntary-switches", VOLUNTARY_SWITCHES, "switches"),
	TASK("involuntary-switches", INVOLUNTARY_SWITCHES, "switches"),
	TASK("cpu-migrations", MIGRATIONS, "migrations"),
	TASK("sectors-read", SECTORS_READ, "sectors"),
	TASK("sectors-written", SECTORS_WRITTEN, "sectors"),
	SOFTWARE("cpu-clock", CPU_CLOCK, "ns"),
	SOFTWARE("task-clock", TASK_CLOCK, "ns"),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, "faults"),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, "faults"),
	HARDWARE("cycles", "cycles", CPU_CYCLES, "cycles"),
	HARDWARE("instructions", "instructions", INSTRUCTIONS, "instructions"),
	HARDWARE("ref-cycles", "ref-cycles", REF_CPU_CYCLES, "cycles"),
	HARDWARE("cache-references", "", CACHE_REFERENCES, "events"),
	HARDWARE("cache-misses", "cache-misses", CACHE_MISSES, "events"),
	HARDWARE("branches", "", BRANCH_INSTRUCTIONS, "events"),
	HARDWARE("branch-misses", "branch-misses", BRANCH_MISSES, "events"),
	HARDWARE("bus-cycles", "", BUS_CYCLES, "cycles"),
	HARDWARE("stalled-cycles-frontend", "", STALLED_CYCLES_FRONTEND, "cycles"),
	HARDWARE("stalled-cycles-backend", "stall-cycles", STALLED_CYCLES_BACKEND, "cycles"),
	CACHE("L1-dcache-loads", "", L1D, READ, ACCESS),
	CACHE("L1-dcache-load-misses", "", L1D, READ, MISS),
	CACHE("LLC-loads", "", LL, READ, ACCESS),
	CACHE("LLC-load-misses", "llc-misses", LL, READ, MISS),
	CACHE("dTLB-load-misses", "", DTLB, READ, MISS),
	CACHE("iTLB-load-misses", "", ITLB, READ, MISS),
	CACHE("node-loads", "", NODE, READ, ACCESS),
	CACHE("node-load-misses", "remote-loads", NODE, READ, MISS),
};
#define N_ROWS (sizeof(rows) / sizeof(*rows))

const char *pmu_source_name(enum pmu_source source)
{
	static const char *const names[] = { "hardware", "software", "task", "other" };

	return names[source];
}

/* ---- the kinds of event names ---- */

static bool from_row(struct pmu_event *e)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];

		if (strcasecmp(r->name, e->name))
			continue;
		e->source = r->source;
		e->type = r->type;
		e->config = r->config;
		e->unit = r->unit;
		snprintf(e->event, sizeof(e->event), "%s", r->name);
		snprintf(e->role, sizeof(e->role), "%s", r->role);
		return true;
	}
	return false;
}

static bool from_raw(struct pmu_event *e)
{
	size_t n = strspn(e->name + 1, "0123456789abcdefABCDEF");

	if (*e->name != 'r' || !n || n > 16 || e->name[1 + n])
		return false;
	e->source = PMU_HARDWARE;
	e->type = PERF_TYPE_RAW;
	e->config = strtoull(e->name + 1, NULL, 16);
	snprintf(e->event, sizeof(e->event), "%s", e->name);
	return true;
}

static void copy_sysfs(struct pmu_event *e, const struct sysfs_event *s)
{
	e->source = sysfs_is_core(s->pmu) ? PMU_HARDWARE : PMU_OTHER;
	e->type = s->type;
	e->config = s->config[0];
	e->config1 = s->config[1];
	e->config2 = s->config[2];
	if (!strcmp(s->pmu, "msr"))
		e->unit = "cycles";
}

static bool from_sysfs_name(struct pmu_event *e)
{
	struct sysfs_event s;

	if (sysfs_find(&s, e->name))
		return false;
	copy_sysfs(e, &s);
	snprintf(e->event, sizeof(e->event), "%.40s/%.40s/", s.pmu, e->name);
	return true;
}

static int from_sysfs(struct pmu_event *e, struct err *err)
{
	struct sysfs_event s;
	int ret = sysfs_parse(&s, e->name, err);

	if (ret)
		return -EINVAL;
	copy_sysfs(e, &s);
	snprintf(e->event, sizeof(e->event), "%s", e->name);
	return 0;
}

/* ---- an unknown name ---- */

#define NEAR_MAX 3

struct near {
	const char *name;
	char best[NEAR_MAX][PMU_NAME_MAX];
	unsigned distance[NEAR_MAX];
	unsigned n;
};

static unsigned distance(const char *a, const char *b)
{
	char x[PMU_NAME_MAX], y[PMU_NAME_MAX];

	for (unsigned i = 0; i < PMU_NAME_MAX; i++) {
		x[i] = (char)tolower((unsigned char)*a);
		y[i] = (char)tolower((unsigned char)*b);
		a += *a != '\0';
		b += *b != '\0';
	}
	x[PMU_NAME_MAX - 1] = y[PMU_NAME_MAX - 1] = '\0';
	return text_distance(x, y, 4);
}

static void try_near(struct near *n, const char *name)
{
	unsigned d = distance(n->name, name), i = n->n < NEAR_MAX ? n->n : NEAR_MAX;

	for (unsigned k = 0; k < n->n; k++)
		if (!strcasecmp(n->best[k], name))
			return;
	if (d > 4 || d * 2 > strlen(name) || (i == NEAR_MAX && d >= n->distance[i - 1]))
		return;
	n->n += n->n < NEAR_MAX;
	for (i = n->n - 1; i && n->distance[i - 1] > d; i--) {
		n->distance[i] = n->distance[i - 1];
		memcpy(n->best[i], n->best[i - 1], PMU_NAME_MAX);
	}
	n->distance[i] = d;
	snprintf(n->best[i], PMU_NAME_MAX, "%s", name);
}

static void near_name(void *ctx, const char *name, enum pmu_source source)
{
	(void)source;
	try_near(ctx, name);
}

static void near_pfm(void *ctx, const char *name)
{
	try_near(ctx, name);
}

static int unknown(const struct pmu_event *e, const char *why, struct err *err)
{
	const char *other = pfm_other_core(e->name), *core = pfm_core();
	struct near near = { .name = e->name };
	struct text names = { 0 };
	char masks[512];

	if (strchr(e->name, ':') && pfm_masks(e->name, masks, sizeof(masks)))
		return err_set(err, -EINVAL, "event '%s': %s; its unit masks are %s", e->name, why,
			       masks);
	pmu_event_names(near_name, &near);
	pfm_names(near_pfm, &near);
	for (unsigned i = 0; i < near.n; i++)
		text_printf(&names, "%s%s", i ? i + 1 == near.n ? " or " : ", " : "", near.best[i]);
	if (near.n)
		err_set(err, -EINVAL, "there is no event '%s'; did you mean %s?", e->name, names.s);
	else if (other)
		err_set(err, -ENODEV,
			"event '%s' is one of other processors (such as %s; this one is %s to "
			"libpfm4); ispot list names what there is here",
			e->name, other, core ? core : "unknown");
	else
		err_set(err, -EINVAL, "there is no event '%s'; ispot list names what there is",
			e->name);
	text_release(&names);
	return err->code;
}

static int from_pfm(struct pmu_event *e, const char *word, struct err *err)
{
	struct pfm_code code;
	const char *why = "";

	if (pfm_encode(word, &code, &why))
		return unknown(e, why, err);
	e->source = code.type == PERF_TYPE_SOFTWARE ? PMU_SOFTWARE
		    : code.type == PERF_TYPE_HARDWARE || code.type == PERF_TYPE_HW_CACHE ||
				    code.type == PERF_TYPE_RAW
			    ? PMU_HARDWARE
			    : PMU_OTHER;
	e->type = code.type;
	e->config = code.config;
	e->config1 = code.config1;
	e->config2 = code.config2;
	e->user = code.user;
	e->kernel = code.kernel;
	snprintf(e->event, sizeof(e->event), "%s", code.name);
	return 0;
}

/* ---- one name ---- */

/*
 * Cuts ":u", ":k" or ":uk" off the name and returns whether there was one. ":u=1" and unit masks
 * are no such modifiers.
 */
static bool cut_modifier(struct pmu_event *e)
{
	char *colon = strrchr(e->name, ':');

	if (!colon || colon == e->name || !colon[1] || colon[1 + strspn(colon + 1, "uk")])
		return false;
	e->user = strchr(colon, 'u');
	e->kernel = strchr(colon, 'k');
	*colon = '\0';
	return true;
}

/*
 * Software events, and events of PMUs that cannot separate user space from the kernel, count both.
 */
static void set_parts(struct pmu_event *e, bool modified)
{
	if (e->source != PMU_HARDWARE) {
		e->user = e->kernel = true;
	} else if (!modified) {
		e->user = true;
		e->kernel = false;
	}
}

int pmu_event_parse(struct pmu_event *e, const char *word, struct err *err)
{
	bool modified;
	int ret = 0;

	*e = (struct pmu_event){ .unit = "events" };
	if (!*word || strlen(word) >= PMU_NAME_MAX)
		return err_set(err, -EINVAL, "'%s' is no event; ispot list names what there is",
			       word);
	snprintf(e->name, sizeof(e->name), "%s", word);
	modified = cut_modifier(e);
	if (strchr(e->name, '/'))
		ret = from_sysfs(e, err);
	else if (!from_row(e) && !from_raw(e) && !from_sysfs_name(e))
		return from_pfm(e, word, err);
	if (!ret)
		set_parts(e, modified);
	return ret;
}

struct lister {
	void (*visit)(void *ctx, const char *name, enum pmu_source source);
	void *ctx;
};

static void list_sysfs(void *ctx, const char *pmu, const char *event)
{
	struct lister *l = ctx;
	char name[PMU_NAME_MAX];

	snprintf(name, sizeof(name), "%.40s/%.50s/", pmu, event);
	l->visit(l->ctx, name, sysfs_is_core(pmu) ? PMU_HARDWARE : PMU_OTHER);
}

void pmu_event_names(void (*visit)(void *ctx, const char *name, enum pmu_source source), void *ctx)
{
	struct lister l = { visit, ctx };

	for (size_t i = 0; i < N_ROWS; i++)
		visit(ctx, rows[i].name, rows[i].source);
	sysfs_names(list_sysfs, &l);
}
