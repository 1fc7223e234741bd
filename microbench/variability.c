/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The microbenchmarks of the Iceberg paper (section 3.4.1), as C has them: a function, or a
 * critical section, that takes about the same time in each execution but for some, which the
 * program knows. Left out: M5 and M14, which are M2 and M7 with strings.
 *
 * For each execution a line "run NAME INDEX NS RARE": what it took as seen by its caller, so never
 * less than what a probe around it sees, and whether it is one of the rare long ones. At the end
 * "expect block=NAME calls=N", and what the rare ones are for, as ispot has it.
 */
#include <sys/mman.h>
#include <sys/socket.h>

#include "common.h"

#define TYPICAL_STEPS 4000
#define ITEM_BYTES    8192

static volatile uint64_t sink;
static bool rare; /* the execution under way is one of the long ones */

static void *need(void *memory)
{
	if (!memory || memory == MAP_FAILED)
		bench_die("memory");
	return memory;
}

/* ---- M1 ---- */

TRACED void arithmetic(uint64_t i)
{
	sink = churn(100000, i);
}

/* ---- M2, M3: lists and tables that are made anew when they are full ---- */

#define GROWN_MIN 32 /* making anew a smaller one is not long */

static char *items;
static uint64_t n_items, room_items;

TRACED void append_to_list(uint64_t i)
{
	if (n_items == room_items) {
		uint64_t room = room_items ? 2 * room_items : 4;
		char *more = need(malloc(room * ITEM_BYTES));

		memset(more, 1, room * ITEM_BYTES);
		if (n_items)
			memcpy(more, items, n_items * ITEM_BYTES);
		free(items);
		items = more;
		room_items = room;
		rare = room >= GROWN_MIN;
	}
	memset(items + n_items++ * ITEM_BYTES, (int)i, ITEM_BYTES);
}

#define BUCKET_WORDS 1024

static uint64_t *table;
static uint64_t n_keys, room_keys;

static uint64_t *bucket(uint64_t *in, uint64_t room, uint64_t key)
{
	uint64_t at = key * 0x9e3779b97f4a7c15u & (room - 1);

	while (in[at * BUCKET_WORDS] && in[at * BUCKET_WORDS] != key)
		at = (at + 1) & (room - 1);
	return in + at * BUCKET_WORDS;
}

TRACED void map_put(uint64_t i)
{
	if (4 * n_keys >= 3 * room_keys) {
		uint64_t room = room_keys ? 2 * room_keys : 4;
		uint64_t bytes = room * BUCKET_WORDS * sizeof(uint64_t);
		uint64_t *more = need(malloc(bytes));

		memset(more, 0, bytes);
		for (uint64_t k = 0; k < room_keys; k++)
			if (table[k * BUCKET_WORDS])
				*bucket(more, room, table[k * BUCKET_WORDS]) =
					table[k * BUCKET_WORDS];
		free(table);
		table = more;
		room_keys = room;
		rare = room >= GROWN_MIN;
	}
	*bucket(table, room_keys, i + 1) = i + 1;
	n_keys++;
	sink = churn(TYPICAL_STEPS, i);
}

/* ---- M4, M8, M9: memory that is new ---- */

#define FRESH_BYTES (4u << 20)

