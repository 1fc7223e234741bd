/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/dynevent.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/vec.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/kernel/tracing.h"

/* All points of an event must fetch the same. */
#define ID_ARGUMENT "id=\\%llu:u32"

enum state { BUILDING, WRITTEN, SEALED };

struct point {
	const char *path; /* in the arena; consecutive points of a file share one copy */
	uint64_t offset, counter_offset, tag;
};

/*
 * A descriptor that keeps a process in the event's filter, whatever the kernel does to inherited
 * events.
 */
struct holder {
	int fd;
	pid_t pid;
};

struct dynevent {
	struct dynevent_session *session;
	enum state state;
	enum point_class class;
	char name[16];
	int perf_id; /* 0: not looked up yet */
	size_t n_accepted;
	struct arena paths;
	struct {
		VEC(struct point)
	} points;
	struct {
		VEC(int)
	} fds;
	struct {
		VEC(struct holder)
	} holders;
	pthread_t closer;
	bool closing; /* the closer is at work */
};

uint32_t dynevent_next_number(struct dynevent_session *s)
{
	return s->n_numbers++;
}

struct dynevent *dynevent_new(struct dynevent_session *s, enum point_class class, uint32_t number)
{
	struct dynevent *ev = xcalloc(1, sizeof(*ev));

	ev->session = s;
	ev->class = class;
	snprintf(ev->name, sizeof(ev->name), "%c%u", class, number);
	*vec_add(&s->events) = ev;
	return ev;
}

void dynevent_add_counted(struct dynevent *ev, const char *path, uint64_t file_offset,
			  uint64_t counter_offset, uint64_t tag)
{
	const char *last = ev->points.n ? vec_last(&ev->points)->path : NULL;
	struct point *p = vec_add(&ev->points);

	assert(ev->state == BUILDING); /* a point appended to an open event can crash the kernel */
	p->path = last && !strcmp(last, path) ? last : arena_strdup(&ev->paths, path);
	p->offset = file_offset;
	p->counter_offset = counter_offset;
	p->tag = tag;
}

void dynevent_add(struct dynevent *ev, const char *path, uint64_t file_offset, uint64_t tag)
{
	dynevent_add_counted(ev, path, file_offset, 0, tag);
}

size_t dynevent_n(const struct dynevent *ev)
{
	return ev->state == BUILDING ? ev->points.n : ev->n_accepted;
}

/*
 * The file whose points are being written; it is opened, so that the kernel can be given any path.
 */
struct file {
	const char *path;
	int fd, errnum;
	off_t size_bytes;
	char name[512]; /* as it is written to the kernel */
};

static void file_close(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	f->path = NULL;
}

static void file_open(struct file *f, const char *path)
{
	struct stat st;

	file_close(f);
	f->path = path;
	f->errnum = 0;
	f->fd = open(path, O_PATH | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st)) {
		f->errnum = errno;
		return;
	}
	if (!S_ISREG(st.st_mode))
		f->errnum = EINVAL;
	f->size_bytes = st.st_size;
	if (*path == '/' && place_is_plain(path) && strlen(path) < sizeof(f->name))
		snprintf(f->name, sizeof(f->name), "%s", path);
	else
		snprintf(f->name, sizeof(f->name), "/proc/self/fd/%d", f->fd);
}

/*
 * Refuses points that the kernel would accept now and that would then fail the open of the whole
 * event: an offset outside of the file, or an unaligned one on machines with instructions of 4
 * bytes.
 */
static int point_errnum(const struct file *f, const struct point *p)
{
	if (f->errnum)
		return f->errnum;
	if (p->offset >= (uint64_t)f->size_bytes)
		return EINVAL;
#ifdef __aarch64__
	if (p->offset & 3)
		return EINVAL;
#endif
	return 0;
}

/*
 * Lines on their way to uprobe_events. Of one write, the kernel accepts the lines until one fails,
 * and does not tell which. So a batch has no more lines than fit its buffer of 4,096 bytes, and
 * after a failure each line is written by itself.
 */
struct batch {
	struct dynevent *ev;
	int control_fd;
	void (*refused)(void *ctx, uint32_t id, int errnum);
	void *ctx;
	size_t n_bytes, n_lines;
	struct {
		size_t start;
		uint32_t id;
	} lines[128];
	char text[4096];
};

static void batch_refuse(struct batch *b, uint32_t id, int errnum)
{
	if (b->refused)
		b->refused(b->ctx, id, errnum);
}

