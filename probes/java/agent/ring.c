// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES_STEP (256u << 10) /* memory for names is allocated in pieces of this size */
#define STRINGS	   3
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

_Static_assert(sizeof(struct inproc_header) <= INPROC_PAGE, "one page");
_Static_assert(sizeof(struct inproc_slot) == 128, "two cache lines");
_Static_assert(sizeof(struct inproc_record) == 16, "what ring_bytes is divided by");

static struct {
	int fd;
	struct inproc_header *header;
	struct inproc_slot *slots;
	char *names, *rings;
	uint64_t names_backed;
	_Atomic uint8_t backed[INPROC_SLOTS]; /* its ring has memory */
	_Atomic uint32_t next;		      /* where the search for a free slot begins */
	pthread_key_t key;		      /* its destructor releases a thread's ring */
} region = { .fd = -1 };

static __thread struct ring_thread *mine __attribute__((tls_model("initial-exec")));

/* ---- the region ---- */

static void fill_header(struct inproc_header *h, uint64_t ring_bytes)
{
	h->magic = INPROC_MAGIC;
	h->version = INPROC_VERSION;
	h->pid = (uint32_t)getpid();
	h->slots = INPROC_SLOTS;
	h->names_at = INPROC_PAGE + INPROC_SLOTS * sizeof(struct inproc_slot);
	h->names_bytes = INPROC_NAMES;
	h->rings_at = h->names_at + h->names_bytes;
	h->ring_bytes = ring_bytes;
	strcpy(h->producer, "java");
	h->recording = 1;
}

static void thread_ends(void *p)
{
	struct ring_thread *t = p;

	mine = NULL;
	if (t->slot)
		atomic_store_explicit(&t->slot->state, INPROC_ENDED, memory_order_release);
	count_release(&t->counts);
	free(t);
}

static const char *map(uint64_t ring_bytes)
{
	struct inproc_header h = { 0 };
	uint64_t bytes;
	char *p;

	fill_header(&h, ring_bytes);
	bytes = h.rings_at + h.slots * ring_bytes;
	if (ftruncate(region.fd, (off_t)bytes) || posix_fallocate(region.fd, 0, (off_t)h.names_at))
		return "shared memory is full";
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region.fd, 0);
	if (p == MAP_FAILED)
		return "shared memory cannot be mapped";
	memcpy(p, &h, sizeof(h));
	region.header = (struct inproc_header *)p;
	region.slots = (struct inproc_slot *)(p + INPROC_PAGE);
	region.names = p + h.names_at;
	region.rings = p + h.rings_at;
	return NULL;
}

const char *ring_open(const char *directory, uint64_t ring_bytes)
{
	char path[512], final[512];
	const char *why;

	snprintf(path, sizeof(path), "%s/%d.new", directory, getpid());
	snprintf(final, sizeof(final), "%s/%d" INPROC_SUFFIX, directory, getpid());
	if (!access(final, F_OK))
		return "it is recorded already";
	region.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (region.fd < 0)
		return "its directory cannot be written";
	why = map(ring_bytes);
	if (!why && pthread_key_create(&region.key, thread_ends))
		why = "there are too many thread-specific values";
	if (!why && rename(path, final))
		why = "its directory cannot be written";
	if (why) {
		region.header = NULL;
		unlink(path);
	}
	return why;
}

bool ring_recording(void)
{
	return region.header &&
	       atomic_load_explicit(&region.header->recording, memory_order_relaxed);
}

void ring_describe(const char *vm)
{
	if (region.header)
		snprintf(region.header->vm, sizeof(region.header->vm), "%s", vm);
}

void ring_costs(uint32_t pair_ns, const struct inproc_cost *cost)
{
	if (!region.header)
		return;
	region.header->cost = *cost;
	atomic_store_explicit(&region.header->pair_ns, pair_ns, memory_order_release);
}

void ring_costs_more(uint64_t ns)
{
	atomic_fetch_add_explicit(&region.header->more_ns, ns, memory_order_relaxed);
}

static uint64_t asking_ns(void)
{
	static _Atomic uint64_t least; /* 0: not known */
	uint64_t ns = least;

	for (unsigned i = 0; !least && i < 16; i++) {
		uint64_t begin = ring_cpu_ns(), took = ring_cpu_ns() - begin;

		ns = !ns || took < ns ? took : ns;
	}
	if (!least)
		least = ns;
	return ns;
}

void ring_costs_since(uint64_t begin_ns, uint32_t times)
{
	uint64_t ns = ring_cpu_ns() - begin_ns, asking = asking_ns();

	ring_costs_more(ns > asking ? (ns - asking) * times : 0);
}

void ring_unnamed(void)
{
	region.header->unnamed++;
}

