/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A client reads from a loopback TCP server that sends two replies at a time, after a known pause.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common.h"

static int client = -1, server = -1;
static struct truth reads = { .block = "read_reply", .cause = "network" };

TRACED void read_reply(unsigned thread)
{
	uint64_t reply, begin = now_ns();

	if (recv(client, &reply, sizeof(reply), MSG_WAITALL) != sizeof(reply))
		bench_die("recv");
	truth_call(&reads, thread, begin);
}

static void connect_loopback(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&addr, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    connect(client, (struct sockaddr *)&addr, len))
		bench_die("loopback");
	server = accept(listener, NULL, NULL);
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void *send_replies(void *arg)
{
	const struct bench_options *o = arg;
	uint64_t pair[2] = { 0, 1 };

	for (uint64_t left = o->iterations; left;) {
		uint64_t n = left < 2 ? left : 2;

		sleep_ns(o->delay_us * 1000);
		if (send(server, pair, n * sizeof(*pair), 0) < 0)
			bench_die("send");
		left -= n;
	}
	return NULL;
}

static void run(struct worker *w)
{
	for (uint64_t i = 0; i < w->calls; i++) {
		read_reply(w->index);
		spin_ns(40000);
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "socket",
				   .what = "A client waits for a TCP server.",
				   .threads = 1,
				   .iterations = 5003,
				   .delay_us = 300,
				   .seed = 1 };
	pthread_t sender;

	bench_parse(&o, argc, argv);
	connect_loopback();
	if ((errno = pthread_create(&sender, NULL, send_replies, &o)))
		bench_die("pthread_create");
	workers_run(&o, run);
	pthread_join(sender, NULL);
	truth_print(&reads);
	return 0;
}
