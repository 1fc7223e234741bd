/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* As a shell reads them back. */
static void quotes_for_a_shell(void **state)
{
	static const struct {
		const char *word, *quoted;
	} rows[] = {
		{ "ispot.data", "ispot.data" },
		{ "a=b%c@d:/e,f-g_h+1", "a=b%c@d:/e,f-g_h+1" },
		{ "", "''" },
		{ "two words", "'two words'" },
		{ "it's", "'it'\\''s'" },
		{ "$HOME", "'$HOME'" },
		{ "a\nb", "'a\nb'" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = { 0 };

		text_shell_word(&t, rows[i].word);
		assert_string_equal(t.s, rows[i].quoted);
		text_release(&t);
	}
}

/* A line of anybody's has words, whatever a shell would make of it. */
static void quotes_lines_for_a_shell(void **state)
{
	static const struct {
		const char *line, *quoted;
		size_t most;
	} rows[] = {
		{ "./app -n 3", "./app -n 3", 9 },
		{ "", "", 9 },
		{ "  ./app   -n  ", "./app -n", 9 },
		{ "sh -c 'echo it'\\''s'", "sh -c 'echo it'\\''s'", 9 },
		{ "app ''", "app ''", 9 },
		{ "app; rm x", "'app;' rm x", 9 },
		{ "app $(rm x) `rm x` >x &", "app '$(rm' 'x)' '`rm' 'x`' '>x' '&'", 9 },
		{ "app\nrm x", "'app\nrm' x", 9 },
		{ "app\trm", "'app\trm'", 9 },
		{ "app 'half way", "app 'half way'", 9 },
		{ "app back\\", "app 'back\\'", 9 },
		{ "'a b' c d", "'a b'", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = { 0 };

		text_add(&t, "");
		text_shell_words(&t, rows[i].line, rows[i].most);
		assert_string_equal(t.s, rows[i].quoted);
		text_release(&t);
	}
}

static void grows(void **state)
{
	struct text t = { 0 };

	for (int i = 0; i < 1000; i++)
		text_printf(&t, "%d,", i);
	text_addn(&t, "abc", 2);
	text_add(&t, "");
	assert_int_equal(t.n, strlen(t.s));
	assert_string_equal(t.s + t.n - 6, "999,ab");
	text_release(&t);
	text_release(&t);
	text_add(&t, "");
	assert_string_equal(t.s, "");
	text_release(&t);
}

struct number {
	uint64_t value;
	const char *text;
};

static void check_numbers(char *(*print)(char *, uint64_t), const struct number *rows, size_t n)
{
	char buf[TEXT_NUMBER];

	for (size_t i = 0; i < n; i++)
		assert_string_equal(print(buf, rows[i].value), rows[i].text);
}

#define CHECK_NUMBERS(print, rows) check_numbers(print, rows, sizeof(rows) / sizeof(*(rows)))

static void prints_times(void **state)
{
	static const struct number rows[] = {
		{ 0, "0ns" },
		{ 61, "61ns" },
		{ 999, "999ns" },
		{ 1000, "1us" },
		{ 4200, "4.2us" },
		{ 9949, "9.9us" },
		{ 9951, "10us" },
		{ 41000, "41us" },
		{ 999499, "999us" },
		{ 999600, "1ms" },
		{ 2900000, "2.9ms" },
		{ 12300000000, "12.3s" },
		{ 999940000000, "999.9s" },
		{ 999960000000, "1000s" },
		{ 3600ull * 3 * 1000000000, "3h" },
		{ UINT64_MAX, "5124096h" },
	};

	CHECK_NUMBERS(text_time, rows);
}

static void prints_counts_and_sizes(void **state)
{
	static const struct number counts[] = {
		{ 0, "0" },	     { 9999, "9999" },	     { 10000, "10k" },
		{ 310000, "310k" },  { 999499, "999k" },     { 999500, "1M" },
		{ 3100000, "3.1M" }, { 4900000000, "4.9G" }, { UINT64_MAX, "18446744T" },
	};
	static const struct number sizes[] = {
		{ 0, "0B" },
		{ 1023, "1023B" },
		{ 4096, "4.0K" },
		{ 16 << 20, "16M" },
		{ 1023 * 1024 + 600, "1.0M" },
		{ UINT64_MAX, "16777216T" },
	};

	CHECK_NUMBERS(text_count, counts);
	CHECK_NUMBERS(text_bytes, sizes);
}

static void keeps_control_sequences_away(void **state)
{
	static const char *const rows[][2] = {
		{ "plain <T&>", "plain <T&>" },
		{ "\033[2Jx", "?[2Jx" },
		{ "a\nb\tc\177", "a?b?c?" },
		{ "\xc2\x9b"
		  "31m",
		  "?31m" },					/* C1: CSI */
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" }, /* valid UTF-8 stays */
		{ "\xc0\xaf\xff\xe2\x82", "?????" },		/* overlong, invalid, cut off */
		{ "\xed\xa0\x80", "???" },			/* a surrogate */
		{ "\xe2\x80\xae"
		  "evil",
		  "?evil" },			/* right-to-left override */
		{ "\xf4\x90\x80\x80", "????" }, /* above U+10FFFF */
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(text_printable(buf, sizeof(buf), rows[i][0]), rows[i][1]);
	assert_string_equal(text_printable(buf, 4, "abc\xc3\xbc"), "abc");
	assert_string_equal(text_printable(buf, 5, "abc\xc3\xbc"),
			    "abc"); /* not half a character */
	assert_string_equal(text_printable(buf, 6, "abc\xc3\xbc"), "abc\xc3\xbc");
	assert_string_equal(text_printable(buf, 1, "abc"), "");
}

static void parses_times(void **state)
{
	static const struct number good[] = {
		{ 10000000, "10ms" },
		{ 2000000000, "2s" },
		{ 500000, "500us" },
		{ 3600000000000, "1h" },
		{ 7, "7" },
		{ 1500000000, "1.5s" },
		{ 250, "0.25us" },
		{ 0, "0" },
		{ 90000000000, "1.5m" },
		{ 1, "1ns" },
		{ 9223372036854775807, "9223372036854775807ns" },
	};
	static const char *const bad[] = { "",
					   "s",
					   "-1s",
					   " 1s",
					   "1 s",
					   "1x",
					   "1e3s",
					   "0x1s",
					   "1.s",
					   ".5s",
					   "1ss",
					   "inf",
					   "99999999999999999999y" };
	static const char *const large[] = { "9223372036854775808ns", "9223372037s",
					     "99999999999999999999h" };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(text_parse_time(good[i].text, 1, &ns), 0);
		assert_int_equal(ns, good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(text_parse_time(bad[i], 1, &ns), -EINVAL);
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		assert_int_equal(text_parse_time(large[i], 1, &ns), -ERANGE);
	assert_int_equal(text_parse_time("2.5", 1000000000, &ns), 0);
	assert_int_equal(ns, 2500000000);
}

static void parses_sizes_and_numbers(void **state)
{
	uint64_t v;

	assert_int_equal(text_parse_size("512K", &v), 0);
	assert_int_equal(v, 512 << 10);
	assert_int_equal(text_parse_size("1.5g", &v), 0);
	assert_int_equal(v, 3ull << 29);
	assert_int_equal(text_parse_size("3MiB", &v), 0);
	assert_int_equal(v, 3 << 20);
	assert_int_equal(text_parse_size("17000000T", &v), -ERANGE);
	assert_int_equal(text_parse_size("1KK", &v), -EINVAL);
	assert_int_equal(text_parse_size("", &v), -EINVAL);
	assert_int_equal(text_parse_u64("0xffffffffffffffff", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(text_parse_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(text_parse_u64("18446744073709551616", &v), -ERANGE);
	assert_int_equal(text_parse_u64("0x10000000000000000", &v), -ERANGE);
	assert_int_equal(text_parse_u64("0x", &v), -EINVAL);
	assert_int_equal(text_parse_u64("12a", &v), -EINVAL);
	assert_int_equal(text_parse_u64("99999999999999999999a", &v), -EINVAL);
	assert_int_equal(text_parse_u64("-1", &v), -EINVAL);
	assert_int_equal(text_parse_u64("2e6", &v), -EINVAL);
}

static void parses_counts(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = { { "17", 17 },
		     { "0x1e6", 486 },
		     { "2e6", 2000000 },
		     { "3.45e8", 345000000 },
		     { "1E+3", 1000 },
		     { "1.5e1", 15 },
		     { "0e5", 0 },
		     { "7e0", 7 },
		     { "1.8446744e19", 18446744000000000000u } };
	static const char *const bad[] = { "",	    "e6",  "2e",   "2e+",  "2e-3",
					   "1.5e0", "1.5", "2e6x", "-2e6", " 2e6" };
	static const char *const large[] = { "1e20", "1e99", "1.9e19", "99999999999999999999e0" };
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(text_parse_count(good[i].text, &v), 0);
		assert_true(v == good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(text_parse_count(bad[i], &v), -EINVAL);
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++)
		assert_int_equal(text_parse_count(large[i], &v), -ERANGE);
}

static void counts_nouns(void **state)
{
	char s[TEXT_COUNTED];

	assert_string_equal(text_of_cpu(s, 0.0042), "0.4% of a CPU");
	assert_string_equal(text_of_cpu(s, 1e9), "100000.0% of a CPU");
	assert_string_equal(text_counted(s, 1, "call"), "1 call");
	assert_string_equal(text_counted(s, 0, "call"), "0 calls");
	assert_string_equal(text_counted(s, 310000, "function"), "310k functions");
}

static void shortens_in_the_middle(void **state)
{
	char a[81], b[81];

	assert_string_equal(text_shortened(a, sizeof(a), "short", 12), "short");
	text_shortened(a, sizeof(a), "request_handler_for_reading", 20);
	text_shortened(b, sizeof(b), "request_handler_for_writing", 20);
	assert_string_equal(a, "request_h..r_reading");
	assert_string_not_equal(a, b);
	assert_string_equal(text_shortened(a, sizeof(a), "\033[1mab\xc3\xa4\xc3\xa4xyz", 8),
			    "?[1..xyz");
	assert_string_equal(text_shortened(a, 5, "abcdefgh", 8), "abcd");
	assert_string_equal(
		text_shortened(a, sizeof(a), "lock in app+0x1a421 in app+0xc73f, at x", 32),
		"lock in app, at x");
	assert_string_equal(
		text_shortened(a, sizeof(a), "wait in run in xz+0x55eb in xz+0x37e6", 30),
		"wait in run in xz");
	assert_string_equal(text_shortened(a, sizeof(a), "[wait in xz+0x55eb in lzma+0x7]", 24),
			    "[wait in xz in lzma]");
	assert_string_equal(
		text_shortened(a, sizeof(a), "wait in a+0xb in a+0xb in g in a+0xb", 20),
		"wait in a in g in a");
	assert_string_equal(text_shortened(a, sizeof(a), "f in get in hh in main", 21),
			    "f in .. in hh in main");
	assert_string_equal(text_shortened(a, sizeof(a), "f in get in hh in main", 18),
			    "f in .. in main");
	assert_string_equal(text_shortened(a, sizeof(a), "f in a_long_name in h", 12),
			    "f in .. in h");
}

static void parses_windows(void **state)
{
	uint64_t from = 7, to = 9;

	assert_int_equal(text_parse_window("2-5.5s", &from, &to), 0);
	assert_int_equal(from, 2000000000);
	assert_int_equal(to, 5500000000);
	assert_int_equal(text_parse_window("-7", &from, &to), 0);
	assert_int_equal(from, 2000000000);
	assert_int_equal(to, 7000000000);
	assert_int_equal(text_parse_window("5-2", &from, &to), -EINVAL);
	assert_int_equal(text_parse_window("-", &from, &to), -EINVAL);
	assert_int_equal(text_parse_window("3", &from, &to), -EINVAL);
	assert_int_equal(text_parse_window("a-b", &from, &to), -EINVAL);
}

static void measures_distance(void **state)
{
	char a[600], b[600];

	assert_int_equal(text_distance("mutex_lock", "mutex_lock", 3), 0);
	assert_int_equal(text_distance("mutx_lock", "mutex_lock", 3), 1);
	assert_int_equal(text_distance("mutxe_lock", "mutex_lock", 3), 1); /* a swap is one edit */
	assert_int_equal(text_distance("kitten", "sitting", 5), 3);
	assert_int_equal(text_distance("kitten", "sitting", 2), 3);
	assert_int_equal(text_distance("", "abc", 5), 3);
	assert_int_equal(text_distance("", "abcdef", 2), 3);
	memset(a, 'x', sizeof(a));
	memset(b, 'x', sizeof(b));
	a[599] = b[599] = '\0';
	b[300] = 'y';
	assert_int_equal(text_distance(a, b, 4), 1);
	memset(b, 'z', 599);
	assert_int_equal(text_distance(a, b, 4), 5);
}

static void finds_base_names(void **state)
{
	assert_string_equal(text_base_name("/usr/lib/libc.so.6"), "libc.so.6");
	assert_string_equal(text_base_name("app"), "app");
	assert_string_equal(text_base_name("./app"), "app");
	assert_string_equal(text_base_name("/usr/lib/"), "/usr/lib/");
	assert_string_equal(text_base_name(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(quotes_for_a_shell),
		cmocka_unit_test(quotes_lines_for_a_shell),
		cmocka_unit_test(finds_base_names),
		cmocka_unit_test(prints_times),
		cmocka_unit_test(prints_counts_and_sizes),
		cmocka_unit_test(keeps_control_sequences_away),
		cmocka_unit_test(parses_times),
		cmocka_unit_test(parses_sizes_and_numbers),
		cmocka_unit_test(parses_counts),
		cmocka_unit_test(counts_nouns),
		cmocka_unit_test(shortens_in_the_middle),
		cmocka_unit_test(parses_windows),
		cmocka_unit_test(measures_distance),
	};

	return unit_run(tests);
}
