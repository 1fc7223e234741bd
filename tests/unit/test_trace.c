// SPDX-License-Identifier: GPL-3.0-or-later
/* Writer to file to reader: every record comes back, in time order, whatever the chunking. */
#include "unit.h"
#include "dice.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

static char dir[] = "/tmp/ispot-test.XXXXXX";
static char path[64];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.data", dir);
	return 0;
}

static int remove_dir(void **state)
{
	char *command = xasprintf("rm -r %s", dir);
	int ret = system(command);

	free(command);
	return ret;
}

static uint64_t random_state;

static uint64_t random_u64(void)
{
	return dice(&random_state);
}

/* Of any magnitude: all lengths of varints occur. */
static uint64_t random_magnitude(void)
{
	return random_u64() >> random_u64() % 64;
}

#define N_RECORDS 20000
#define N_CPUS	  7

struct model {
	struct record r;
	uint64_t values[RECORD_VALUES_MAX];
	char bytes[40];
};

static void random_extended(struct model *m)
{
	const struct record_shape *shape;

	do {
		m->r.kind = REC_SWITCH_OUT + (uint32_t)(random_u64() % 20);
		shape = record_shape(m->r.kind);
	} while (!shape);
	m->r.values = m->values;
	m->r.n_values = record_shape_values(shape);
	for (uint32_t i = 0; i < m->r.n_values; i++)
		m->values[i] = random_magnitude();
	if (shape->masked) {
		m->values[0] = random_u64() & 0xffff;
		m->r.n_values = 1 + (uint32_t)__builtin_popcountll(m->values[0]);
		for (uint32_t i = 1; i < m->r.n_values; i++)
			m->values[i] = random_magnitude();
	}
	if (m->r.kind == REC_LOST)
		m->values[1] = UINT64_MAX; /* handed out at its own time */
	if (shape->has_bytes) {
		m->r.n_bytes = (uint32_t)(random_u64() % sizeof(m->bytes));
		m->r.bytes = m->bytes;
		for (uint32_t i = 0; i < m->r.n_bytes; i++)
			m->bytes[i] = (char)random_u64();
	}
}

/* Times never repeat across CPUs, so that there is one right order. */
static struct model *random_records(void)
{
	struct model *models = xcalloc(N_RECORDS, sizeof(*models));
	uint64_t time_ns = 1000, sp = 0x7ffc12345678;

	for (int i = 0; i < N_RECORDS; i++) {
		struct record *r = &models[i].r;

		time_ns += 1 + (random_u64() >> 40 >> random_u64() % 24);
		sp = random_u64() % 10 ? sp + 16 : random_magnitude();
		r->time_ns = time_ns;
		r->cpu = (uint32_t)(random_u64() % N_CPUS);
		r->tid = random_u64() % 4 ? 77 : (uint32_t)random_magnitude();
		r->tgid =
			r->tid == 77 ? 70 + (random_u64() % 16 == 0) : (uint32_t)random_magnitude();
		if (random_u64() % 8) {
			r->kind = random_u64() & 1;
			r->id = random_u64() % 4 ? 3 : (uint32_t)random_magnitude();
			r->sp = sp & ~7ull;
		} else {
			random_extended(&models[i]);
		}
	}
	return models;
}

static void write_all(const struct model *models, uint32_t chunk_bytes)
{
	struct trace_writer_options o = { .path = path,
					  .n_cpus = N_CPUS,
					  .chunk_bytes = chunk_bytes };
	struct trace_writer *w;
	struct err err = { 0 };

	assert_int_equal(trace_writer_open(&w, &o, &err), 0);
	assert_int_equal(trace_writer_meta(w, "{\"kind\":\"session\",\"command\":\"x\"}"), 0);
	for (int i = 0; i < N_RECORDS; i++) {
		assert_int_equal(trace_writer_record(w, &models[i].r), 0);
		if (i % 5000 == 4999)
			assert_int_equal(trace_writer_flush(w, &err), 0);
	}
	assert_int_equal(trace_writer_meta(w, "{\"kind\":\"end\"}"), 0);
	assert_int_equal(trace_writer_close(w, &err), 0);
}