/*
 * EEXIST: the same point is there already, from the batch that failed or because it was added
 * twice.
 */
static void batch_retry(struct batch *b)
{
	for (size_t i = 0; i < b->n_lines; i++) {
		size_t start = b->lines[i].start;
		size_t end = i + 1 < b->n_lines ? b->lines[i + 1].start : b->n_bytes;

		if (write(b->control_fd, b->text + start, end - start) >= 0 || errno == EEXIST)
			b->ev->n_accepted++;
		else
			batch_refuse(b, b->lines[i].id, errno);
	}
}

static void batch_flush(struct batch *b)
{
	if (!b->n_lines)
		return;
	if (write(b->control_fd, b->text, b->n_bytes) == (ssize_t)b->n_bytes)
		b->ev->n_accepted += b->n_lines;
	else
		batch_retry(b);
	b->n_bytes = b->n_lines = 0;
}

static int format_line(char *buf, size_t room, const struct dynevent *ev, const char *file,
		       const struct point *p)
{
	char counter[32] = "";

	if (p->counter_offset)
		snprintf(counter, sizeof(counter), "(0x%llx)",
			 (unsigned long long)p->counter_offset);
	return snprintf(buf, room, "%c:%s/%s %s:0x%llx%s " ID_ARGUMENT "\n",
			ev->class == POINT_RETURN ? 'r' : 'p', ev->session->group, ev->name, file,
			(unsigned long long)p->offset, counter, (unsigned long long)p->tag);
}

static void batch_add(struct batch *b, const struct file *f, const struct point *p)
{
	char line[768];
	size_t n = format_line(line, sizeof(line), b->ev, f->name, p);

	if (b->n_bytes + n >= sizeof(b->text) ||
	    b->n_lines == sizeof(b->lines) / sizeof(b->lines[0]))
		batch_flush(b);
	b->lines[b->n_lines].start = b->n_bytes;
	b->lines[b->n_lines++].id = (uint32_t)p->tag;
	memcpy(b->text + b->n_bytes, line, n);
	b->n_bytes += n;
}

static void write_points(struct dynevent *ev, struct batch *b)
{
	struct file f = { .fd = -1 };

	vec_for_each (&ev->points, struct point, p) {
		int errnum;

		if (f.path != p->path) {
			batch_flush(b);
			file_open(&f, p->path);
		}
		errnum = point_errnum(&f, p);
		if (errnum)
			batch_refuse(b, (uint32_t)p->tag, errnum);
		else
			batch_add(b, &f, p);
	}
	batch_flush(b);
	file_close(&f);
}

/* Makes the event with its first point. */
static int make_event(struct dynevent *ev)
{
	char id[32];
	struct tracing_point gate = { .group = ev->session->group,
				      .event = ev->name,
				      .path = ev->session->gate,
				      .offset = DYNEVENT_GATE_OFFSET,
				      .arguments = id,
				      .is_return = ev->class == POINT_RETURN };

	snprintf(id, sizeof(id), ID_ARGUMENT, (unsigned long long)DYNEVENT_GATE_ID);
	return tracing_add(&gate);
}

int dynevent_create(struct dynevent *ev, void (*refused)(void *ctx, uint32_t id, int errnum),
		    void *ctx, struct err *err)
{
	struct batch b = {
		.ev = ev, .control_fd = ev->session->control_fd, .refused = refused, .ctx = ctx
	};
	int e;

	assert(ev->state == BUILDING);
	e = make_event(ev);
	if (e)
		return err_set(err, e, "cannot create the probe event %s/%s: %s; see %s/error_log",
			       ev->session->group, ev->name, strerror(-e), tracing_directory());
	ev->state = WRITTEN;
	write_points(ev, &b);
	return 0;
}

static int open_error(struct dynevent *ev, pid_t pid, int e, struct err *err)
{
	const char *group = ev->session->group;

	switch (-e) {
	case ESRCH:
		return err_set(err, e, "process %d is gone; give the pid of a running process",
			       pid);
	case EACCES:
	case EPERM:
		return err_set(err, e, "may not trace process %d; run with sudo", pid);
	case EMFILE:
	case ENFILE:
		return err_set(err, e,
			       "too few file descriptors for the probes; raise 'ulimit -Hn'");
	case ENOSPC:
		return err_set(err, e, "no room left for %s; free some space there",
			       ev->session->gate);
	case ENOEXEC: /* both from the instruction decoder, in a process that maps the file */
	case 524:     /* ENOTSUPP */
		return err_set(
			err, e,
			"the kernel cannot probe one of the %zu instructions of %s/%s in process %d; "
			"choose fewer functions",
			ev->n_accepted, group, ev->name, pid);
	default:
		return err_set(err, e,
			       "cannot open the %zu probes of %s/%s on process %d: %s; see dmesg",
			       ev->n_accepted, group, ev->name, pid, strerror(-e));
	}
}

