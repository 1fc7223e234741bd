// SPDX-License-Identifier: GPL-3.0-or-later
/* Trace files that are cut off, damaged, full, of another kind: said, counted, never silent. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "trace/fixture/fixture.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"
#include "trace/write/writer.h"

static char dir[] = "/tmp/ispot-test.XXXXXX";
static char path[64], old_path[80];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/t.data", dir);
	snprintf(old_path, sizeof(old_path), "%s.old", path);
	return 0;
}

static int remove_dir(void **state)
{
	char *command = xasprintf("rm -r %s", dir);
	int ret = system(command);

	free(command);
	return ret;
}

struct bytes {
	uint8_t *p;
	size_t n;
};

static struct bytes slurp(const char *name)
{
	struct stat st;
	FILE *f = fopen(name, "r");
	struct bytes b;

	assert_non_null(f);
	fstat(fileno(f), &st);
	b.n = (size_t)st.st_size;
	b.p = xmalloc(b.n + 1);
	assert_int_equal(fread(b.p, 1, b.n, f), b.n);
	fclose(f);
	return b;
}

static void spill(const char *name, const void *p, size_t n)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

#define N_RECORDS 300

static void put_records(struct trace_writer *w, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		trace_writer_call(w, i & 1, i >> 1 & 1, 1000 + i * 777, 10 + (i & 1), 10,
				  (uint32_t)i % 70, 0x7ffc0000 - i % 5 * 48);
}

/* Two CPUs, some thirty chunks, meta at both ends. */
static struct bytes small_trace(void)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 2, .chunk_bytes = 40 };
	struct trace_writer *w;

	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	trace_writer_meta(w, "{\"kind\":\"session\",\"start_ns\":1000}");
	put_records(w, N_RECORDS);
	trace_writer_meta(w, "{\"kind\":\"end\",\"end_ns\":99}");
	assert_int_equal(trace_writer_close(w, NULL), 0);
	return slurp(path);
}

struct counts {
	uint64_t read, lost, in_headers, hash;
	bool is_damaged;
};

static struct counts count(struct trace_reader *reader)
{
	struct counts c = { .in_headers = trace_reader_records(reader) };
	struct record r;

	while (trace_reader_next(reader, &r)) {
		if (r.kind == REC_LOST) {
			c.lost += r.values[0];
			assert_true(r.values[1] <= r.time_ns);
			continue;
		}
		c.read++;
		c.hash = (c.hash ^ r.time_ns ^ r.sp ^ r.id ^ r.tid ^ r.kind) * 0x100000001b3;
	}
	c.is_damaged = trace_reader_damage(reader) != NULL;
	trace_reader_free(reader);
	return c;
}

static struct counts count_bytes(const struct bytes *b)
{
	struct trace_reader *reader;

	assert_int_equal(trace_reader_open_memory(&reader, b->p, b->n, NULL), 0);
	return count(reader);
}

/* A recorder that was killed: whatever it had written, to the byte. */
static void cut_off_anywhere(void **state)
{
	struct bytes b = small_trace();
	struct counts whole = count_bytes(&b);
	size_t opened = 0;

	assert_int_equal(whole.read, N_RECORDS);
	assert_false(whole.is_damaged);
	for (size_t n = 0; n < b.n; n++) {
		struct trace_reader *reader;
		struct err err = { 0 };
		struct counts c;

		if (trace_reader_open_memory(&reader, b.p, n, &err)) {
			assert_true(n < 64);
			assert_true(err.text[0]);
			continue;
		}
		opened++;
		c = count(reader);
		assert_int_equal(c.read + c.lost, c.in_headers);
		/* Without its table but with the end line a file lacks nothing. */
		assert_true(c.is_damaged || c.read == N_RECORDS);
	}
	assert_true(opened > b.n - 64);
	free(b.p);
}

/* Any byte changed: noticed and counted, or of no consequence. */
static void any_byte_changed(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	struct bytes b = small_trace();
	struct counts whole = count_bytes(&b);

	for (size_t i = 4; i < b.n * sizeof(changes); i++) {
		uint8_t *byte = &b.p[i % b.n], was = *byte;
		struct trace_reader *reader;
		struct counts c;

		*byte ^= changes[i / b.n];
		if (trace_reader_open_memory(&reader, b.p, b.n, NULL)) {
			assert_true(i % b.n < 4);
		} else {
			c = count(reader);
			assert_int_equal(c.read + c.lost, c.in_headers);
			assert_true(c.is_damaged || c.hash == whole.hash);
		}
		*byte = was;
	}
	free(b.p);
}