static void assert_same(const struct record *got, const struct record *want)
{
	assert_int_equal(got->time_ns, want->time_ns);
	assert_int_equal(got->kind, want->kind);
	assert_int_equal(got->cpu, want->cpu);
	assert_int_equal(got->tid, want->tid);
	assert_int_equal(got->tgid, want->tgid);
	assert_int_equal(got->id, want->id);
	assert_int_equal(got->sp, want->sp);
	assert_int_equal(got->n_values, want->n_values);
	assert_int_equal(got->n_bytes, want->n_bytes);
	for (uint32_t i = 0; i < want->n_values; i++)
		assert_int_equal(got->values[i], want->values[i]);
	if (want->n_bytes)
		assert_memory_equal(got->bytes, want->bytes, want->n_bytes);
}

static void read_all(const struct model *models)
{
	struct trace_reader *reader;
	struct err err = { 0 };
	struct record r;

	assert_int_equal(trace_reader_open(&reader, path, &err), 0);
	assert_null(trace_reader_damage(reader));
	assert_string_equal(trace_reader_meta(reader)->session.command, "x");
	assert_true(trace_reader_meta(reader)->end.present);
	assert_int_equal(trace_reader_first_ns(reader), models[0].r.time_ns);
	assert_int_equal(trace_reader_last_ns(reader), models[N_RECORDS - 1].r.time_ns);
	assert_int_equal(trace_reader_records(reader), N_RECORDS);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < N_RECORDS; i++) {
			assert_int_equal(trace_reader_next(reader, &r), 1);
			assert_same(&r, &models[i].r);
		}
		assert_int_equal(trace_reader_next(reader, &r), 0);
		assert_int_equal(trace_reader_next(reader, &r), 0);
		assert_null(trace_reader_damage(reader));
		trace_reader_rewind(reader);
	}
	trace_reader_free(reader);
}

static void records_survive_any_chunking(void **state)
{
	const uint32_t chunk_bytes[] = { 1, 100, 4096, 0 };

	for (size_t i = 0; i < sizeof(chunk_bytes) / sizeof(chunk_bytes[0]); i++) {
		struct model *models;

		random_state = 88172645463325252ull + i;
		models = random_records();
		write_all(models, chunk_bytes[i]);
		read_all(models);
		free(models);
	}
}

/* At the same nanosecond the lower CPU first, what was written late last; else it is put in its
 * place. */
static void order_of_ties_and_late_ones(void **state)
{
	static const struct {
		uint32_t cpu;
		uint64_t time_ns;
		uint32_t id;
	} put[] = { { 1, 50, 0 }, { 1, 50, 0 }, { 0, 50, 0 }, { 0, 60, 0 },
		    { 0, 40, 0 }, { 1, 55, 0 }, { 2, 0, 0 },  { 0, 50, 9 } },
	  want[] = { { 2, 0, 0 },  { 0, 40, 0 }, { 0, 50, 0 }, { 1, 50, 0 },
		     { 1, 50, 0 }, { 0, 50, 9 }, { 1, 55, 0 }, { 0, 60, 0 } };
	struct trace_writer_options o = { .path = path, .n_cpus = 3 };
	struct trace_writer *w;
	struct trace_reader *reader;
	struct record r;

	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (int i = 0; i < 8; i++)
		trace_writer_call(w, put[i].cpu, REC_ENTRY, put[i].time_ns, 1, 1, put[i].id, 0);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(trace_reader_next(reader, &r), 1);
		assert_int_equal(r.cpu, want[i].cpu);
		assert_int_equal(r.time_ns, want[i].time_ns);
		assert_int_equal(r.id, want[i].id);
	}
	assert_int_equal(trace_reader_next(reader, &r), 0);
	trace_reader_free(reader);
}

