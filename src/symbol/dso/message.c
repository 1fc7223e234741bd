/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "symbol/dso/patience.h"

#define TURN_NS 100000000ull /* a waiting process checks for signals this often */

static uint64_t ends_ns; /* when a signal that ends ispot was first seen; 0: none is pending */

void message_add_u64(struct text *t, uint64_t v)
{
	text_addn(t, (const char *)&v, sizeof(v));
}

void message_add_string(struct text *t, const char *s)
{
	text_addn(t, s ? s : "", s ? strlen(s) + 1 : 1);
}

uint64_t message_read_u64(struct answer *a)
{
	uint64_t v = 0;

	if ((size_t)(a->end - a->at) < sizeof(v)) {
		a->is_bad = true;
		return 0;
	}
	memcpy(&v, a->at, sizeof(v));
	a->at += sizeof(v);
	return v;
}

const char *message_read_string(struct answer *a)
{
	const char *s = a->at, *end = memchr(s, '\0', (size_t)(a->end - s));

	if (!end) {
		a->is_bad = true;
		return "";
	}
	a->at = end + 1;
	return s;
}

const void *message_read_bytes(struct answer *a, size_t n)
{
	const void *bytes = a->at;

	a->is_bad |= (size_t)(a->end - a->at) < n;
	if (!a->is_bad)
		a->at += n;
	return a->is_bad ? NULL : bytes;
}

/*
 * Whether the child is stopped: the owner of its file may stop it. A child that the terminal stops
 * is continued together with ispot.
 */
static bool is_stopped(pid_t pid)
{
	siginfo_t info = { 0 };

	return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
	       info.si_pid == pid;
}

/* Waits at most TURN_NS for the descriptor. Returns 1 if it is ready, 0 if not yet, or -errno. */
static int await(const struct peer *peer, short events)
{
	struct pollfd p = { .fd = peer->fd, .events = events };
	uint64_t deadline_ns = peer->deadline_ns;
	uint64_t now_ns = clock_now_ns();
	int ready;

	if (!deadline_ns)
		return 1;
	if (!interrupt_pending())
		ends_ns = 0;
	else if (!ends_ns)
		ends_ns = now_ns;
	if (now_ns >= deadline_ns || (ends_ns && now_ns - ends_ns >= PATIENCE_LEAST_NS))
		return -ETIMEDOUT;
	ready = poll(&p, 1, (int)(TURN_NS / 1000000));
	if (!ready && is_stopped(peer->pid))
		return -ETIMEDOUT;
	return ready < 0 && errno != EINTR ? -errno : ready > 0;
}

int message_send(const struct peer *peer, const void *data, size_t n)
{
	int flags = MSG_NOSIGNAL | (peer->deadline_ns ? MSG_DONTWAIT : 0);

	for (const char *at = data; n;) {
		int ready = await(peer, POLLOUT);
		ssize_t sent = ready > 0 ? send(peer->fd, at, n, flags) : 0;

		if (ready < 0)
			return ready;
		if (sent < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		at += sent > 0 ? sent : 0;
		n -= sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

/* Without a deadline it waits as long as it takes. */
int message_receive(const struct peer *peer, void *data, size_t n)
{
	for (char *at = data; n;) {
		int ready = await(peer, POLLIN);
		ssize_t got = ready > 0 ? read(peer->fd, at, n) : -1;

		if (ready < 0)
			return ready;
		if (!ready)
			continue;
		if (!got)
			return -EPIPE;
		if (got < 0 && errno != EINTR)
			return -errno;
		at += got > 0 ? got : 0;
		n -= got > 0 ? (size_t)got : 0;
	}
	return 0;
}

bool message_is_ending(void)
{
	return ends_ns;
}
