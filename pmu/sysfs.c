/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pmu/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

static const char *root = "/sys/bus/event_source/devices";

void sysfs_set_root(const char *path)
{
	root = path;
}

/* Reads the first line of a file below the root, without its newline. */
static int read_file(char *buf, size_t n, const char *pmu, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s%s%s/%s", root, pmu, *dir ? "/" : "", dir, name);
	FILE *f = fopen(path, "re");
	bool read = f && fgets(buf, (int)n, f);

	if (f)
		fclose(f);
	free(path);
	if (!read)
		return -ENOENT;
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

static int read_type(struct sysfs_event *e, const char *pmu)
{
	uint64_t type;
	char buf[32];

	if (strchr(pmu, '/') || *pmu == '.' || read_file(buf, sizeof(buf), pmu, "", "type") ||
	    text_parse_u64(buf, &type))
		return -ENOENT;
	*e = (struct sysfs_event){ .type = (uint32_t)type };
	snprintf(e->pmu, sizeof(e->pmu), "%s", pmu);
	return 0;
}

/*
 * Spreads value over the bits of a format like "config:0-7,32-35". -ERANGE: the value has more
 * bits.
 */
static int set_bits(uint64_t *word, const char *bits, uint64_t value)
{
	while (*bits) {
		char *end;
		unsigned long low = strtoul(bits, &end, 10), high = low, width;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (end == bits || high < low || high > 63)
			return -EINVAL;
		width = high - low + 1;
		*word |= (width < 64 ? value & ((1ull << width) - 1) : value) << low;
		value = width < 64 ? value >> width : 0;
		bits = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return -EINVAL;
	}
	return value ? -ERANGE : 0;
}

static int set_field(struct sysfs_event *e, const char *field, uint64_t value, struct err *err)
{
	static const char *const words[] = { "config", "config1", "config2" };
	char format[128], *bits;
	int ret;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(field, words[i])) {
			e->config[i] = value;
			return 0;
		}
	if (strchr(field, '/') || read_file(format, sizeof(format), e->pmu, "format", field))
		return err_set(err, -EINVAL, "the PMU %s has no field '%s'; see %s/%s/format",
			       e->pmu, field, root, e->pmu);
	bits = strchr(format, ':');
	if (bits)
		*bits++ = '\0';
	for (unsigned i = 0; i < 3 && bits; i++) {
		if (strcmp(format, words[i]))
			continue;
		ret = set_bits(&e->config[i], bits, value);
		if (ret == -ERANGE)
			return err_set(
				err, -EINVAL,
				"0x%llx does not fit into the field '%s' of %s (bits %s); give less",
				(unsigned long long)value, field, e->pmu, bits);
		return ret;
	}
	return err_set(err, -EINVAL,
		       "the field '%s' of %s is none that ispot can set; leave it out", field,
		       e->pmu);
}

static int set_terms(struct sysfs_event *e, const char *terms, bool nested, struct err *err);

/* Sets a term: "event=0x3c", or "name", which is an event or a field that is 1. */
static int set_term(struct sysfs_event *e, char *term, bool nested, struct err *err)
{
	char *value = strchr(term, '='), named[256];
	uint64_t number = 1;

	if (value) {
		*value++ = '\0';
		if (text_parse_u64(value, &number))
			return err_set(
				err, -EINVAL,
				"'%s' is no number for the field '%s'; give one, such as 0x1f",
				value, term);
	} else if (!nested && !strchr(term, '/') &&
		   !read_file(named, sizeof(named), e->pmu, "events", term)) {
		return set_terms(e, named, true, err);
	}
	if (!value && !nested) {
		char format[128];

		if (strchr(term, '/') || read_file(format, sizeof(format), e->pmu, "format", term))
			return err_set(err, -EINVAL,
				       "the PMU %s names no event '%s'; see %s/%s/events", e->pmu,
				       term, root, e->pmu);
	}
	return set_field(e, term, number, err);
}

static int set_terms(struct sysfs_event *e, const char *terms, bool nested, struct err *err)
{
	char *copy = xstrdup(terms), *rest = copy, *term;
	int ret = 0;

	while (!ret && (term = strsep(&rest, ",")))
		ret = *term ? set_term(e, term, nested, err) : 0;
	free(copy);
	return ret;
}