static int open_on(struct dynevent *ev, pid_t pid, int inherit, int disabled, struct err *err)
{
	struct dynevent_session *s = ev->session;
	int fd;

	assert(ev->state != BUILDING && !ev->closing);
	if (!ev->perf_id) {
		int id = tracing_event_id(s->group, ev->name);

		if (id < 0)
			return err_set(
				err, id,
				"the probe event %s/%s has vanished; another program deleted it",
				s->group, ev->name);
		ev->perf_id = id;
	}
	fd = dynevent_gate_open(s->lock_fd);
	if (!fd)
		fd = dynevent_perf_open(ev->perf_id, pid, inherit, disabled);
	dynevent_gate_shut(s->lock_fd);
	if (fd < 0)
		return open_error(ev, pid, fd, err);
	ev->state = SEALED;
	return fd;
}

int dynevent_open(struct dynevent *ev, pid_t pid, int inherit, int disabled, struct err *err)
{
	int fd = open_on(ev, pid, inherit, disabled, err);

	if (fd >= 0)
		*vec_add(&ev->fds) = fd;
	return fd;
}

int dynevent_hold(struct dynevent *ev, pid_t pid, struct err *err)
{
	int fd = open_on(ev, pid, 0, 1, err);

	if (fd >= 0)
		*vec_add(&ev->holders) = (struct holder){ .fd = fd, .pid = pid };
	return fd < 0 ? fd : 0;
}

static void close_holders(struct dynevent *ev, bool all)
{
	size_t kept = 0;

	vec_for_each (&ev->holders, struct holder, h) {
		if (all || (kill(h->pid, 0) && errno == ESRCH))
			close(h->fd);
		else
			ev->holders.data[kept++] = *h;
	}
	ev->holders.n = kept;
}

void dynevent_unhold_ended(struct dynevent *ev)
{
	if (!ev->closing)
		close_holders(ev, false);
}

void dynevent_unhold(struct dynevent *ev)
{
	if (!ev->closing)
		close_holders(ev, true);
}

static void forget(struct dynevent_session *s, const struct dynevent *ev)
{
	for (size_t i = 0; i < s->events.n; i++)
		if (s->events.data[i] == ev) {
			s->events.data[i] = *vec_last(&s->events);
			s->events.n--;
			return;
		}
}

static void close_from(struct dynevent *ev, size_t first)
{
	for (size_t i = first; i < ev->fds.n; i++)
		close(ev->fds.data[i]);
	if (ev->fds.n > first)
		ev->fds.n = first;
}

void dynevent_unfollow(struct dynevent *ev)
{
	if (!ev->closing)
		close_from(ev, 1);
}

void dynevent_close_carriers(struct dynevent *ev)
{
	dynevent_unfollow(ev);
	dynevent_unhold(ev);
}

static void *close_all(void *ev)
{
	close_holders(ev, true);
	close_from(ev, 0);
	return NULL;
}

void dynevent_close_beside(struct dynevent *ev)
{
	if (!ev->closing && ev->fds.n)
		ev->closing = !pthread_create(&ev->closer, NULL, close_all, ev);
}

bool dynevent_is_closed(struct dynevent *ev)
{
	if (ev->closing && !pthread_tryjoin_np(ev->closer, NULL))
		ev->closing = false;
	return !ev->closing;
}

void dynevent_delete(struct dynevent *ev)
{
	struct dynevent_session *s;
	int e = 0;

	if (!ev)
		return;
	s = ev->session;
	if (ev->closing)
		pthread_join(ev->closer, NULL);
	close_holders(ev, true);
	close_from(ev, 0);
	if (ev->state != BUILDING)
		e = dynevent_erase(s->group, ev->name, DYNEVENT_PATIENCE);
	if (e) {
		s->left_behind = true;
		log_notice(
			"the probe event %s/%s was left in place (%s), and the next ispot removes it once it is free",
			s->group, ev->name,
			e == -EBUSY ? "another process has it open" : strerror(-e));
	}
	forget(s, ev);
	vec_release(&ev->fds);
	vec_release(&ev->holders);
	vec_release(&ev->points);
	arena_release(&ev->paths);
	free(ev);
}
