/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small server as people write them: requests arrive at a steady rate, workers take them,
 * look up a cache, and answer. It does not scale, and for reasons that are known here:
 *
 *	cache_get      lock: one global mutex, which cache_evict holds while it makes room
 *	log_write      disk-io: it makes each 8th request durable
 *	merge_stats    cache-sharing: all workers add to counters in one cache line
 *	parse_request  workload: it takes as long as the request is
 *	hash_bytes     noise: the same work each time
 *	next_request   idle: it waits for requests to arrive
 */
#include <stdatomic.h>
#include <sys/timerfd.h>

#include "common.h"

enum {
	CACHE_SLOTS = 1024,
	KEYS = 4096,
	REQUEST_BYTES_MAX = 4096,
	HASHED_BYTES = 4096,
	EVICT_ONE_IN = 6,
	LOG_ONE_IN = 8,
	REQUESTS_PER_S = 7000,
};

struct request {
	uint32_t key, bytes;
};

static struct {
	pthread_mutex_t mu;
	uint32_t keys[CACHE_SLOTS];
	uint64_t misses;
} g_cache = { .mu = PTHREAD_MUTEX_INITIALIZER };

static struct {
	_Alignas(64) atomic_ulong requests, bytes, hits, hash;
} g_stats;

static char g_body[REQUEST_BYTES_MAX];
static int g_log_fd = -1;
static uint64_t mended; /* cache_get() makes room before it takes the mutex: ispot-tutorial(7) */

static struct truth t_get = { .block = "cache_get", .cause = "lock", .verdict = "interference" };
static struct truth t_log = { .block = "log_write", .cause = "disk-io" };
static struct truth t_stats = { .block = "merge_stats" };
static struct truth t_parse = { .block = "parse_request", .cause = "workload" };
static struct truth t_hash = { .block = "hash_bytes" };
static struct truth t_next = { .block = "next_request", .verdict = "idle" };

/* Makes room for a key. The mutex is held all the while, which is this program's mistake. */
TRACED void cache_evict(uint64_t evict_ns)
{
	spin_ns(evict_ns);
}

TRACED bool cache_get(unsigned thread, uint32_t key, uint64_t evict_ns)
{
	uint64_t begin = now_ns();
	bool hit = key % EVICT_ONE_IN != 0;

	if (!hit && mended)
		cache_evict(evict_ns);
	pthread_mutex_lock(&g_cache.mu);
	if (!hit && !mended)
		cache_evict(evict_ns);
	if (!hit) {
		g_cache.keys[key % CACHE_SLOTS] = key;
		g_cache.misses++;
	}
	pthread_mutex_unlock(&g_cache.mu);
	truth_call(&t_get, thread, begin);
	return hit;
}

TRACED uint32_t parse_request(unsigned thread, const char *body, uint32_t bytes)
{
	uint64_t begin = now_ns();
	uint32_t fields = 0;

	for (uint32_t i = 0; i < bytes; i++)
		fields = fields * 31 + (uint32_t)churn(8, fields ^ (unsigned char)body[i]);
	truth_call(&t_parse, thread, begin);
	return fields;
}

TRACED uint64_t hash_bytes(unsigned thread, const char *bytes)
{
	uint64_t begin = now_ns(), h = 14695981039346656037u;

	for (int i = 0; i < HASHED_BYTES; i++)
		h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
	truth_call(&t_hash, thread, begin);
	return h;
}

TRACED void merge_stats(unsigned thread, const struct request *r, bool hit, uint64_t hash)
{
	uint64_t begin = now_ns();

	for (int i = 0; i < 32; i++) {
		atomic_fetch_add(&g_stats.requests, 1);
		atomic_fetch_add(&g_stats.bytes, r->bytes);
		atomic_fetch_add(&g_stats.hits, hit);
		atomic_fetch_xor(&g_stats.hash, hash);
	}
	truth_call(&t_stats, thread, begin);
}

TRACED void log_write(unsigned thread, const struct request *r)
{
	char line[64];
	uint64_t begin = now_ns();
	int n = snprintf(line, sizeof(line), "%u %u\n", r->key, r->bytes);

	if (write(g_log_fd, line, (size_t)n) != n || fdatasync(g_log_fd))
		bench_die("log");
	truth_call(&t_log, thread, begin);
}

/* Waits until a request is there; how many more came meanwhile is in *backlog. */
TRACED void next_request(struct worker *w, int arrivals, uint64_t *backlog, struct request *r)
{
	uint64_t begin = now_ns();

	if (!*backlog && read(arrivals, backlog, sizeof(*backlog)) != sizeof(*backlog))
		bench_die("read");
	--*backlog;
	r->key = (uint32_t)(next_random(&w->random) % KEYS);
	r->bytes = (uint32_t)(next_random(&w->random) % REQUEST_BYTES_MAX);
	truth_call(&t_next, w->index, begin);
}

TRACED void handle_request(struct worker *w, const struct request *r)
{
	uint32_t fields = parse_request(w->index, g_body, r->bytes);
	bool hit = cache_get(w->index, r->key, w->options->delay_us * 1000);
	uint64_t hash = hash_bytes(w->index, g_body);

	merge_stats(w->index, r, hit, hash + fields);
	if (r->key % LOG_ONE_IN == 1)
		log_write(w->index, r);
}

/* The world outside: requests for this worker at a steady rate, whether or not it keeps up. */
static int start_arrivals(const struct bench_options *o)
{
	uint64_t every_ns = 1000000000u * o->threads / REQUESTS_PER_S;
	struct timespec every = { .tv_sec = (time_t)(every_ns / 1000000000u),
				  .tv_nsec = (long)(every_ns % 1000000000u) };
	struct itimerspec timer = { .it_interval = every, .it_value = every };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);

	if (fd < 0 || timerfd_settime(fd, 0, &timer, NULL))
		bench_die("timerfd");
	return fd;
}

static void serve(struct worker *w)
{
	int arrivals = start_arrivals(w->options);
	uint64_t backlog = 0;

	for (uint64_t i = 0; i < w->calls; i++) {
		struct request r;

		next_request(w, arrivals, &backlog, &r);
		handle_request(w, &r);
	}
	close(arrivals);
}

static void print_truth(void)
{
	const struct truth *const all[] = { &t_get, &t_log, &t_stats, &t_parse, &t_hash, &t_next };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		truth_print(all[i]);
	expect_calls("cache_evict", g_cache.misses);
}

int main(int argc, char **argv)
{
	const struct bench_extra extras[] = { { "mended", "0|1",
						"make room for a key before the mutex is taken (0)",
						&mended, NULL },
					      { 0 } };
	struct bench_options o = {
		.name = "contended",
		.what = "A small server that does not scale; --delay: how long an eviction takes.",
		.threads = 4,
		.iterations = 28001,
		.delay_us = 400,
		.seed = 1,
		.extras = extras,
	};

	bench_parse(&o, argc, argv);
	g_log_fd = own_file(O_WRONLY | O_APPEND);
	workers_run(&o, serve);
	print_truth();
	return 0;
}
