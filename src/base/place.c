/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define LINKS_MAX 40

/* ---- who may write there ---- */

/*
 * Whether nobody but root and user can replace what path holds. A directory that others may write
 * to is safe only if it is sticky and holds an entry of ours, which others cannot rename or remove
 * then.
 */
static bool is_safe(const char *path, uid_t user, bool holds_ours)
{
	struct stat st;

	return !lstat(*path ? path : "/", &st) && (!st.st_uid || st.st_uid == user) &&
	       !S_ISLNK(st.st_mode) &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (holds_ours && (st.st_mode & S_ISVTX)));
}

bool place_is_fixed(const char *real, uid_t user)
{
	char *place = xstrdup(real), *end = place;
	bool safe = true, holds_ours = false;

	while (end && (safe = is_safe(place, user, holds_ours))) {
		holds_ours = true;
		end = strrchr(place, '/');
		if (end)
			*end = '\0';
	}
	free(place);
	return safe;
}

bool place_is_safe(const char *path, uid_t user)
{
	char *there = *path == '/' ? xstrdup(path) : xasprintf("./%s", path), *real, *end = there;
	bool safe;

	while (!(real = realpath(*there ? there : "/", NULL)) && (end = strrchr(there, '/')))
		*end = '\0';
	safe = real && place_is_fixed(real, user);
	free(real);
	free(there);
	return safe;
}

/* ---- the way there ---- */

struct way {
	int at;	    /* the directory that was reached */
	char *left; /* the rest of the path, still to be followed */
	unsigned links;
};

static int begin(struct way *w, char *left)
{
	int fd = open(*left == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*w = (struct way){ .at = fd, .left = left };
	return fd < 0 ? -errno : 0;
}

/*
 * Takes the next part off the path, without its slashes. Returns it, to be freed by the caller, or
 * NULL if the path is at its end.
 */
static char *next_part(struct way *w, bool *is_last)
{
	char *s = w->left + strspn(w->left, "/"), *part, *rest;
	size_t n = strcspn(s, "/");

	if (!n)
		return NULL;
	part = xstrndup(s, n);
	*is_last = s[n + strspn(s + n, "/")] == '\0';
	rest = xstrdup(s + n);
	free(w->left);
	w->left = rest;
	return part;
}

/*
 * Puts the target of a link in front of the rest of the path. fd is the link, opened with O_PATH |
 * O_NOFOLLOW.
 */
static int follow(struct way *w, int fd, uid_t owner, uid_t user)
{
	char target[PATH_MAX], *left;
	ssize_t n = readlinkat(fd, "", target, sizeof(target) - 1);
	int root;

	if (owner && owner != user)
		return -EPERM;
	if (n <= 0 || ++w->links > LINKS_MAX)
		return n <= 0 ? -ENOENT : -ELOOP;
	target[n] = '\0';
	left = xasprintf("%s%s", target, w->left);
	free(w->left);
	w->left = left;
	if (*target != '/')
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	close(w->at);
	w->at = root;
	return 0;
}

static int step(struct way *w, const char *part, uid_t user)
{
	int fd = openat(w->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC), ret = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		ret = -errno;
	else if (S_ISLNK(st.st_mode))
		ret = follow(w, fd, st.st_uid, user);
	else if (!S_ISDIR(st.st_mode))
		ret = -ENOTDIR;
	if (!ret && !S_ISLNK(st.st_mode)) {
		close(w->at);
		w->at = fd;
	} else if (fd >= 0) {
		close(fd);
	}
	return ret;
}

/* Returns 1 if the last part is not a link, or is a link that is not to be followed. */
static int last_step(struct way *w, const char *part, uid_t user, bool follow_last)
{
	struct stat st;

	if (!follow_last || !strcmp(part, "..") || !strcmp(part, ".") ||
	    fstatat(w->at, part, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode))
		return 1;
	return step(w, part, user);
}

int place_open_parent(const char *path, uid_t user, bool follow_last, char **name)
{
	struct way w;
	int ret = begin(&w, xstrdup(path));
	bool is_last = false;
	char *part = NULL;

	*name = NULL;
	while (!ret) {
		free(part);
		part = next_part(&w, &is_last);
		if (!part)
			ret = -EISDIR;
		else
			ret = is_last ? last_step(&w, part, user, follow_last)
				      : step(&w, part, user);
	}
	free(w.left);
	if (ret == 1) {
		*name = part;
		return w.at;
	}
	free(part);
	if (w.at >= 0)
		close(w.at);
	return ret;
}

bool place_is_plain(const char *path)
{
	for (const unsigned char *c = (const void *)path; *c; c++)
		if (*c <= ' ' || *c == 0x7f || *c == 0xa0 || strchr(":#\\", *c))
			return false;
	return true;
}

bool place_is_installed(const char *path)
{
	static const char *const places[] = { "/usr/",	     "/lib",	    "/bin/", "/sbin/",
					      "/nix/store/", "/gnu/store/", "/snap/" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return strncmp(path, "/usr/local/", strlen("/usr/local/")) != 0 &&
			       strncmp(path, "/usr/src/", strlen("/usr/src/")) != 0;
	return false;
}