int sysfs_parse(struct sysfs_event *e, const char *word, struct err *err)
{
	char *copy = xstrdup(word), *terms = strchr(copy, '/');
	size_t n = strlen(copy);
	int ret;

	if (!terms || n < 3 || copy[n - 1] != '/' || terms == copy + n - 1) {
		ret = err_set(err, -EINVAL, "'%s' is not PMU/EVENT/; write it as msr/tsc/", word);
		goto out;
	}
	copy[n - 1] = '\0';
	*terms++ = '\0';
	ret = read_type(e, copy);
	if (ret)
		err_set(err, ret, "this machine has no PMU '%s'; there are those of %s", copy,
			root);
	else
		ret = set_terms(e, terms, false, err);
out:
	free(copy);
	return ret;
}

bool sysfs_is_core(const char *pmu)
{
	return !strcmp(pmu, "cpu") || !strcmp(pmu, "cpu_core") || !strncmp(pmu, "armv8_", 6) ||
	       !strncmp(pmu, "armv9_", 6);
}

/* Calls fn for the names in a directory until fn returns true. */
static bool each_name(const char *pmu, const char *dir, bool (*fn)(void *ctx, const char *name),
		      void *ctx)
{
	char *path = *pmu ? xasprintf("%s/%s/%s", root, pmu, dir) : xstrdup(root);
	DIR *d = opendir(path);
	struct dirent *e;
	bool done = false;

	free(path);
	while (d && !done && (e = readdir(d)))
		if (*e->d_name != '.')
			done = fn(ctx, e->d_name);
	if (d)
		closedir(d);
	return done;
}

struct search {
	struct sysfs_event *e;
	const char *name;
	bool core;
};

static bool has_event(void *ctx, const char *pmu)
{
	struct search *s = ctx;
	struct err ignored = { 0 };
	char terms[256];

	return sysfs_is_core(pmu) == s->core &&
	       !read_file(terms, sizeof(terms), pmu, "events", s->name) && !read_type(s->e, pmu) &&
	       !set_terms(s->e, terms, true, &ignored);
}

int sysfs_find(struct sysfs_event *e, const char *name)
{
	struct search s = { .e = e, .name = name, .core = true };

	if (strchr(name, '/') || strchr(name, '.'))
		return -ENOENT;
	if (each_name("", "", has_event, &s))
		return 0;
	s.core = false;
	return each_name("", "", has_event, &s) ? 0 : -ENOENT;
}

struct listing {
	void (*visit)(void *ctx, const char *pmu, const char *name);
	void *ctx;
	const char *pmu;
};

/* Files like "mem-loads.scale" describe an event and are none. */
static bool list_event(void *ctx, const char *name)
{
	struct listing *l = ctx;

	if (!strchr(name, '.'))
		l->visit(l->ctx, l->pmu, name);
	return false;
}

static bool list_pmu(void *ctx, const char *pmu)
{
	struct listing *l = ctx;

	l->pmu = pmu;
	return each_name(pmu, "events", list_event, l);
}

void sysfs_names(void (*visit)(void *ctx, const char *pmu, const char *name), void *ctx)
{
	struct listing l = { .visit = visit, .ctx = ctx };

	each_name("", "", list_pmu, &l);
}

struct core {
	char *buf;
	size_t n;
};

static bool copy_core(void *ctx, const char *pmu)
{
	struct core *c = ctx;

	if (sysfs_is_core(pmu))
		snprintf(c->buf, c->n, "%s", pmu);
	return sysfs_is_core(pmu);
}

const char *sysfs_core(char *buf, size_t n)
{
	struct core c = { buf, n };

	snprintf(buf, n, "none");
	each_name("", "", copy_core, &c);
	return buf;
}

unsigned sysfs_max_precise(void)
{
	char pmu[64], line[16];
	uint64_t most;

	if (read_file(line, sizeof(line), sysfs_core(pmu, sizeof(pmu)), "caps", "max_precise") ||
	    text_parse_u64(line, &most))
		return 0;
	return most < 3 ? (unsigned)most : 3;
}
