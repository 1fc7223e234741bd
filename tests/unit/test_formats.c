/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracing data of a perf.data, as the kernel writes it and as nobody should. */
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/formats.h"

#define COMMON                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define PRINT "\nprint fmt: \"a\", REC->a\n"

static void put_number(struct text *t, uint64_t v, size_t bytes)
{
	text_addn(t, (const char *)&v, bytes);
}

static void put_word(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s) + 1);
}

static void put_file(struct text *t, const char *s)
{
	put_number(t, strlen(s), 8);
	text_add(t, s);
}

static void put_start(struct text *t, const char *magic, uint64_t endian, uint64_t word)
{
	text_addn(t, magic, 10);
	put_word(t, "0.6");
	put_number(t, endian, 1);
	put_number(t, word, 1);
	put_number(t, 4096, 4);
	put_word(t, "header_page");
	put_file(t, "any");
	put_word(t, "header_event");
	put_file(t, "");
	put_number(t, 1, 4);
	put_file(t, "ftrace's own");
}

/* One system with so many events. */
static void put_events(struct text *t, const char *system, const char *const *formats, size_t n)
{
	put_start(t, "\027\010\104tracing", 0, 8);
	put_number(t, 1, 4);
	put_word(t, system);
	put_number(t, n, 4);
	for (size_t i = 0; i < n; i++)
		put_file(t, formats[i]);
}

static bool all(void *ctx, uint64_t id)
{
	(void)ctx;
	(void)id;
	return true;
}

static bool seven(void *ctx, uint64_t id)
{
	(void)ctx;
	return id == 7;
}

/* Those of one event of system "probe_x", or NULL. */
static struct formats *formats_of(const char *format)
{
	struct text t = { 0 };
	struct formats *f;

	put_events(&t, "probe_x", &format, 1);
	f = formats_new(t.s, t.n, all, NULL);
	text_release(&t);
	return f;
}

static void fields_have_places(void **state)
{
	const char *format =
		"name: f\nID: 7\nformat:\n" COMMON
		"\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\tfield:u64 size;\toffset:16;\tsize:8;\tsigned:0;\n"
		"\tfield:s32 fd;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:u8 way;\toffset:28;\tsize:1;\tsigned:0;\n"
		"\tfield:u32 all[3];\toffset:32;\tsize:12;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:44;\tsize:4;\tsigned:1;\n" PRINT;
	uint8_t raw[32] = { [16] = 1, [18] = 1, [24] = 0xfe, 0xff, 0xff, 0xff, 200 };
	struct formats *f = formats_of(format);
	const struct tep_event *e = formats_event(f, 7);
	struct format_field fields[8], field;
	uint64_t v = 0;
	char *name;

	assert_non_null(e);
	assert_null(formats_event(f, 8));
	assert_null(formats_event(f, 1ull << 32 | 7));
	name = format_event_name(e);
	assert_string_equal(name, "probe_x:f");
	free(name);
	assert_int_equal(format_numbers(e, fields, 8), 4);
	assert_string_equal(fields[1].name, "size");
	assert_string_equal(fields[1].type, "u64");
	assert_true(format_read(&fields[1], raw, sizeof(raw), &v));
	assert_int_equal(v, 0x10001);
	assert_true(format_find(e, "fd", &field));
	assert_true(format_read(&field, raw, sizeof(raw), &v));
	assert_int_equal((int64_t)v, -2);
	assert_true(format_read(&fields[3], raw, sizeof(raw), &v));
	assert_int_equal(v, 200);
	assert_false(format_read(&fields[3], raw, 28, &v));
	assert_false(format_read(&fields[1], raw, 23, &v));
	assert_true(format_find(e, "common_pid", &field));
	assert_false(format_find(e, "all", &field));
	assert_false(format_find(e, "path", &field));
	assert_false(format_find(e, "nothing", &field));
	formats_free(f);
}