static void without_the_table(void **state)
{
	struct bytes b = small_trace();
	struct counts with = count_bytes(&b), without;

	b.n -= 9; /* the foot */
	without = count_bytes(&b);
	assert_int_equal(without.hash, with.hash);
	assert_int_equal(without.read, N_RECORDS);
	free(b.p);
}

/* Chunks of a size that is read in several steps when there is no table. */
static void without_the_table_and_large(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1, .chunk_bytes = 600000 };
	struct trace_writer *w;
	struct trace_reader *reader;
	struct counts c;
	struct bytes b;
	uint64_t random = 1;

	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (uint64_t i = 0; i < 400000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		trace_writer_call(w, 0, i & 1, i * 100000 + random % 99999, 10, 10,
				  (uint32_t)(random >> 40) % 70, random >> 20);
	}
	assert_int_equal(trace_writer_close(w, NULL), 0);
	b = slurp(path);
	assert_true(b.n > 3000000);
	spill(path, b.p, b.n - 9);
	free(b.p);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	c = count(reader);
	assert_int_equal(c.read, 400000);
	assert_int_equal(c.lost, 0);
}

/* A chunk that zstd's own tool compressed, without the raw block in front. */
static void compressed_by_others(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	struct trace_writer *w;
	struct trace_reader *reader;
	struct counts c;
	char *command;

	if (system("zstd --version >/dev/null 2>&1"))
		skip();
	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	for (uint64_t i = 0; i < 1000; i++)
		trace_writer_call(w, 0, i & 1, i * 700, 5, 5, i % 100, 0);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	command = xasprintf("cd %s && zstd -q -dc <t.data >raw && zstd -q -f -o t.data raw", dir);
	assert_int_equal(system(command), 0);
	free(command);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	c = count(reader);
	assert_int_equal(c.read, 1000);
}

static void assert_refused(const void *p, size_t n, int code, const char *words)
{
	struct trace_reader *reader;
	struct err err = { 0 };

	spill(path, p, n);
	assert_int_equal(trace_reader_open(&reader, path, &err), code);
	assert_non_null(strstr(err.text, words));
	assert_non_null(strstr(err.text, path));
}

static void other_files(void **state)
{
	struct bytes b = small_trace();
	struct trace_reader *reader;
	struct err err = { 0 };

	assert_refused("", 0, -ENODATA, "empty");
	assert_refused("PERFILE2\x01", 9, -EINVAL, "perf.data");
	assert_refused("\177ELF\2\1\1", 7, -EINVAL, "ELF");
	assert_refused("hello\n", 6, -EINVAL, "text");
	assert_refused("{\"kind\":\"session\"}\n", 19, -EINVAL, "dump --from-text");
	assert_refused("\1\2\3\4\5\6\7\10\0\0", 10, -EINVAL, "not an ispot.data");
	assert_refused(b.p, 20, -EINVAL, "cut off");
	unlink(path);
	assert_int_equal(trace_reader_open(&reader, path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "ispot record"));
	assert_int_equal(trace_reader_open(&reader, dir, &err), -EISDIR);
	free(b.p);
}

static void another_version(void **state)
{
	struct bytes b = small_trace();

	for (size_t i = 0; i + 8 < b.n; i++)
		if (!memcmp(b.p + i, "isct\1", 5))
			b.p[i + 4] = 7;
	assert_refused(b.p, b.n, -EPROTO, "version 7");
	free(b.p);
}

/* ---- the writer's side ---- */

static void largest_size(void **state)
{
	struct trace_writer_options o = {
		.path = path, .n_cpus = 2, .chunk_bytes = 4096, .max_bytes = 100000
	};
	struct trace_writer *w;
	struct trace_reader *reader;
	struct err err = { 0 };
	struct counts c;
	struct stat st;
	uint64_t written;

	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, &err), 0);
	put_records(w, 1000000);
	assert_int_equal(trace_writer_call(w, 0, REC_ENTRY, 1, 1, 1, 1, 1), -EFBIG);
	assert_int_equal(trace_writer_flush(w, &err), -EFBIG);
	assert_non_null(strstr(err.text, "--max-size"));
	assert_int_equal(trace_writer_meta(w, "{\"kind\":\"end\",\"reason\":\"max-size\"}"), 0);
	written = trace_writer_records(w);
	assert_int_equal(trace_writer_close(w, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size <= 100000);
	assert_true(st.st_size > 80000);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_string_equal(trace_reader_meta(reader)->end.reason, "max-size");
	c = count(reader);
	assert_int_equal(c.read, written);
	/* One call more was tried than put_records() put. */
	assert_int_equal(c.read + c.lost, 1000001);
	assert_false(c.is_damaged);
}

