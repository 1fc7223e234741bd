// SPDX-License-Identifier: GPL-3.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/regular.h"
#include "base/text.h"
#include "probes/cost/known.h"
#include "trace/meta/print.h"

#define BYTES_MAX 65536
#define COST_MAX  1e9 /* ns: every measured cost is below a second */

const char *known_costs_path(void)
{
	const char *path = getenv("ISPOT_CALIBRATION");

	return path && *path ? path : NULL;
}

/* The costs hold for one kernel, one architecture and one number of CPUs. */
static void describe_machine(struct text *out)
{
	struct utsname u;

	uname(&u);
	text_printf(out, "%s %s %s %ld", u.release, u.version, u.machine,
		    sysconf(_SC_NPROCESSORS_ONLN));
}

static double cost(const struct json *line, const char *name)
{
	double ns = json_f64(line, name, NAN);

	return ns >= 0 && ns <= COST_MAX ? ns : NAN;
}

static bool read_costs(const struct json *line, struct known_costs *k)
{
	struct text machine = { 0 };
	const struct json *after = json_get(line, "aftermath");
	bool same;

	describe_machine(&machine);
	same = !strcmp(json_string(line, "machine", ""), machine.s);
	text_release(&machine);
	k->alone.switch_ns = cost(line, "switch_ns");
	k->alone.birth_ns = cost(line, "birth_ns");
	k->watched.switch_ns = cost(line, "watched_switch_ns");
	k->watched.birth_ns = cost(line, "watched_birth_ns");
	k->carried.switch_ns = cost(line, "carried_switch_ns");
	k->carried.birth_ns = cost(line, "carried_birth_ns");
	k->sample_ns = cost(line, "sample_ns");
	k->has_markers = json_bool(line, "markers", false);
	for (size_t i = 0; i < AFTERMATH_MEMORIES * AFTERMATH_POINTS; i++) {
		const struct json *point = json_at(after, i);
		double work_ns = cost(point, "work_ns"), after_ns = cost(point, "after_ns");

		k->aftermath.at[i / AFTERMATH_POINTS][i % AFTERMATH_POINTS].work_ns =
			isnan(work_ns) ? 0 : work_ns;
		k->aftermath.at[i / AFTERMATH_POINTS][i % AFTERMATH_POINTS].after_ns =
			isnan(after_ns) ? 0 : after_ns;
	}
	return same;
}

/* Adds the rows of the file with a static string as `when`, as those of the file are not kept. */
static void add_row(struct known_costs *k, const struct meta *meta)
{
	for (size_t i = 0; i < meta->calibrations.n; i++) {
		struct meta_calibration row = meta->calibrations.data[i];

		if (k->n == sizeof(k->rows) / sizeof(*k->rows) || !(row.full_p50_ns <= COST_MAX))
			continue;
		row.when = "before";
		k->rows[k->n++] = row;
	}
}

static int read_lines(char *text, struct known_costs *k)
{
	struct meta meta;
	bool found = false, same = false;
	char *rest = NULL;

	meta_init(&meta);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct json *json = json_parse(line, strlen(line));

		if (json && !strcmp(json_string(json, "kind", ""), "costs")) {
			found = true;
			same = read_costs(json, k);
		} else {
			meta_read_line(&meta, line, strlen(line));
		}
		json_free(json);
	}
	add_row(k, &meta);
	meta_release(&meta);
	return !found ? -EINVAL : same && k->n ? 0 : -ENOENT;
}

int known_costs_read(const char *path, struct known_costs *k)
{
	struct stat st;
	char *text;
	ssize_t n = -1;
	int fd = regular_open(path, &st), ret = -EINVAL;

	memset(k, 0, sizeof(*k));
	if (fd < 0)
		return fd;
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & 022) {
		close(fd);
		return -EPERM;
	}
	text = malloc(BYTES_MAX);
	if (text)
		n = read(fd, text, BYTES_MAX - 1);
	if (n > 0) {
		text[n] = 0;
		ret = read_lines(text, k);
	}
	free(text);
	close(fd);
	return ret;
}

static void print_costs(const struct known_costs *k, struct text *out)
{
	struct json *line = json_new_object(), *after = json_new_array();
	struct text machine = { 0 };

	describe_machine(&machine);
	json_set_string(line, "kind", "costs");
	json_set_string(line, "machine", machine.s);
	json_set_f64(line, "switch_ns", k->alone.switch_ns);
	json_set_f64(line, "birth_ns", k->alone.birth_ns);
	json_set_f64(line, "watched_switch_ns", k->watched.switch_ns);
	json_set_f64(line, "watched_birth_ns", k->watched.birth_ns);
	json_set_f64(line, "carried_switch_ns", k->carried.switch_ns);
	json_set_f64(line, "carried_birth_ns", k->carried.birth_ns);
	json_set_f64(line, "sample_ns", k->sample_ns);
	json_set_bool(line, "markers", k->has_markers);
	for (size_t i = 0; i < AFTERMATH_MEMORIES * AFTERMATH_POINTS; i++) {
		struct json *point = json_new_object();

		json_set_f64(point, "work_ns",
			     k->aftermath.at[i / AFTERMATH_POINTS][i % AFTERMATH_POINTS].work_ns);
		json_set_f64(point, "after_ns",
			     k->aftermath.at[i / AFTERMATH_POINTS][i % AFTERMATH_POINTS].after_ns);
		json_add_take(after, point);
	}
	json_set_take(line, "aftermath", after);
	json_print(line, out, false);
	text_add(out, "\n");
	json_free(line);
	text_release(&machine);
}

/*
 * Writes under another name first, so that a recording at the same time reads a whole file or none.
 */
static int write_into(int dir, const char *name, const struct text *lines)
{
	char fresh[64];
	struct output out;
	struct err err = { 0 };
	int ret;

	snprintf(fresh, sizeof(fresh), ".ispot-costs.%d", (int)getpid());
	ret = output_open_at(&out, dir, fresh, &err);
	if (ret)
		return ret;
	ret = output_write(&out, lines->s, lines->n);
	if (output_close(&out, &err) || ret || renameat(dir, fresh, dir, name)) {
		ret = ret ? ret : -errno;
		unlinkat(dir, fresh, 0);
	}
	return ret;
}

int known_costs_write(const char *path, const struct known_costs *k)
{
	char *place = xstrdup(path), *slash = strrchr(place, '/');
	struct text lines = { 0 };
	struct err err = { 0 };
	int dir, ret;

	if (slash)
		*slash = 0;
	dir = output_directory(slash ? place[0] ? place : "/" : ".", "ISPOT_CALIBRATION", &err);
	ret = dir < 0 ? dir : 0;
	for (size_t i = 0; i < k->n && !ret; i++) {
		meta_print_calibration(&k->rows[i], &lines);
		text_add(&lines, "\n");
	}
	print_costs(k, &lines);
	if (!ret)
		ret = write_into(dir, slash ? slash + 1 : path, &lines);
	if (dir >= 0)
		close(dir);
	text_release(&lines);
	free(place);
	return ret;
}
