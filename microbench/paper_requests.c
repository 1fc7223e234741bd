/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Section 5.5.3 of the ISPOT paper: clients send requests and read the replies of a server, a
 * process of its own, over loopback TCP; both sides are functions, so that one recording has a
 * request's time as the client sees it and as the server does. Whose network is shaped, and to
 * which bandwidth, is the caller's affair: a network namespace of one's own.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common.h"

enum { REPLY_MAX = 1 << 20 };

static struct sockaddr_in address = { .sin_family = AF_INET };
static uint64_t reply_bytes = 16384;
static char bytes[REPLY_MAX];
static struct truth requests = { .block = "request", .cause = "network" };

static void all(ssize_t done, size_t wanted, const char *what)
{
	if (done != (ssize_t)wanted)
		bench_die(what);
}

/* ---- server ---- */

TRACED void serve(int connection)
{
	size_t sent = 0;

	while (sent < reply_bytes) {
		ssize_t n = send(connection, bytes + sent, reply_bytes - sent, MSG_NOSIGNAL);

		if (n <= 0)
			bench_die("send");
		sent += (size_t)n;
	}
}

static void *serve_connection(void *arg)
{
	int connection = *(int *)arg;
	char request;

	free(arg);
	while (recv(connection, &request, 1, 0) == 1)
		serve(connection);
	close(connection);
	return NULL;
}

static void accept_all(int listener)
{
	for (;;) {
		int *connection = malloc(sizeof(*connection)), one = 1;
		pthread_t thread;

		if (!connection || (*connection = accept(listener, NULL, NULL)) < 0)
			bench_die("accept");
		setsockopt(*connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if ((errno = pthread_create(&thread, NULL, serve_connection, connection)))
			bench_die("pthread_create");
		pthread_detach(thread);
	}
}

/* The server lives as long as its parent. */
static pid_t server_start(void)
{
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pid_t parent = getpid(), pid;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) ||
	    listen(listener, WORKERS_MAX) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		bench_die("loopback");
	pid = fork();
	if (pid < 0)
		bench_die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			accept_all(listener);
		_exit(0);
	}
	close(listener);
	return pid;
}

/* ---- clients ---- */

/* From the request sent to the reply received. */
TRACED void request(int connection, char *reply, unsigned thread)
{
	uint64_t begin = now_ns();

	all(send(connection, "r", 1, MSG_NOSIGNAL), 1, "send");
	all(recv(connection, reply, reply_bytes, MSG_WAITALL), reply_bytes, "recv");
	truth_call(&requests, thread, begin);
}

static void run(struct worker *w)
{
	int connection = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char *reply = malloc(reply_bytes);

	if (!reply || connection < 0 ||
	    connect(connection, (struct sockaddr *)&address, sizeof(address)))
		bench_die("connect");
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (uint64_t i = 0; i < w->calls; i++) {
		request(connection, reply, w->index);
		spin_ns(w->options->delay_us * 1000);
	}
	free(reply);
	close(connection);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = {
		{ "reply-bytes", "N", "length of a reply (16384)", &reply_bytes, NULL },
		{ 0 },
	};
	struct bench_options o = { .name = "paper_requests",
				   .what = "Clients wait for a server's replies over loopback TCP.",
				   .threads = 4,
				   .iterations = 4000,
				   .delay_us = 50,
				   .seed = 1,
				   .extras = extras };
	pid_t server;

	bench_parse(&o, argc, argv);
	if (reply_bytes < 1 || reply_bytes > REPLY_MAX) {
		fprintf(stderr, "a reply has 1 to %d bytes\n", REPLY_MAX);
		return 2;
	}
	server = server_start();
	workers_run(&o, run);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	truth_print(&requests);
	truth_print_mean(&requests);
	return 0;
}