/* Whether libtraceevent got to see the line, between two that are well-formed. */
static bool is_taken(const char *line)
{
	struct format_field fields[4];
	struct text t = { 0 };
	struct formats *f;
	size_t n;

	text_printf(&t, "name: f\nID: 7\nformat:\n" COMMON "%s%s%s" PRINT,
		    "\tfield:int first;\toffset:8;\tsize:4;\tsigned:1;\n", line,
		    "\n\tfield:int last;\toffset:12;\tsize:4;\tsigned:1;\n");
	f = formats_of(t.s);
	n = format_numbers(formats_event(f, 7), fields, 4);
	assert_true(n >= 2);
	assert_string_equal(fields[0].name, "first");
	assert_string_equal(fields[n - 1].name, "last");
	formats_free(f);
	text_release(&t);
	return n == 3;
}

static void only_what_the_kernel_writes_is_read(void **state)
{
#define PLACE ";\toffset:16;\tsize:8;\tsigned:0;"
	static const char *const good[] = { "const char * a", "struct page *a", "u64 a",
					    "long long a" };
	static const char *const bad[] = {
		"a",
		"int",
		" int a",
		"int a ",
		"int  a",
		"7 a",
		"int a[",
		"int a]",
		"int a[1][2]",
		"int a[[1]",
		"int a[1 2]",
		"int a(1)",
		"int __attribute__((user)) a",
		"int a:3",
		"int a\"",
		"int a\x01",
		"int a\\",
		"*a",
		"int *",
	};
	static const char *const bad_lines[] = {
		"\tfield:int a;\toffset:16;\tsize:8;",
		"\tfield:int a;\toffset:;\tsize:8;\tsigned:0;",
		"\tfield:int a;\toffset:-1;\tsize:8;\tsigned:0;",
		"\tfield:int a;\toffset:16;\tsize:8888888;\tsigned:0;",
		"\tfield:int a;\toffset:16;\tsize:8;\tsigned:0; int b;",
		"\tfield:int a;\toffset:0x10;\tsize:8;\tsigned:0;",
		"\tfields:int a;\toffset:16;\tsize:8;\tsigned:0;",
		"\tfield special:int a;\toffset:16;\tsize:8;\tsigned:0;",
		"\t",
	};
	char line[600];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		snprintf(line, sizeof(line), "\tfield:%s" PLACE, good[i]);
		assert_true(is_taken(line));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(line, sizeof(line), "\tfield:%s" PLACE, bad[i]);
		assert_false(is_taken(line));
	}
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(*bad_lines); i++)
		assert_false(is_taken(bad_lines[i]));
	snprintf(line, sizeof(line), "\tfield:int %0500d" PLACE, 7);
	assert_false(is_taken(line));
}

