/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "base/err.h"

#define USUAL	"/sys/kernel/tracing"
#define CONTROL "uprobe_events"

static const char *directory; /* owned by the library */

/* Stores the path; otherwise the library would search, and mount, again for each call. */
static const char *store_path(const char *path)
{
	if (!path || access(path, F_OK) || tracefs_set_tracing_dir((char *)path))
		return NULL;
	directory = path;
	return directory;
}

const char *tracing_directory(void)
{
	const char *path = NULL;

	if (directory)
		return directory;
	return tracefs_tracing_dir_is_mounted(false, &path) == 1 ? store_path(path) : NULL;
}

int tracing_mount(struct err *err)
{
	const char *path = NULL;

	if (tracing_directory())
		return 0;
	if (geteuid())
		return err_set(err, -EACCES,
			       "tracefs is not mounted and probes need root; run with sudo");
	if (access(USUAL, F_OK)) /* the directory exists if the kernel has tracefs */
		return err_set(err, -ENOENT,
			       "this kernel has no tracefs; use one with CONFIG_UPROBE_EVENTS");
	if (tracefs_tracing_dir_is_mounted(true, &path) >= 0 && store_path(path))
		return 0;
	return err_set(err, -errno,
		       "cannot mount tracefs at %s: %s; run with sudo outside of a container",
		       USUAL, strerror(errno));
}

int tracing_control(void)
{
	int fd;

	if (!tracing_directory())
		return -ENOENT;
	fd = tracefs_instance_file_open(NULL, CONTROL, O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int tracing_event_id(const char *group, const char *event)
{
	char *text;
	int id;

	if (!tracing_directory())
		return -ENOENT;
	errno = 0;
	text = tracefs_event_file_read(NULL, group, event, "id", NULL);
	if (!text)
		return errno ? -errno : -EIO;
	id = atoi(text);
	free(text);
	return id > 0 ? id : -EIO;
}

char **tracing_events(const char *group)
{
	return tracing_directory() ? tracefs_system_events(directory, group) : NULL;
}

void tracing_events_free(char **events)
{
	tracefs_list_free(events);
}

int tracing_add(const struct tracing_point *p)
{
	struct tracefs_dynevent *(*alloc)(const char *, const char *, const char *,
					  unsigned long long, const char *) =
		p->is_return ? tracefs_uretprobe_alloc : tracefs_uprobe_alloc;
	struct tracefs_dynevent *event;
	int ret;

	if (!tracing_directory())
		return -ENOENT;
	event = alloc(p->group, p->event, p->path, p->offset, p->arguments);
	if (!event)
		return -ENOMEM;
	ret = tracefs_dynevent_create(event) ? -errno : 0;
	tracefs_dynevent_free(event);
	return ret;
}

int tracing_remove(const char *group, const char *event)
{
	struct tracefs_dynevent *gone;
	int ret;

	if (!tracing_directory())
		return -ENOENT;
	gone = tracefs_uprobe_alloc(group, event, "/", 0, NULL); /* only for its name */
	if (!gone)
		return -ENOMEM;
	/* Without force, which would first write into the event's enable file. */
	ret = tracefs_dynevent_destroy(gone, false) ? -errno : 0;
	tracefs_dynevent_free(gone);
	return ret;
}
