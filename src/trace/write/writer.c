// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/write/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/likely.h"
#include "base/mem.h"
#include "trace/frame/codec.h"
#include "trace/record.h"
#include "trace/varint.h"
#include "trace/write/frame_file.h"
#include "trace/write/live.h"

#define CHUNK_BYTES_DEFAULT (256u << 10)
#define CHUNK_BYTES_LIMIT   (16u << 20)
#define CHUNKS_LEAST	    16 /* of a file that is bounded, before they are compressed */
#define N_COMPRESSORS	    2
#define RECORD_ROOM	    (3 * VARINT_MAX + RECORD_VALUES_MAX * VARINT_MAX + WRITER_BYTES_MAX + 64)

/*
 * The records of one CPU on their way to a chunk: [cpu] those in time order, [n_cpus + cpu] those
 * that came late. Aligned: CPUs may have writers of their own.
 */
struct encoder {
	uint8_t *p, *full; /* next byte; from full on the chunk is written out */
	uint64_t time_ns, sp, thread;
	uint64_t time_first_ns, time_last_ns; /* the latter of all chunks so far */
	uint32_t n_records, n_calls;
	uint64_t calls_written;
	uint64_t calls_dropped, dropped_since_ns, dropped_until_ns;
	uint8_t *body;
} __attribute__((aligned(128)));

struct trace_writer {
	struct encoder *encoders;
	uint32_t n_cpus;
	_Atomic int stopped; /* 0, or why no more records are taken */
	struct {
		pthread_mutex_t lock;
		struct compressor *c;
	} compressors[N_COMPRESSORS];

	struct live *live; /* instead of encoders and file; NULL: none */
	uint64_t live_calls;
	pthread_mutex_t file_lock;
	struct frame_file file;
	uint8_t *bodies;
};

static uint64_t thread_key(uint32_t tid, uint32_t tgid)
{
	return (uint64_t)tgid << 32 | tid;
}

static uint32_t cpu_of(const struct trace_writer *w, const struct encoder *e)
{
	return (uint32_t)(e - w->encoders) % w->n_cpus;
}

static uint16_t kind_of(const struct trace_writer *w, const struct encoder *e)
{
	return e < w->encoders + w->n_cpus ? CHUNK_EVENTS : CHUNK_LATE;
}

/* The encoder of a CPU for a record of that time: what was stamped before others that are already
 * encoded goes beside them, where the reader merges it into its place. */
static inline struct encoder *encoder_of(struct trace_writer *w, uint32_t cpu, uint64_t time_ns)
{
	struct encoder *e = &w->encoders[cpu];

	return unlikely(time_ns < e->time_last_ns) ? e + w->n_cpus : e;
}

static void encoder_restart(struct encoder *e)
{
	e->p = e->body;
	e->time_ns = e->sp = e->thread = 0;
	e->n_records = e->n_calls = 0;
}

/* ---- chunks ---- */

static unsigned lock_compressor(struct trace_writer *w)
{
	for (unsigned i = 0; i < N_COMPRESSORS; i++)
		if (!pthread_mutex_trylock(&w->compressors[i].lock))
			return i;
	pthread_mutex_lock(&w->compressors[0].lock);
	return 0;
}

static int compress_and_write(struct trace_writer *w, struct chunk_header *h, const void *body)
{
	unsigned i = lock_compressor(w);
	const void *frame;
	size_t frame_bytes;
	int ret = compressor_chunk(w->compressors[i].c, h, body, &frame, &frame_bytes);

	if (!ret) {
		pthread_mutex_lock(&w->file_lock);
		ret = frame_file_events(&w->file, frame, frame_bytes, sizeof(*h) + h->body_bytes);
		pthread_mutex_unlock(&w->file_lock);
	}
	pthread_mutex_unlock(&w->compressors[i].lock);
	return ret;
}

/* Counts n calls of the CPU between two times that are dropped, as writing has failed. */
static void drop(struct encoder *e, uint64_t n, uint64_t since_ns, uint64_t until_ns)
{
	if (e->calls_dropped == 0 && n)
		e->dropped_since_ns = since_ns;
	if (until_ns > e->dropped_until_ns)
		e->dropped_until_ns = until_ns;
	e->calls_dropped += n;
}