static void disk_full(void **state)
{
	struct trace_writer_options o = { .path = "/dev/full", .n_cpus = 1, .chunk_bytes = 100 };
	struct trace_writer *w;
	struct err err = { 0 };

	assert_int_equal(trace_writer_open(&w, &o, &err), 0);
	put_records(w, 1000);
	assert_int_equal(trace_writer_call(w, 0, REC_ENTRY, 1, 1, 1, 1, 1), -ENOSPC);
	assert_int_equal(trace_writer_records(w), 0);
	assert_int_equal(trace_writer_flush(w, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "/dev/full: No space left on device"));
	assert_int_equal(trace_writer_close(w, &err), -ENOSPC);
}

/* In a child: the limit cannot be taken back. Its exit status says what went wrong. */
static int fill_small_disk(void)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 2, .chunk_bytes = 20000 };
	struct rlimit limit = { 50000, 50000 };
	struct trace_writer *w;
	struct err err = { 0 };
	uint64_t written;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (trace_writer_open(&w, &o, &err))
		return 1;
	put_records(w, 1000000);
	if (trace_writer_flush(w, &err) != -EDQUOT || !strstr(err.text, "ulimit -f"))
		return 2;
	trace_writer_meta(w, "{\"kind\":\"end\",\"reason\":\"disk full\"}");
	written = trace_writer_records(w);
	if (written == 0 || trace_writer_close(w, &err) != -EDQUOT)
		return 3;
	spill(old_path, &written, sizeof(written));
	return 0;
}

/* A disk that is full in the middle of a chunk: whole chunks, and an end that says why. */
static void disk_full_halfway(void **state)
{
	struct trace_reader *reader;
	struct bytes written;
	struct counts c;
	int status;
	pid_t pid;

	unlink(path);
	pid = fork();
	if (pid == 0)
		_exit(fill_small_disk());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	written = slurp(old_path);
	assert_int_equal(trace_reader_open(&reader, path, NULL), 0);
	assert_string_equal(trace_reader_meta(reader)->end.reason, "disk full");
	c = count(reader);
	assert_int_equal(c.read, *(uint64_t *)written.p);
	assert_false(c.is_damaged);
	free(written.p);
}

static void old_file_is_kept(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	struct trace_writer *w;
	struct bytes b;

	spill(path, "precious", 8);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	b = slurp(old_path);
	assert_int_equal(b.n, 8);
	assert_memory_equal(b.p, "precious", 8);
	free(b.p);
}

static void links_of_others_are_not_followed(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	struct trace_writer *w;
	struct err err = { 0 };
	char *target = xasprintf("%s/target", dir);
	struct bytes b;

	if (geteuid() != 0) {
		free(target);
		skip();
	}
	spill(target, "untouched", 9);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(lchown(path, 65534, 65534), 0);
	unsetenv("SUDO_UID");
	assert_int_equal(trace_writer_open(&w, &o, &err), -EPERM);
	b = slurp(target);
	assert_int_equal(b.n, 9);
	free(b.p);
	unlink(path);
	free(target);
}

static void sudo_gives_the_file_away(void **state)
{
	struct trace_writer_options o = { .path = path, .n_cpus = 1 };
	struct trace_writer *w;
	struct stat st;

	if (geteuid() != 0)
		skip();
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65533", 1);
	unlink(path);
	assert_int_equal(trace_writer_open(&w, &o, NULL), 0);
	assert_int_equal(trace_writer_close(w, NULL), 0);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65533);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(any_byte_changed),
		cmocka_unit_test(without_the_table),
		cmocka_unit_test(without_the_table_and_large),
		cmocka_unit_test(compressed_by_others),
		cmocka_unit_test(other_files),
		cmocka_unit_test(another_version),
		cmocka_unit_test(largest_size),
		cmocka_unit_test(disk_full),
		cmocka_unit_test(disk_full_halfway),
		cmocka_unit_test(old_file_is_kept),
		cmocka_unit_test(links_of_others_are_not_followed),
		cmocka_unit_test(sudo_gives_the_file_away),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
