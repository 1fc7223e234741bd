/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small server as people write them: requests arrive at a steady rate, workers take them from
 * a queue, look up a cache, and answer. It does not scale, and for reasons that are known here:
 *
 *	cache_get      lock: one global mutex, which cache_evict holds while it makes room
 *	log_write      disk-io: it makes each 8th request durable
 *	merge_stats    cache-sharing: all workers add to counters in one cache line
 *	parse_request  workload: it takes as long as the request is
 *	hash_bytes     noise: the same work each time
 *	queue_pop      idle: it waits for requests to arrive
 */
#include <stdatomic.h>

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
	pthread_mutex_t mu;
	pthread_cond_t filled;
	struct request *requests;
	uint64_t put, taken;
	bool closed;
} g_queue = { .mu = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };

static struct {
	_Alignas(64) atomic_ulong requests, bytes, hits, hash;
} g_stats;

static char g_body[REQUEST_BYTES_MAX];
static int g_log_fd = -1;

static struct truth t_get = { .block = "cache_get", .cause = "lock", .verdict = "interference" };
static struct truth t_log = { .block = "log_write", .cause = "disk-io" };
static struct truth t_stats = { .block = "merge_stats" };
static struct truth t_parse = { .block = "parse_request", .cause = "workload" };
static struct truth t_hash = { .block = "hash_bytes" };
static struct truth t_pop = { .block = "queue_pop", .verdict = "idle" };

/* Makes room for a key. The mutex is held all the while, which is this program's mistake. */
TRACED void cache_evict(uint32_t key, uint64_t evict_ns)
{
	spin_ns(evict_ns);
	g_cache.keys[key % CACHE_SLOTS] = key;
	g_cache.misses++;
}

TRACED bool cache_get(unsigned thread, uint32_t key, uint64_t evict_ns)
{
	uint64_t begin = now_ns();
	bool hit;

	pthread_mutex_lock(&g_cache.mu);
	hit = key % EVICT_ONE_IN != 0;
	if (!hit)
		cache_evict(key, evict_ns);
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

TRACED bool queue_pop(unsigned thread, struct request *r)
{
	uint64_t begin = now_ns();
	bool got;

	pthread_mutex_lock(&g_queue.mu);
	while (g_queue.taken == g_queue.put && !g_queue.closed)
		pthread_cond_wait(&g_queue.filled, &g_queue.mu);
	got = g_queue.taken < g_queue.put;
	if (got)
		*r = g_queue.requests[g_queue.taken++];
	pthread_mutex_unlock(&g_queue.mu);
	truth_call(&t_pop, thread, begin);
	return got;
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

static void serve(struct worker *w)
{
	struct request r;

	while (queue_pop(w->index, &r))
		handle_request(w, &r);
}

/* The world outside: requests at a steady rate, whether or not the workers keep up. */
static void *arrive(void *arg)
{
	const struct bench_options *o = arg;
	uint64_t start = now_ns(), seed = o->seed * 0x9e3779b97f4a7c15u | 1;

	while (g_queue.put < o->iterations) {
		uint64_t due = (now_ns() - start) * REQUESTS_PER_S / 1000000000u;

		if (due > o->iterations)
			due = o->iterations;
		pthread_mutex_lock(&g_queue.mu);
		while (g_queue.put < due)
			g_queue.requests[g_queue.put++] = (struct request){
				.key = (uint32_t)(next_random(&seed) % KEYS),
				.bytes = (uint32_t)(next_random(&seed) % REQUEST_BYTES_MAX)
			};
		g_queue.closed = g_queue.put == o->iterations;
		pthread_cond_broadcast(&g_queue.filled);
		pthread_mutex_unlock(&g_queue.mu);
		sleep_ns(1000000);
	}
	return NULL;
}

static void print_truth(void)
{
	const struct truth *const all[] = { &t_get, &t_log, &t_stats, &t_parse, &t_hash, &t_pop };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		truth_print(all[i]);
	expect_calls("cache_evict", g_cache.misses);
}

int main(int argc, char **argv)
{
	struct bench_options o = {
		.name = "contended",
		.what = "A small server that does not scale; --delay: how long an eviction takes.",
		.threads = 4,
		.iterations = 28001,
		.delay_us = 400,
		.seed = 1
	};
	pthread_t arrivals;

	bench_parse(&o, argc, argv);
	g_queue.requests = calloc(o.iterations, sizeof(*g_queue.requests));
	if (!g_queue.requests)
		bench_die("calloc");
	g_log_fd = own_file(O_WRONLY | O_APPEND);
	if ((errno = pthread_create(&arrivals, NULL, arrive, &o)))
		bench_die("pthread_create");
	workers_run(&o, serve);
	pthread_join(arrivals, NULL);
	print_truth();
	return 0;
}