static __attribute__((noinline, cold)) int write_chunk(struct trace_writer *w, struct encoder *e)
{
	struct chunk_header h = {
		.kind = kind_of(w, e),
		.cpu = cpu_of(w, e),
		.n_records = e->n_records,
		.time_first_ns = e->time_first_ns,
		.time_last_ns = e->time_last_ns,
		.body_bytes = (uint64_t)(e->p - e->body),
	};
	int ret = w->stopped;

	if (e->p == e->body)
		return ret;
	if (!ret)
		ret = compress_and_write(w, &h, e->body);
	if (!ret) {
		e->calls_written += e->n_calls;
	} else {
		w->stopped = ret;
		drop(e, e->n_calls, e->time_first_ns, e->time_last_ns);
	}
	encoder_restart(e);
	return ret;
}

/* ---- records ---- */

static inline void write_thread(struct encoder *e, uint64_t thread)
{
	e->p = varint_put(e->p, (thread & UINT32_MAX) << 2 | REC_THREAD);
	e->p = varint_put(e->p, thread >> 32);
	e->thread = thread;
}

/* Writes a record's thread if it has changed and, in an empty chunk, sets the chunk's start. */
static inline void begin_record(struct encoder *e, uint64_t time_ns, uint64_t thread)
{
	if (unlikely(e->n_records == 0))
		e->time_first_ns = e->time_ns = time_ns;
	if (unlikely(thread != e->thread))
		write_thread(e, thread);
	e->n_records++;
	if (time_ns > e->time_last_ns)
		e->time_last_ns = time_ns;
}

static __attribute__((noinline, cold)) int refuse(struct trace_writer *w, uint32_t cpu,
						  uint64_t time_ns)
{
	if (cpu >= w->n_cpus)
		return -EINVAL;
	drop(&w->encoders[cpu], 1, time_ns, time_ns);
	return w->stopped;
}

/* A writer without a file has no encoders. Its n_cpus is 0, so every record comes here. */
static __attribute__((noinline, cold)) int live_call(struct trace_writer *w, const struct record *r)
{
	int ret = live_write(w->live, r);

	w->live_calls += !ret;
	return ret;
}

int trace_writer_call(struct trace_writer *w, uint32_t cpu, uint32_t kind, uint64_t time_ns,
		      uint32_t tid, uint32_t tgid, uint32_t id, uint64_t sp)
{
	int stopped = atomic_load_explicit(&w->stopped, memory_order_relaxed);
	struct encoder *e;
	uint8_t *p;

	if (unlikely(stopped || cpu >= w->n_cpus))
		return w->live ? live_call(w, &(struct record){ .time_ns = time_ns,
								.kind = kind,
								.cpu = cpu,
								.tid = tid,
								.tgid = tgid,
								.id = id,
								.sp = sp })
			       : refuse(w, cpu, time_ns);
	e = encoder_of(w, cpu, time_ns);
	begin_record(e, time_ns, thread_key(tid, tgid));
	p = varint_put(e->p, (uint64_t)id << 2 | (kind & 3));
	p = varint_put(p, zigzag((int64_t)(time_ns - e->time_ns)));
	/*
	 * Stores the difference in units of 8 bytes: the low three bits of a stack pointer are
	 * always 0.
	 */
	p = varint_put(p, zigzag((int64_t)((sp >> 3) - (e->sp >> 3))));
	e->p = p;
	e->time_ns = time_ns;
	e->sp = sp;
	e->n_calls++;
	return unlikely(p >= e->full) ? write_chunk(w, e) : 0;
}

static uint8_t *write_values(uint8_t *p, const struct record *r)
{
	const struct record_shape *shape = record_shape(r->kind);
	uint32_t n = r->n_values < RECORD_VALUES_MAX ? r->n_values : RECORD_VALUES_MAX;

	for (uint32_t i = 0; i < n; i++)
		p = varint_put(p, i == 0 && shape->zigzag ? zigzag((int64_t)r->values[i])
							  : r->values[i]);
	return p;
}