/* A loss comes when it begins, wherever in a chunk its record stands. */
static void losses_come_when_they_begin(void **state)
{
	static const struct {
		uint32_t cpu;
		uint64_t time_ns, since_ns; /* since_ns 0: no loss */
	} put[] = { { 0, 10, 0 }, { 0, 50, 20 }, { 0, 55, 0 },	{ 0, 80, 30 },
		    { 1, 15, 0 }, { 1, 25, 0 },	 { 1, 52, 0 },	{ 1, 60, 0 },
		    { 2, 70, 5 }, { 2, 71, 0 },	 { 2, 90, 99 }, { 2, 95, 0 } },
	  want[] = { { 2, 70, 5 }, { 0, 10, 0 }, { 1, 15, 0 },	{ 0, 50, 20 },
		     { 1, 25, 0 }, { 1, 52, 0 }, { 0, 55, 0 },	{ 0, 80, 30 },
		     { 1, 60, 0 }, { 2, 71, 0 }, { 2, 90, 99 }, { 2, 95, 0 } };
	const uint32_t chunk_bytes[] = { 1, 20, 4096 };

	for (size_t k = 0; k < 3; k++) {
		struct trace_writer_options o = { .path = path,
						  .n_cpus = 3,
						  .chunk_bytes = chunk_bytes[k] };
		struct trace_writer *w;
		struct trace_reader *reader;
		struct record r;

		assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
		for (size_t i = 0; i < 12; i++) {
			const uint64_t values[RECORD_VALUES_MIN] = { 7, put[i].since_ns };

			r = (struct record){ .kind = put[i].since_ns ? REC_LOST : REC_ENTRY,
					     .cpu = put[i].cpu,
					     .time_ns = put[i].time_ns,
					     .n_values = 2,
					     .values = values };
			assert_int_equal(trace_writer_record(w, &r), 0);
		}
		assert_int_equal(trace_writer_close(w, NULL), 0);
		assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
		for (size_t i = 0; i < 12; i++) {
			assert_int_equal(trace_reader_next(reader, &r), 1);
			assert_int_equal(r.cpu, want[i].cpu);
			assert_int_equal(r.time_ns, want[i].time_ns);
			assert_int_equal(r.kind, want[i].since_ns ? REC_LOST : REC_ENTRY);
			if (want[i].since_ns)
				assert_int_equal(r.values[1], want[i].since_ns);
		}
		assert_int_equal(trace_reader_next(reader, &r), 0);
		trace_reader_free(reader);
	}
}

/*
 * What a preempted thread does: stamps, is off the CPU while others write, many chunks long, and
 * writes then. The reader sees every record in the order of the stamps.
 */
static void late_records_keep_their_order(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1, .chunk_bytes = 512 };
	uint64_t time = 1000, held = 0, last = 0, n = 0, late = 0;
	struct trace_reader *reader;
	struct trace_writer *w;
	struct record r;

	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		trace_writer_call(w, 0, REC_ENTRY, time += 7, 1, 1, 0, 0x7000);
		if (i % 797 == 0)
			held = ++time;
		if (i % 797 == 600) {
			trace_writer_call(w, 0, REC_EXIT, held, 2, 1, 1, 0x8000);
			late++;
		}
		if (i % 1000 == 0)
			assert_int_equal(trace_writer_flush(w, NULL), 0);
	}
	assert_int_equal(trace_writer_records(w), 20000 + late);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	for (; trace_reader_next(reader, &r) == 1; n++) {
		assert_true(r.time_ns >= last);
		assert_int_equal(r.tid, r.kind == REC_ENTRY ? 1 : 2);
		last = r.time_ns;
	}
	assert_int_equal(late, 25);
	assert_int_equal(n, 20000 + late);
	trace_reader_free(reader);
}

