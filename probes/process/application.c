/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/application.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"
#include "probes/process/target.h"
#include "symbol/dso/buildid.h"

#define NAME_MAX_BYTES 200 /* shorter than the names in a block, which are under 256 bytes */
#define BUILD_ID_SHOWN 12

const char *const application_by_names[] = { "executable", "cgroup", "container", "user", NULL };

int applications_init(struct applications *a, const char *by, struct err *err)
{
	*a = (struct applications){ 0 };
	for (int i = 0; application_by_names[i]; i++)
		if (!strcmp(by, application_by_names[i])) {
			a->by = i;
			return 0;
		}
	return err_set(err, -EINVAL,
		       "--by %s: no kind of application; give exe, cgroup, container or user", by);
}

static uint32_t named(struct applications *a, const char *name)
{
	char printable[NAME_MAX_BYTES];
	uint32_t number;

	text_printable(printable, sizeof(printable), name);
	number = strtab_find(&a->names, printable);
	if (number == MAP_NONE)
		number = strtab_add(&a->names,
				    a->names.n < APPLICATIONS_MAX ? printable : "(others)");
	return number;
}

/*
 * Returns a hash of the file's identity. A program that was built again may keep its inode, so time
 * and size are included.
 */
static uint64_t hash_of(const struct stat *st, const char *target)
{
	const uint64_t facts[] = { st->st_dev,
				   st->st_ino,
				   (uint64_t)st->st_size,
				   (uint64_t)st->st_mtim.tv_sec,
				   (uint64_t)st->st_mtim.tv_nsec,
				   hash_bytes(target, strlen(target)) };

	return hash_bytes(facts, sizeof(facts));
}

/*
 * Names the application app@3f2a…: a renamed program keeps its build-id, an updated one gets
 * another.
 */
static uint32_t named_as_file(struct applications *a, const char *path, const char *target)
{
	char build_id[BUILD_ID_SHOWN + 1], name[NAME_MAX_BYTES];

	dso_file_build_id(path, build_id, sizeof(build_id));
	snprintf(name, sizeof(name), "%.*s%s%s", NAME_MAX_BYTES - 20, text_base_name(target),
		 *build_id ? "@" : "", build_id);
	return named(a, name);
}

static uint32_t by_executable(struct applications *a, pid_t pid)
{
	char path[64], target[PATH_MAX], *deleted;
	struct stat st;
	uint64_t file;
	uint32_t number;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0 || stat(path, &st))
		return named(a, target_alive(pid) ? "[kernel]" : "(gone)");
	target[length] = '\0';
	deleted = strstr(target, " (deleted)");
	if (deleted)
		*deleted = '\0';
	file = hash_of(&st, target);
	number = map_get(&a->by_file, file);
	if (number == MAP_NONE) {
		number = named_as_file(a, path, target);
		if (a->by_file.n < APPLICATIONS_MAX) /* otherwise the file is looked at each time */
			map_put(&a->by_file, file, number);
	}
	return number;
}

/*
 * Returns the path of the next line N:CONTROLLERS:PATH, or NULL at the end. The unified hierarchy,
 * 0::, comes last.
 */
static const char *next_cgroup(FILE *f, char *line, int n)
{
	const char *path;

	if (!f || !fgets(line, n, f))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	path = strchr(line, ':');
	path = path ? strchr(path + 1, ':') : NULL;
	return path ? path + 1 : "";
}

static FILE *open_cgroups(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return fopen(path, "re");
}

/*
 * Names the process by its cgroup in the unified hierarchy, or by the longest of the others if the
 * machine does not use the unified one.
 */
static uint32_t by_cgroup(struct applications *a, pid_t pid)
{
	char line[PATH_MAX], name[NAME_MAX_BYTES] = "(gone)";
	FILE *f = open_cgroups(pid);
	size_t longest = 0;
	const char *path;

	while ((path = next_cgroup(f, line, sizeof(line)))) {
		size_t length = strlen(path);

		if (length > longest || (length > 1 && !strncmp(line, "0::", 3))) {
			snprintf(name, sizeof(name), "%.*s", NAME_MAX_BYTES - 1, path);
			longest = length;
		}
	}
	if (f)
		fclose(f);
	return named(a, name);
}

#define CONTAINER_DIGITS 64 /* of a container's number; runtimes show the first digits */

/* The words before a container's number or name. */
static const char *const numbered[] = { "docker-",	   "libpod-",	  "crio-",
					"cri-containerd-", "containerd-", "" };
static const char *const by_name[] = { "lxc.payload.", "machine-" };

static bool has_number(const char *word, size_t n, char *name, size_t room)
{
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++) {
		size_t skip = strlen(numbered[i]);

		if (n < skip + CONTAINER_DIGITS || strncmp(word, numbered[i], skip) ||
		    strspn(word + skip, "0123456789abcdef") != CONTAINER_DIGITS)
			continue;
		snprintf(name, room, "%.*s", BUILD_ID_SHOWN, word + skip);
		return true;
	}
	return false;
}

static bool has_name(const char *word, size_t n, char *name, size_t room)
{
	static const char scope[] = ".scope";

	for (size_t i = 0; i < sizeof(by_name) / sizeof(*by_name); i++) {
		size_t skip = strlen(by_name[i]), end = n;

		if (n <= skip || strncmp(word, by_name[i], skip))
			continue;
		if (end > skip + strlen(scope) &&
		    !strncmp(word + end - strlen(scope), scope, strlen(scope)))
			end -= strlen(scope);
		snprintf(name, room, "%.*s", (int)(end - skip), word + skip);
		return true;
	}
	return false;
}

bool application_container(const char *cgroup, char *name, size_t n)
{
	bool found = false;

	for (const char *word = cgroup; *word; word += strspn(word, "/")) {
		size_t length = strcspn(word, "/");

		found |= has_number(word, length, name, n) || has_name(word, length, name, n);
		word += length;
	}
	return found;
}

static uint32_t by_container(struct applications *a, pid_t pid)
{
	char line[PATH_MAX], name[NAME_MAX_BYTES] = "[host]";
	FILE *f = open_cgroups(pid);
	const char *path;

	if (!f)
		return named(a, "(gone)");
	while ((path = next_cgroup(f, line, sizeof(line))))
		if (application_container(path, name, sizeof(name)))
			break;
	fclose(f);
	return named(a, name);
}

static uint32_t by_user(struct applications *a, pid_t pid)
{
	struct passwd account, *found = NULL;
	char path[64], buf[4096], number[16];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st))
		return named(a, "(gone)");
	if (!getpwuid_r(st.st_uid, &account, buf, sizeof(buf), &found) && found)
		return named(a, account.pw_name);
	snprintf(number, sizeof(number), "%u", st.st_uid);
	return named(a, number);
}

uint32_t application_of(struct applications *a, pid_t pid)
{
	static uint32_t (*const by[])(struct applications * a,
				      pid_t pid) = { [BY_EXECUTABLE] = by_executable,
						     [BY_CGROUP] = by_cgroup,
						     [BY_CONTAINER] = by_container,
						     [BY_USER] = by_user };
	uint32_t number = map_get(&a->by_pid, (uint64_t)pid);

	if (number == MAP_NONE) {
		number = by[a->by](a, pid);
		map_put(&a->by_pid, (uint64_t)pid, number);
	}
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
	map_release(&a->by_file);
}
