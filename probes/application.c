/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/application.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "symbol/dso.h"

#define NAME_MAX_BYTES 200 /* a block's names are shorter than 256 */
#define BUILD_ID_SHOWN 12

const char *const application_by_names[] = { "executable", "cgroup", "user", NULL };

int applications_init(struct applications *a, const char *by, struct err *err)
{
	*a = (struct applications){ .dsos = dso_cache_new() };
	for (int i = 0; application_by_names[i]; i++)
		if (!strcmp(by, application_by_names[i])) {
			a->by = i;
			return 0;
		}
	return err_set(err, -EINVAL, "--by %s: an application is an executable, cgroup or user",
		       by);
}

/* app@3f2a…: a renamed one keeps its build-id, an updated one gets another. */
static void name_executable(struct applications *a, pid_t pid, char *name, size_t n)
{
	char path[64], target[PATH_MAX], *deleted;
	struct dso *dso;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0) {
		snprintf(path, sizeof(path), "/proc/%d", (int)pid);
		snprintf(name, n, access(path, F_OK) ? "(gone)" : "[kernel]");
		return;
	}
	target[length] = '\0';
	deleted = strstr(target, " (deleted)");
	if (deleted)
		*deleted = '\0';
	length = snprintf(name, n, "%.*s", NAME_MAX_BYTES - 20, text_base_name(target));
	if (!dso_get(a->dsos, path, &dso, NULL) && *dso_build_id(dso))
		snprintf(name + length, n - (size_t)length, "@%.*s", BUILD_ID_SHOWN,
			 dso_build_id(dso));
}

static void name_cgroup(pid_t pid, char *name, size_t n)
{
	char path[64], line[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	snprintf(name, n, "(gone)");
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "0::", 3))
			text_printable(name, n, line + 3);
	}
	if (f)
		fclose(f);
}

static void name_user(pid_t pid, char *name, size_t n)
{
	struct passwd account, *found = NULL;
	char path[64], buf[4096];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		snprintf(name, n, "(gone)");
	else if (!getpwuid_r(st.st_uid, &account, buf, sizeof(buf), &found) && found)
		snprintf(name, n, "%s", account.pw_name);
	else
		snprintf(name, n, "%u", st.st_uid);
}

uint32_t application_of(struct applications *a, pid_t pid)
{
	uint32_t number = map_get(&a->by_pid, (uint64_t)pid);
	char name[NAME_MAX_BYTES], printable[NAME_MAX_BYTES];

	if (number != MAP_NONE)
		return number;
	if (a->by == BY_EXECUTABLE)
		name_executable(a, pid, name, sizeof(name));
	else if (a->by == BY_CGROUP)
		name_cgroup(pid, name, sizeof(name));
	else
		name_user(pid, name, sizeof(name));
	number = strtab_add(&a->names, text_printable(printable, sizeof(printable), name));
	map_put(&a->by_pid, (uint64_t)pid, number);
	return number;
}

void application_forget(struct applications *a, pid_t pid)
{
	map_remove(&a->by_pid, (uint64_t)pid);
}

void applications_release(struct applications *a)
{
	strtab_release(&a->names);
	map_release(&a->by_pid);
	dso_cache_free(a->dsos);
	a->dsos = NULL;
}