/* The file is a row of zstd frames: zstd's own tool reads it, and the content begins as ours. */
static void zstd_reads_the_file(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	struct trace_writer *w;
	char *command, magic[5] = "";
	FILE *out;

	if (system("zstd --version >/dev/null 2>&1"))
		skip();
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (uint64_t i = 0; i < 200000; i++)
		trace_writer_call(w, 0, i & 1, i * 700 + i % 13, 5, 5, i % 100,
				  0x7fff0000 + i % 5 * 16);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	command = xasprintf("zstd -q -t <%s && zstd -q -dc <%s", path, path);
	out = popen(command, "r");
	assert_int_equal(fread(magic, 1, 4, out), 4);
	assert_string_equal(magic, "isct");
	while (fread(magic, 1, 4, out) == 4)
		;
	assert_int_equal(pclose(out), 0);
	free(command);
}

/* Threads of their own CPUs, as a recorder with a drain thread per CPU has them. */
#define THREADS 4
#define PER_CPU 100000

struct putter {
	struct trace_writer *w;
	uint32_t cpu;
	pthread_t thread;
};

static void *put_on_cpu(void *arg)
{
	const struct putter *p = arg;

	for (uint64_t i = 0; i < PER_CPU; i++)
		trace_writer_call(p->w, p->cpu, i & 1, i * 10 + p->cpu, p->cpu + 1, 1, 3, i * 8);
	return NULL;
}

static void cpus_are_written_by_threads(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = THREADS, .chunk_bytes = 3000 };
	struct putter putters[THREADS];
	struct trace_reader *reader;
	struct record r;
	uint64_t n = 0;

	assert_int_equal(trace_writer_open(&putters[0].w, &o, NULL), 0);
	for (uint32_t cpu = 0; cpu < THREADS; cpu++) {
		putters[cpu] = (struct putter){ .w = putters[0].w, .cpu = cpu };
		assert_int_equal(
			pthread_create(&putters[cpu].thread, NULL, put_on_cpu, &putters[cpu]), 0);
	}
	for (uint32_t cpu = 0; cpu < THREADS; cpu++)
		pthread_join(putters[cpu].thread, NULL);
	assert_int_equal(trace_writer_records(putters[0].w), THREADS * PER_CPU);
	assert_int_equal(trace_writer_close(putters[0].w, NULL), 0);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	for (; trace_reader_next(reader, &r); n++)
		assert_true(r.time_ns == n / THREADS * 10 + n % THREADS && r.cpu == n % THREADS &&
			    r.sp == n / THREADS * 8);
	assert_int_equal(n, THREADS * PER_CPU);
	trace_reader_free(reader);
}

/* A sanitizer's malloc cannot be replaced. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OWN_MALLOC
/* Every allocation of this program comes through here. */
void *__libc_malloc(size_t n);
static _Atomic uint64_t n_allocations;
void *malloc(size_t n)
{
	n_allocations++;
	return __libc_malloc(n);
}

/* The record loop runs while memory may be short, and while the target waits for its CPU. */
static void putting_records_allocates_nothing(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 2 };
	struct record comm = { .kind = REC_COMM, .cpu = 1, .bytes = "x", .n_bytes = 1 };
	struct trace_writer *w;
	uint64_t before;

	if (getenv("UNDER_VALGRIND"))
		skip(); /* whose own malloc takes this one's place */
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	before = n_allocations;
	assert_true(before > 0);
	for (uint64_t i = 0; i < 2000000; i++) {
		trace_writer_call(w, i & 1, i >> 1 & 1, i * 700 + i % 13, 5, 5, i % 100,
				  i % 7 * 16);
		if (i % 100000 == 0) {
			assert_int_equal(trace_writer_record(w, &comm), 0);
			assert_int_equal(trace_writer_flush(w, NULL), 0);
		}
	}
	assert_int_equal(n_allocations, before);
	assert_int_equal(trace_writer_close(w, NULL), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_survive_any_chunking),
		cmocka_unit_test(order_of_ties_and_late_ones),
		cmocka_unit_test(losses_come_when_they_begin),
		cmocka_unit_test(late_records_keep_their_order),
		cmocka_unit_test(zstd_reads_the_file),
		cmocka_unit_test(cpus_are_written_by_threads),
#ifdef OWN_MALLOC
		cmocka_unit_test(putting_records_allocates_nothing),
#endif
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
