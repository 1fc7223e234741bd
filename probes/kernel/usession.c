/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/usession.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#define UPROBE_SESSION 57 /* BPF_TRACE_UPROBE_SESSION */

/* The members of union bpf_attr for these links, which the distribution's linux/bpf.h lacks. */
struct link_create {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t n, multi_flags, pid, unused;
	uint8_t rest[64];
};

/* The points in one file. */
struct file {
	char *path;
	struct {
		VEC(uint64_t)
	} offsets, cookies;
};

struct usession {
	struct {
		VEC(struct file)
	} files;
	struct {
		VEC(struct open_link {
			pid_t pid;
			int fd;
		})
	} links;
};

struct usession *usession_new(void)
{
	return xcalloc(1, sizeof(struct usession));
}

static struct file *file_of(struct usession *u, const char *path)
{
	struct file *f;

	for (size_t i = u->files.n; i--;)
		if (!strcmp(u->files.data[i].path, path))
			return &u->files.data[i];
	f = vec_add(&u->files);
	*f = (struct file){ .path = xstrdup(path) };
	return f;
}

void usession_add(struct usession *u, const char *path, uint64_t file_offset, uint64_t cookie)
{
	struct file *f = file_of(u, path);

	*vec_add(&f->offsets) = file_offset;
	*vec_add(&f->cookies) = cookie;
}

static int link_file(const struct file *f, int program_fd, pid_t pid)
{
	struct link_create attr = {
		.prog_fd = (uint32_t)program_fd,
		.attach_type = UPROBE_SESSION,
		.path = (uintptr_t)f->path,
		.offsets = (uintptr_t)f->offsets.data,
		.cookies = (uintptr_t)f->cookies.data,
		.n = (uint32_t)f->offsets.n,
		.pid = (uint32_t)pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

int usession_open(struct usession *u, int program_fd, pid_t pid, struct err *err)
{
	vec_for_each (&u->links, const struct open_link, l)
		if (l->pid == pid)
			return 0;
	vec_for_each (&u->files, const struct file, f) {
		int fd = link_file(f, program_fd, pid);

		if (fd == -ESRCH)
			return fd;
		if (fd < 0)
			return err_set(err, fd,
				       "the kernel takes no uprobe session in %s: %s; without -c "
				       "none is needed",
				       f->path, strerror(-fd));
		*vec_add(&u->links) = (struct open_link){ pid, fd };
	}
	return 0;
}

void usession_close_process(struct usession *u, pid_t pid)
{
	size_t kept = 0;

	vec_for_each (&u->links, const struct open_link, l)
		if (l->pid == pid)
			close(l->fd);
		else
			u->links.data[kept++] = *l;
	u->links.n = kept;
}

void usession_close(struct usession *u)
{
	vec_for_each (&u->links, const struct open_link, l)
		close(l->fd);
	u->links.n = 0;
}

void usession_free(struct usession *u)
{
	if (!u)
		return;
	usession_close(u);
	vec_for_each (&u->files, struct file, f) {
		free(f->path);
		vec_release(&f->offsets);
		vec_release(&f->cookies);
	}
	vec_release(&u->files);
	vec_release(&u->links);
	free(u);
}