static void write_extended(struct encoder *e, const struct record *r)
{
	const struct record_shape *shape = record_shape(r->kind);
	uint8_t values[RECORD_VALUES_MAX * VARINT_MAX];
	uint32_t n_bytes = r->n_bytes < WRITER_BYTES_MAX ? r->n_bytes : WRITER_BYTES_MAX;
	size_t n_values = (size_t)(write_values(values, r) - values);

	if (!shape->has_bytes)
		n_bytes = 0;
	begin_record(e, r->time_ns, thread_key(r->tid, r->tgid));
	e->p = varint_put(e->p, (uint64_t)r->kind << 2 | 3);
	e->p = varint_put(e->p, zigzag((int64_t)(r->time_ns - e->time_ns)));
	e->p = varint_put(e->p, n_values + n_bytes);
	e->p = mempcpy(e->p, values, n_values);
	if (n_bytes)
		e->p = mempcpy(e->p, r->bytes, n_bytes);
	e->time_ns = r->time_ns;
}

int trace_writer_record(struct trace_writer *w, const struct record *r)
{
	struct encoder *e;

	if (r->kind == REC_ENTRY || r->kind == REC_EXIT)
		return trace_writer_call(w, r->cpu, r->kind, r->time_ns, r->tid, r->tgid, r->id,
					 r->sp);
	if (w->live)
		return live_write(w->live, r);
	if (w->stopped)
		return w->stopped;
	if (r->cpu >= w->n_cpus || !record_shape(r->kind))
		return -EINVAL;
	e = encoder_of(w, r->cpu, r->time_ns);
	write_extended(e, r);
	return e->p >= e->full ? write_chunk(w, e) : 0;
}

int trace_writer_meta(struct trace_writer *w, const char *line)
{
	size_t n = strlen(line);
	int ret;

	if (n && line[n - 1] == '\n')
		n--;
	if (n == 0 || n >= CHUNK_BODY_MAX || memchr(line, '\n', n))
		return -EINVAL;
	if (w->live) {
		live_write_meta(w->live, line, n);
		return 0;
	}
	pthread_mutex_lock(&w->file_lock);
	ret = frame_file_meta(&w->file, line, n);
	pthread_mutex_unlock(&w->file_lock);
	return ret;
}

/* ---- flush, close ---- */

int trace_writer_flush(struct trace_writer *w, struct err *err)
{
	int ret;

	if (w->live)
		return 0;
	pthread_mutex_lock(&w->file_lock);
	ret = frame_file_flush(&w->file);
	pthread_mutex_unlock(&w->file_lock);
	for (uint32_t i = 0; i < 2 * w->n_cpus; i++) {
		int chunk_ret = write_chunk(w, &w->encoders[i]);

		ret = ret ? ret : chunk_ret;
	}
	return frame_file_explain(&w->file, ret, err);
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->file.out.bytes;
}

uint64_t trace_writer_records(const struct trace_writer *w)
{
	uint64_t n = w->live_calls;

	for (uint32_t i = 0; i < 2 * w->n_cpus; i++)
		n += w->encoders[i].calls_written + w->encoders[i].n_calls;
	return n;
}

static void writer_free(struct trace_writer *w)
{
	for (unsigned i = 0; i < N_COMPRESSORS; i++) {
		compressor_free(w->compressors[i].c);
		pthread_mutex_destroy(&w->compressors[i].lock);
	}
	pthread_mutex_destroy(&w->file_lock);
	frame_file_release(&w->file);
	free(w->bodies);
	free(w->encoders);
	free(w);
}