/* ---- threads ---- */

/* Allocates the ring's memory, and maps it at once if the kernel can (5.14). Otherwise one call in
 * 128 takes a microsecond longer to map the next page. */
static bool back(uint32_t i)
{
	uint64_t n = region.header->ring_bytes, begin = ring_cpu_ns();

	if (region.backed[i])
		return true;
	if (posix_fallocate(region.fd, (off_t)(region.header->rings_at + i * n), (off_t)n))
		return false;
	region.backed[i] = 1;
	madvise(region.rings + i * n, n, MADV_POPULATE_WRITE);
	ring_costs_since(begin, 1);
	return true;
}

/* Takes the slot if it is free. Its memory is allocated first, so that a failure changes nothing.
 */
static bool claim(struct ring_thread *t, uint32_t i)
{
	struct inproc_slot *s = &region.slots[i];
	uint32_t is_free = INPROC_FREE;

	if (s->state != INPROC_FREE || !back(i) ||
	    !atomic_compare_exchange_strong(&s->state, &is_free, INPROC_TAKEN))
		return false;
	t->slot = s;
	t->size = region.header->ring_bytes / sizeof(struct inproc_record);
	t->records = (struct inproc_record *)(region.rings + i * region.header->ring_bytes);
	t->head = s->head;
	t->tail = s->tail;
	s->tid = (uint32_t)syscall(SYS_gettid);
	prctl(PR_GET_NAME, s->comm);
	atomic_store_explicit(&s->state, INPROC_LIVE, memory_order_release);
	return true;
}

struct ring_thread *ring_thread(void)
{
	struct ring_thread *t = mine;

	if (t || !region.header)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	/* slots that were released are used again before new ones are */
	for (uint32_t i = 0; i < INPROC_SLOTS && !claim(t, i); i++)
		if (region.slots[i].state == INPROC_FREE && !region.backed[i])
			break;
	mine = t;
	pthread_setspecific(region.key, t);
	return t;
}

/* ---- records ---- */

static void write_record(struct ring_thread *t, uint64_t time_ns, uint32_t kind, uint32_t value,
			 uint32_t depth)
{
	t->records[t->head++ % t->size] = (struct inproc_record){
		.time_ns = time_ns, .value = value, .kind = (uint16_t)kind, .depth = (uint16_t)depth
	};
}

static bool has_room(struct ring_thread *t, uint64_t n)
{
	if (t->head - t->tail + n <= t->size)
		return true;
	t->tail = atomic_load_explicit(&t->slot->tail, memory_order_acquire);
	return t->head - t->tail + n <= t->size;
}

void ring_lose(void)
{
	if (region.header)
		region.header->without_ring++;
}

void ring_add(struct ring_thread *t, uint64_t time_ns, uint32_t kind, uint32_t value,
	      uint32_t depth)
{
	if (!t->slot) {
		ring_lose();
		return;
	}
	if (!has_room(t, t->lost ? 2 : 1)) {
		t->lost++;
		atomic_store_explicit(&t->slot->lost, t->slot->lost + 1, memory_order_relaxed);
		return;
	}
	if (t->lost)
		write_record(t, time_ns, INPROC_LOST, t->lost, 0);
	t->lost = 0;
	write_record(t, time_ns, kind, value, depth);
	atomic_store_explicit(&t->slot->head, t->head, memory_order_release);
}

/* ---- names ---- */

static bool back_names(uint64_t end)
{
	uint64_t more;

	if (end <= region.names_backed)
		return true;
	more = (end - region.names_backed + NAMES_STEP - 1) / NAMES_STEP * NAMES_STEP;
	if (region.names_backed + more > region.header->names_bytes ||
	    posix_fallocate(region.fd, (off_t)(region.header->names_at + region.names_backed),
			    (off_t)more))
		return false;
	region.names_backed += more;
	return true;
}

bool ring_name(uint32_t id, uint32_t kind, uint32_t line, const char *name, const char *signature,
	       const char *source)
{
	const char *strings[STRINGS] = { name, signature, source };
	struct inproc_name row = { .id = id, .kind = kind, .line = line };
	uint64_t at = region.header->names_end, bytes = sizeof(row);
	char *p;

	for (unsigned i = 0; i < STRINGS; i++)
		bytes += strlen(strings[i]) + 1;
	bytes = (bytes + 7) & ~7ull;
	if (!back_names(at + bytes))
		return false;
	row.bytes = (uint32_t)bytes;
	p = mempcpy(region.names + at, &row, sizeof(row));
	for (unsigned i = 0; i < STRINGS; i++)
		p = mempcpy(p, strings[i], strlen(strings[i]) + 1);
	atomic_store_explicit(&region.header->names_end, at + bytes, memory_order_release);
	return true;
}