static void touch_new(uint64_t bytes)
{
	char *memory =
		need(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	for (uint64_t at = 0; at < bytes; at += 4096)
		memory[at] = 1;
	munmap(memory, bytes);
}

TRACED void allocate(uint64_t i)
{
	rare = i % 37 == 36;
	if (rare)
		touch_new(FRESH_BYTES);
	sink = churn(TYPICAL_STEPS, i);
}

TRACED void stack_push(uint64_t i)
{
	rare = i % 64 == 63;
	if (rare)
		touch_new(FRESH_BYTES / 2);
	sink = churn(TYPICAL_STEPS, i);
}

#define ARRAY_BYTES (8u << 20)

TRACED void array_increment(uint64_t i)
{
	static char *array;

	rare = i == 0;
	if (!array)
		array = need(mmap(NULL, ARRAY_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (uint64_t at = 0; at < (rare ? ARRAY_BYTES : 16 * 4096); at += 4096)
		array[at]++;
	sink = churn(TYPICAL_STEPS, i);
}

/* ---- M6, M7, M10, M13: as much work as there is data ---- */

struct node {
	struct node *next;
	uint64_t value;
};

static struct node *merge(struct node *a, struct node *b)
{
	struct node first, *last = &first;

	while (a && b) {
		struct node **less = a->value < b->value ? &a : &b;

		last = last->next = *less;
		*less = (*less)->next;
	}
	last->next = a ? a : b;
	return first.next;
}

static struct node *merge_sort(struct node *list, uint64_t n)
{
	struct node *middle = list, *rest;

	if (n < 2)
		return list;
	for (uint64_t i = 1; i < n / 2; i++)
		middle = middle->next;
	rest = middle->next;
	middle->next = NULL;
	return merge(merge_sort(list, n / 2), merge_sort(rest, n - n / 2));
}

#define NODES_MAX 20000
#define NODES_FEW 100

TRACED void sort_linked_list(uint64_t i)
{
	static struct node nodes[NODES_MAX];
	uint64_t random = i * 2 + 1, n;

	rare = i % 71 == 40;
	n = rare ? NODES_MAX : NODES_FEW;
	for (uint64_t k = 0; k < n; k++)
		nodes[k] = (struct node){ k + 1 < n ? &nodes[k + 1] : NULL, next_random(&random) };
	sink = merge_sort(nodes, n)->value;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

TRACED void sort_array(uint64_t i)
{
	static uint64_t values[NODES_MAX];
	uint64_t random = i * 2 + 1, n;

	rare = i % 83 == 17;
	n = rare ? NODES_MAX : NODES_FEW;
	for (uint64_t k = 0; k < n; k++)
		values[k] = next_random(&random);
	qsort(values, n, sizeof(*values), by_value);
	sink = values[0];
}

/* Lists of different lengths, of which one is long. */
TRACED void update_lists(uint64_t i)
{
	static struct node nodes[4 * NODES_MAX];
	static bool made;
	uint64_t at = 0;

	if (!made)
		for (uint64_t k = 0; k < 4 * NODES_MAX; k++)
			nodes[k].value = k;
	rare = i % 50 == 25 || !made;
	made = true;
	for (uint64_t k = 0; k < (rare ? 4 * NODES_MAX : NODES_FEW * 10); k++) {
		at = (at + 40009) % (4 * NODES_MAX);
		nodes[at].value++;
	}
}

/* Longer by the same each time: not rare, the line says so. */
TRACED void scan_growing_list(uint64_t i)
{
	sink = churn(20000 + 100 * i, i);
}

/* ---- M11 ---- */

TRACED void slow_path(uint64_t i)
{
	sink = churn(200 * TYPICAL_STEPS, i);
}

TRACED void fast_or_slow(uint64_t i)
{
	rare = (i * 2654435761u >> 7) % 41 == 0;
	if (rare)
		slow_path(i);
	else
		sink = churn(TYPICAL_STEPS, i);
}

/* ---- M12, M15: another thread that is asked at times ---- */

#define HELD_NS	  4000000
#define REPLY_NS  8000000
#define ASK_EVERY 29

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
/* Steps of both threads: the other one shall hold the inner lock; it does; it is asked for. */
enum { FREE, WANTED, HELD, ASKED };
static int step;

static void wait_for(int wanted)
{
	while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) != wanted)
		sleep_ns(50000);
}

static void go_to(int next)
{
	__atomic_store_n(&step, next, __ATOMIC_SEQ_CST);
}

TRACED void hold_inner(void)
{
	pthread_mutex_lock(&inner);
	go_to(HELD);
	wait_for(ASKED);
	sleep_ns(HELD_NS);
	pthread_mutex_unlock(&inner);
	go_to(FREE);
}

static void *holder(void *unused)
{
	(void)unused;
	for (;;) {
		wait_for(WANTED);
		hold_inner();
	}
	return NULL;
}

TRACED void nested_sections(uint64_t i)
{
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&inner);
	sink = churn(TYPICAL_STEPS, i);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
}

static void before_nested(uint64_t i)
{
	pthread_t thread;

	if (!i && (errno = pthread_create(&thread, NULL, holder, NULL)))
		bench_die("pthread_create");
	wait_for(FREE);
	rare = i % ASK_EVERY == ASK_EVERY - 1;
	if (!rare)
		return;
	go_to(WANTED);
	wait_for(HELD);
	go_to(ASKED);
}

static int ends[2];

static void *reply(void *unused)
{
	char late;

	(void)unused;
	while (read(ends[1], &late, 1) == 1) {
		if (late)
			sleep_ns(REPLY_NS);
		if (write(ends[1], &late, 1) != 1)
			break;
	}
	return NULL;
}

TRACED void ask_host(uint64_t i)
{
	char late;

	late = i % ASK_EVERY == ASK_EVERY - 1;
	rare = late;
	if (write(ends[0], &late, 1) != 1 || read(ends[0], &late, 1) != 1)
		bench_die("socket");
}

static void before_asking(uint64_t i)
{
	pthread_t thread;

	if (!i && (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
		   (errno = pthread_create(&thread, NULL, reply, NULL))))
		bench_die("socketpair");
}

/* ---- */

/* cause: of the rare ones; NULL: none are */
static const struct variant {
	const char *name;
	void (*run)(uint64_t i);
	void (*before)(uint64_t i);
	const char *cause, *behaviour;
} variants[] = {
	{ "arithmetic", arithmetic, NULL, NULL, NULL },			    /* M1 */
	{ "append_to_list", append_to_list, NULL, "page-fault", "C" },	    /* M2 */
	{ "map_put", map_put, NULL, "page-fault", "C" },		    /* M3 */
	{ "allocate", allocate, NULL, "page-fault", "E" },		    /* M4 */
	{ "sort_linked_list", sort_linked_list, NULL, "unknown", NULL },    /* M6 */
	{ "sort_array", sort_array, NULL, "unknown", NULL },		    /* M7 */
	{ "stack_push", stack_push, NULL, "page-fault", "E" },		    /* M8 */
	{ "array_increment", array_increment, NULL, "page-fault", "E" },    /* M9 */
	{ "update_lists", update_lists, NULL, "unknown", NULL },	    /* M10 */
	{ "fast_or_slow", fast_or_slow, NULL, "slow-path", "A" },	    /* M11 */
	{ "nested_sections", nested_sections, before_nested, "lock", "B" }, /* M12 */
	{ "scan_growing_list", scan_growing_list, NULL, NULL, NULL },	    /* M13 */
	/* M15; a thread of the program stands for the host, so the wait is for that thread */
	{ "ask_host", ask_host, before_asking, "condition-wait", NULL },
};

static void run(const struct variant *v, uint64_t n)
{
	struct {
		uint64_t ns;
		bool rare;
	} *log = need(calloc(n + 1, sizeof(*log)));

	for (uint64_t i = 0; i < n; i++) {
		uint64_t begin;

		rare = false;
		if (v->before)
			v->before(i);
		begin = now_ns();
		v->run(i);
		log[i].ns = now_ns() - begin;
		log[i].rare = rare;
	}
	for (uint64_t i = 0; i < n; i++)
		printf("run %s %" PRIu64 " %" PRIu64 " %d\n", v->name, i, log[i].ns, log[i].rare);
	printf("expect block=%s calls=%" PRIu64, v->name, n);
	if (v->cause)
		printf(" cause=%s", v->cause);
	if (v->behaviour)
		printf(" behaviour=%s", v->behaviour);
	printf("\n");
	free(log);
}

int main(int argc, char **argv)
{
	const char *name = "all";
	bool found = false;
	const struct bench_extra extras[] = {
		{ "variant", "NAME", "one of them (all); list: which there are", .string = &name },
		{ 0 },
	};
	struct bench_options o = { .name = "variability",
				   .what = "Executions of which some take long.",
				   .extras = extras,
				   .threads = 1,
				   .iterations = 300,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	if (!strcmp(name, "list")) {
		for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
			printf("%s\n", variants[i].name);
		return 0;
	}
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
		if (!strcmp(name, "all") || !strcmp(variants[i].name, name)) {
			run(&variants[i], o.iterations);
			found = true;
		}
	if (!found)
		fprintf(stderr, "variability: no variant %s\n", name);
	return found ? 0 : 2;
}