/* Writes a REC_LOST with the number of dropped records, if there is room for it. */
static void write_dropped(struct trace_writer *w, struct encoder *e)
{
	uint64_t values[] = { e->calls_dropped, e->dropped_since_ns };
	struct chunk_header h = {
		.kind = kind_of(w, e),
		.cpu = cpu_of(w, e),
		.n_records = 1,
		.time_first_ns = e->dropped_until_ns,
		.time_last_ns = e->dropped_until_ns,
	};
	struct record lost = {
		.kind = REC_LOST,
		.cpu = h.cpu,
		.time_ns = e->dropped_until_ns,
		.n_values = 2,
		.values = values,
	};
	const void *frame;
	size_t frame_bytes;

	write_extended(e, &lost);
	h.body_bytes = (uint64_t)(e->p - e->body);
	if (!compressor_chunk(w->compressors[0].c, &h, e->body, &frame, &frame_bytes))
		frame_file_last_events(&w->file, frame, frame_bytes, sizeof(h) + h.body_bytes);
}

int trace_writer_close(struct trace_writer *w, struct err *err)
{
	int ret, close_ret;

	if (!w)
		return 0;
	if (w->live) {
		writer_free(w);
		return 0;
	}
	ret = trace_writer_flush(w, err);
	if (ret == -EFBIG && !w->file.out.failed)
		ret = 0;
	frame_file_end(&w->file);
	for (uint32_t i = 0; i < 2 * w->n_cpus; i++)
		if (w->encoders[i].calls_dropped)
			write_dropped(w, &w->encoders[i]);
	close_ret = frame_file_close(&w->file, ret ? NULL : err);
	writer_free(w);
	return ret ? ret : close_ret;
}

/* ---- open ---- */

static int new_encoders(struct trace_writer *w, uint32_t chunk_bytes)
{
	size_t stride = (chunk_bytes + (size_t)RECORD_ROOM + 127) & ~(size_t)127;

	w->encoders = aligned_alloc(128, 2 * w->n_cpus * sizeof(*w->encoders));
	/* calloc(): pages for CPUs without records and for late records are never touched */
	w->bodies = calloc(2 * w->n_cpus, stride);
	if (!w->encoders || !w->bodies)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * w->n_cpus; i++) {
		struct encoder *e = &w->encoders[i];

		*e = (struct encoder){ .body = w->bodies + i * stride };
		e->full = e->body + chunk_bytes;
		encoder_restart(e);
	}
	return 0;
}

static int new_compressors(struct trace_writer *w, int level, uint32_t chunk_bytes)
{
	for (unsigned i = 0; i < N_COMPRESSORS; i++) {
		w->compressors[i].c = compressor_new(level, chunk_bytes + (size_t)RECORD_ROOM);
		if (!w->compressors[i].c)
			return -ENOMEM;
	}
	return 0;
}

/*
 * When a file reaches max_bytes, the records of whole chunks are lost. So chunks of small files are
 * small.
 */
static uint32_t chunk_bytes_of(const struct trace_writer_options *o)
{
	uint64_t bytes = o->chunk_bytes ? o->chunk_bytes : CHUNK_BYTES_DEFAULT;

	if (o->max_bytes && bytes > o->max_bytes / CHUNKS_LEAST)
		bytes = o->max_bytes / CHUNKS_LEAST;
	return bytes < CHUNK_BYTES_LIMIT ? (uint32_t)bytes : CHUNK_BYTES_LIMIT;
}

int trace_writer_open(struct trace_writer **result, const struct trace_writer_options *o,
		      struct err *err)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));
	uint32_t chunk_bytes = chunk_bytes_of(o);
	int ret;

	w->n_cpus = o->n_cpus ? o->n_cpus : 1;
	w->file.out.fd = -1;
	pthread_mutex_init(&w->file_lock, NULL);
	for (unsigned i = 0; i < N_COMPRESSORS; i++)
		pthread_mutex_init(&w->compressors[i].lock, NULL);
	if (o->live) {
		w->live = o->live;
		w->n_cpus = 0;
		*result = w;
		return 0;
	}
	ret = new_encoders(w, chunk_bytes);
	if (!ret)
		ret = new_compressors(w, o->zstd_level, chunk_bytes);
	if (ret)
		err_set(err, ret,
			"not enough memory for the buffers of %u CPUs; record with a smaller buffer",
			w->n_cpus);
	else
		ret = frame_file_open(&w->file, o->path, o->max_bytes, err);
	if (ret) {
		writer_free(w);
		return ret;
	}
	*result = w;
	return 0;
}