/* What would send a parser of expressions down its own stack is never parsed. */
static void how_it_is_printed_is_not_read(void **state)
{
	struct text t = { 0 };
	struct format_field field;
	struct formats *f;

	text_add(&t, "name: f\nID: 7\nformat:\n" COMMON
		     "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", ");
	for (unsigned i = 0; i < 1000000; i++)
		text_add(&t, "(");
	f = formats_of(t.s);
	assert_true(format_find(formats_event(f, 7), "a", &field));
	formats_free(f);
	text_release(&t);
}

static void heads_are_checked(void **state)
{
	static const char *const bad[] = {
		"",
		"name: f",
		"name: f\nID: 7",
		"name: \nID: 7\nformat:\n",
		"name: f g\nID: 7\nformat:\n",
		"name: f\nID: x\nformat:\n",
		"name: f\nID: 7 8\nformat:\n",
		"name: f\nID: 77777777777777777777\nformat:\n",
		"name: f\nID: 7\nformats:\n",
		"ID: 7\nname: f\nformat:\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct formats *f = formats_of(bad[i]);

		assert_non_null(f);
		assert_null(formats_event(f, 7));
		formats_free(f);
	}
}

static void only_the_wanted_and_each_once(void **state)
{
	static const char *const formats[] = {
		"name: e\nID: 6\nformat:\n" COMMON PRINT,
		"name: f\nID: 7\nformat:\n" COMMON
		"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n" PRINT,
		"name: g\nID: 7\nformat:\n" COMMON
		"\tfield:int b;\toffset:8;\tsize:4;\tsigned:1;\n" PRINT,
	};
	struct format_field field;
	struct text t = { 0 };
	struct formats *f;

	put_events(&t, "probe_x", formats, 3);
	f = formats_new(t.s, t.n, seven, NULL);
	assert_null(formats_event(f, 6));
	assert_true(format_find(formats_event(f, 7), "a", &field));
	assert_false(format_find(formats_event(f, 7), "b", &field));
	formats_free(f);
	text_release(&t);
}

/* Of another machine, or of nothing: none; cut off anywhere: what is whole before that. */
static void starts_and_ends(void **state)
{
	const char *format = "name: f\nID: 7\nformat:\n" COMMON
			     "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n" PRINT;
	struct text t = { 0 };
	struct formats *f;

	put_start(&t, "\027\010\104trading", 0, 8);
	assert_null(formats_new(t.s, t.n, all, NULL));
	t.n = 0;
	put_start(&t, "\027\010\104tracing", 1, 8);
	assert_null(formats_new(t.s, t.n, all, NULL));
	t.n = 0;
	put_start(&t, "\027\010\104tracing", 0, 3);
	assert_null(formats_new(t.s, t.n, all, NULL));
	t.n = 0;
	put_events(&t, "probe_x", &format, 1);
	for (size_t n = 0; n < t.n; n++) {
		char *part = malloc(n + 1); /* a sanitizer sees what is read beyond it */

		memcpy(part, t.s, n);
		f = formats_new(part, n, all, NULL);
		assert_null(formats_event(f, 7));
		formats_free(f);
		free(part);
	}
	t.n = 0;
	put_start(&t, "\027\010\104tracing", 0, 8);
	put_number(&t, UINT32_MAX, 4);
	put_word(&t, "probe_x");
	put_number(&t, UINT32_MAX, 4);
	put_number(&t, UINT64_MAX, 8);
	f = formats_new(t.s, t.n, all, NULL);
	assert_null(formats_event(f, 7));
	formats_free(f);
	text_release(&t);
}

/* Many events, and more data than any kernel has. */
static void so_many_and_no_more(void **state)
{
	static const char zeros[65536];
	struct text t = { 0 };
	struct formats *f;
	uint64_t n = 0;

	put_start(&t, "\027\010\104tracing", 0, 8);
	put_number(&t, 1, 4);
	put_word(&t, "probe_x");
	put_number(&t, 5000, 4);
	for (unsigned i = 0; i < 5000; i++) {
		struct text format = { 0 };

		text_printf(&format, "name: f\nID: %u\nformat:\n" COMMON PRINT, i);
		put_file(&t, format.s);
		text_release(&format);
	}
	f = formats_new(t.s, t.n, all, NULL);
	for (unsigned i = 0; i < 5000; i++)
		n += formats_event(f, i) != NULL;
	assert_int_equal(n, 4096);
	formats_free(f);
	while (t.n <= FORMATS_BYTES_MAX)
		text_addn(&t, zeros, sizeof(zeros));
	assert_null(formats_new(t.s, t.n, all, NULL));
	text_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_have_places),
		cmocka_unit_test(only_what_the_kernel_writes_is_read),
		cmocka_unit_test(how_it_is_printed_is_not_read),
		cmocka_unit_test(heads_are_checked),
		cmocka_unit_test(only_the_wanted_and_each_once),
		cmocka_unit_test(starts_and_ends),
		cmocka_unit_test(so_many_and_no_more),
	};

	return unit_run(tests);
}
