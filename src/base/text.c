/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void reserve(struct text *t, size_t more)
{
	size_t want = t->n + more + 1;

	if (want <= t->room)
		return;
	t->room = want < 2 * t->room ? 2 * t->room : want < 64 ? 64 : want;
	t->s = xrealloc(t->s, t->room);
}

void text_addn(struct text *t, const char *s, size_t n)
{
	reserve(t, n);
	if (n)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	reserve(t, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void text_release(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

unsigned text_lines(const struct text *t)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->s[i] == '\n';
	return n;
}

void text_shell_quoted(struct text *t, const char *word)
{
	text_add(t, "'");
	for (; *word; word++)
		if (*word == '\'')
			text_add(t, "'\\''");
		else
			text_addn(t, word, 1);
	text_add(t, "'");
}

void text_shell_word(struct text *t, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*word && !word[strspn(word, plain)])
		text_add(t, word);
	else
		text_shell_quoted(t, word);
}

/* Returns what is behind the word at s, which goes into word without its quotes. */
static const char *next_shell_word(const char *s, struct text *word)
{
	bool quoted = false;

	for (; *s && (quoted || *s != ' '); s++) {
		if (*s == '\'')
			quoted = !quoted;
		else if (*s == '\\' && !quoted && s[1])
			text_addn(word, ++s, 1);
		else
			text_addn(word, s, 1);
	}
	return s;
}

void text_shell_words(struct text *t, const char *line, size_t most)
{
	struct text word = { 0 };

	line += strspn(line, " ");
	for (size_t n = 0; *line && n < most; line += strspn(line, " ")) {
		text_add(&word, "");
		line = next_shell_word(line, &word);
		text_add(t, n++ ? " " : "");
		text_shell_word(t, word.s);
		text_release(&word);
	}
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

size_t text_utf8(const char *s, uint32_t *code)
{
	const unsigned char *u = (const unsigned char *)s;
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = u[0] < 0x80 ? 1 : u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	uint32_t c = n == 1 ? u[0] : u[0] & (0xffu >> (n + 1));

	if ((u[0] >= 0x80 && u[0] < 0xc2) || u[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80) /* the NUL at the end as well */
			return 0;
		c = c << 6 | (u[i] & 0x3fu);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*code = c;
	return n;
}

bool text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

char *text_printable(char *buf, size_t n, const char *s)
{
	size_t used = 0, len;
	uint32_t c;

	if (!n)
		return buf;
	while (*s) {
		const char *from = s;

		len = text_utf8(s, &c);
		s += len ? len : 1;
		if (!len || text_is_control(c)) {
			from = "?";
			len = 1;
		}
		if (used + len >= n)
			break;
		memcpy(buf + used, from, len);
		used += len;
	}
	buf[used] = '\0';
	return buf;
}

char *text_printable_new(const char *s)
{
	size_t n = strlen(s) + 1;

	return text_printable(xmalloc(n), n, s);
}

/* The character after the one at s; at the end, s. */
static const char *next_character(const char *s)
{
	if (*s)
		s++;
	while ((*s & 0xc0) == 0x80)
		s++;
	return s;
}

static size_t columns_of(const char *s)
{
	size_t n = 0;

	for (; *s; s = next_character(s))
		n++;
	return n;
}

/* Returns the end of the caller at s in "f in g in h", which is its offset in a file if that has no
 * symbols: "app+0xc73f". *name: the bytes of the file's name; 0: the caller has a name. */
static char *end_of_place(char *s, size_t *name)
{
	char *plus = strstr(s, "+0x"), *next = strstr(s, " in "), *end;

	*name = 0;
	if (!plus || (next && next < plus))
		return next;
	end = plus + 3 + strspn(plus + 3, "0123456789abcdef");
	if (end == next || !*end || *end == ',' || *end == ']')
		*name = (size_t)(plus - s);
	return *name ? end : next;
}

/* Offsets say nothing to a reader: "f in g in app+0x1a2 in app+0xc73f" is "f in g in app". */
static void drop_offsets(char *s)
{
	static const char in[] = " in ";
	char *at = strstr(s, in), *last = NULL, *end;
	size_t name, last_name = 0;

	for (; at; at = strstr(at, in)) {
		end = end_of_place(at + strlen(in), &name);
		if (name && name == last_name &&
		    !memcmp(last + strlen(in), at + strlen(in), name)) {
			memmove(at, end, strlen(end) + 1);
			continue;
		}
		last = at;
		last_name = name;
		at += strlen(in) + name;
		if (name)
			memmove(at, end, strlen(end) + 1);
	}
}

/* Half the name of a caller says nothing. The outermost caller tells one place from others. */
static void drop_callers(char *s, size_t columns)
{
	static const char in[] = " in ", gap[] = "..";
	char *at, *from, *next;

	if (columns_of(s) > columns)
		drop_offsets(s);
	at = strstr(s, in);
	from = at ? at + strlen(in) : NULL;
	for (bool any = false; from && columns_of(s) > columns; any = true) {
		next = strstr(any ? from + strlen(gap) + strlen(in) : from, in);
		if (!next || (size_t)(next - from) < strlen(gap))
			return;
		memcpy(from, gap, strlen(gap));
		memmove(from + strlen(gap), next, strlen(next) + 1);
	}
}

char *text_shortened(char *buf, size_t n, const char *s, size_t columns)
{
	size_t tail = (columns - 2) / 2, head = columns - 2 - tail, have;
	char *safe = text_printable_new(s);
	const char *end = safe, *rest = safe;

	drop_callers(safe, columns);
	have = columns_of(safe);
	for (size_t i = 0; i < head; i++)
		end = next_character(end);
	for (size_t i = 0; i + tail < have; i++)
		rest = next_character(rest);
	if (have <= columns)
		text_printable(buf, n, safe);
	else
		snprintf(buf, n, "%.*s..%s", (int)(end - safe), safe, rest);
	free(safe);
	return buf;
}

/*
 * Computes the edit distances between prefixes of a and b, one row per character of a; before[] is
 * the row two above, for swaps.
 */
static unsigned distance_rows(const char *a, size_t na, const char *b, size_t nb, unsigned max,
			      unsigned *rows)
{
	unsigned *before = rows, *above = rows + nb + 1, *row = rows + 2 * (nb + 1), *spare;

	for (size_t j = 0; j <= nb; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned least = row[0] = (unsigned)i;

		for (size_t j = 1; j <= nb; j++) {
			unsigned d = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < d)
				d = above[j] + 1;
			if (row[j - 1] + 1 < d)
				d = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < d)
				d = before[j - 2] + 1;
			row[j] = d;
			if (d < least)
				least = d;
		}
		if (least > max)
			return max + 1;
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[nb] > max ? max + 1 : above[nb];
}

unsigned text_distance(const char *a, const char *b, unsigned max)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned on_stack[3 * 128], *rows = on_stack, d;

	if (na > nb + max || nb > na + max)
		return max + 1;
	if (nb + 1 > 128)
		rows = xmalloc(3 * (nb + 1) * sizeof(*rows));
	d = distance_rows(a, na, b, nb, max, rows);
	if (rows != on_stack)
		free(rows);
	return d;
}

unsigned text_distance_too_far(size_t letters)
{
	return letters > 9 ? 4 : (unsigned)letters / 3 + 1;
}

bool text_locale_is_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables) && !(value && *value); i++)
		value = getenv(variables[i]);
	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

char *text_share(char *buf, double share)
{
	if (share > 0 && share < 0.0005)
		snprintf(buf, TEXT_NUMBER, "<0.1%%");
	else
		snprintf(buf, TEXT_NUMBER, share >= 0.0995 || share == 0 ? "%.0f%%" : "%.1f%%",
			 100 * share);
	return buf;
}

char *text_multiple(char *buf, double share)
{
	if (!(share >= TEXT_TIMES_LEAST))
		return text_share(buf, share);
	snprintf(buf, TEXT_NUMBER, "%.0fx", share);
	return buf;
}

char *text_longer(char *buf, double change)
{
	if (change + 1 >= TEXT_TIMES_LEAST)
		snprintf(buf, TEXT_NUMBER, "%.0f times as long", change + 1);
	else
		snprintf(buf, TEXT_NUMBER, "%.0f%% %s", 100 * fabs(change),
			 change > 0 ? "more" : "less");
	return buf;
}

/* ---- numbers ---- */

struct unit {
	const char *name;
	double size;
	double until; /* from this value up, in this unit, the next unit is used */
};

static const struct unit time_units[] = {
	{ "ns", 1, 1000 },   { "us", 1e3, 1000 },    { "ms", 1e6, 1000 },
	{ "s", 1e9, 10000 }, { "h", 3600e9, 1e300 },
};
static const struct unit count_units[] = {
	{ "k", 1e3, 1000 },
	{ "M", 1e6, 1000 },
	{ "G", 1e9, 1000 },
	{ "T", 1e12, 1e300 },
};
static const struct unit byte_units[] = {
	{ "B", 1, 1024 },
	{ "K", 1 << 10, 1024 },
	{ "M", 1 << 20, 1024 },
	{ "G", 1 << 30, 1024 },
	{ "T", 1024.0 * (1 << 30), 1e300 },
};

/*
 * Prints v in the unit, with one decimal below tenths_until and none above; ".0" is left out unless
 * keep_zero. Returns false if v is too large for the unit.
 */
static bool print_in(char *buf, const struct unit *u, double v, double tenths_until, bool keep_zero)
{
	double x = v / u->size;
	bool tenths = u->size > 1 && x < tenths_until - 0.05;
	int n;

	if (x >= u->until - (u->size > 1 ? 0.5 : 0))
		return false;
	n = snprintf(buf, TEXT_NUMBER, "%.*f", tenths ? 1 : 0, x);
	if (tenths && !keep_zero && buf[n - 1] == '0')
		n -= 2;
	snprintf(buf + n, TEXT_NUMBER - (size_t)n, "%s", u->name);
	return true;
}

char *text_time(char *buf, uint64_t ns)
{
	for (const struct unit *u = time_units;; u++)
		if (print_in(buf, u, (double)ns, u->size >= 1e9 ? 1000 : 10, false))
			return buf;
}

char *text_count(char *buf, uint64_t count)
{
	if (count < 10000) {
		snprintf(buf, TEXT_NUMBER, "%u", (unsigned)count);
		return buf;
	}
	for (const struct unit *u = count_units;; u++)
		if (print_in(buf, u, (double)count, 10, false))
			return buf;
}

char *text_bytes(char *buf, uint64_t bytes)
{
	for (const struct unit *u = byte_units;; u++)
		if (print_in(buf, u, (double)bytes, 10, true))
			return buf;
}

char *text_overhead(char *buf, double share, bool is_least)
{
	snprintf(buf, TEXT_NUMBER, is_least ? "over %.0f%%" : "%.1f%%", 100 * share);
	return buf;
}

char *text_of_cpu(char *buf, double cpus)
{
	snprintf(buf, TEXT_NUMBER, "%.1f%% of a CPU", 100 * (cpus < 1000 ? cpus : 1000));
	return buf;
}

char *text_counted(char *buf, uint64_t count, const char *noun)
{
	char number[TEXT_NUMBER];

	snprintf(buf, TEXT_COUNTED, "%s %.20s%s", text_count(number, count), noun,
		 count == 1 ? "" : "s");
	return buf;
}

#define FRACTION_DIGITS 9
#define FRACTION_ONE	1000000000ull

struct decimal {
	uint64_t whole;
	bool too_large;
	uint64_t fraction; /* in 1/FRACTION_ONE */
};

/*
 * Parses digits with an optional ".digits"; strtod() would depend on the locale. Returns the end of
 * the number, or NULL if there is none.
 */
static const char *parse_decimal(const char *s, struct decimal *d)
{
	unsigned digits = 0;

	*d = (struct decimal){ 0 };
	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
		    __builtin_add_overflow(d->whole, (uint64_t)(*s - '0'), &d->whole))
			d->too_large = true;
	if (*s != '.')
		return s;
	if (s[1] < '0' || s[1] > '9')
		return NULL;
	for (s++; *s >= '0' && *s <= '9'; s++)
		if (digits++ < FRACTION_DIGITS)
			d->fraction = d->fraction * 10 + (uint64_t)(*s - '0');
	for (; digits < FRACTION_DIGITS; digits++)
		d->fraction *= 10;
	return s;
}

static int scale(const struct decimal *d, uint64_t unit, uint64_t max, uint64_t *value)
{
	unsigned __int128 v = (unsigned __int128)d->whole * unit +
			      (unsigned __int128)d->fraction * unit / FRACTION_ONE;

	if (d->too_large || v > max)
		return -ERANGE;
	*value = (uint64_t)v;
	return 0;
}

struct suffix {
	const char *name;
	uint64_t unit;
};

static const struct suffix time_suffixes[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "µs", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000 },
	{ "min", 60000000000 },
	{ "h", 3600000000000 },
	{ "d", 86400000000000 },
	{ 0 },
};
static const struct suffix size_suffixes[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", 1ull << 10 },
	{ "M", 1ull << 20 },
	{ "G", 1ull << 30 },
	{ "T", 1ull << 40 },
	{ "KB", 1ull << 10 },
	{ "MB", 1ull << 20 },
	{ "GB", 1ull << 30 },
	{ "TB", 1ull << 40 },
	{ "KiB", 1ull << 10 },
	{ "MiB", 1ull << 20 },
	{ "GiB", 1ull << 30 },
	{ "TiB", 1ull << 40 },
	{ 0 },
};

static const struct suffix *find_suffix(const struct suffix *s, const char *name, bool any_case)
{
	for (; s->name; s++)
		if (any_case ? !strcasecmp(s->name, name) : !strcmp(s->name, name))
			return s;
	return NULL;
}

int text_parse_time(const char *s, uint64_t bare_unit_ns, uint64_t *ns)
{
	struct decimal d;
	const char *end = parse_decimal(s, &d);
	const struct suffix *suffix;

	if (!end)
		return -EINVAL;
	if (!*end)
		return scale(&d, bare_unit_ns, INT64_MAX, ns);
	suffix = find_suffix(time_suffixes, end, false);
	return suffix ? scale(&d, suffix->unit, INT64_MAX, ns) : -EINVAL;
}

int text_parse_window(const char *s, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *dash = strchr(s, '-');
	char from[64];
	int ret = 0;

	if (!dash || (dash == s && !dash[1]) || (size_t)(dash - s) >= sizeof(from))
		return -EINVAL;
	snprintf(from, sizeof(from), "%.*s", (int)(dash - s), s);
	if (*from)
		ret = text_parse_time(from, 1000000000, from_ns);
	if (!ret && dash[1])
		ret = text_parse_time(dash + 1, 1000000000, to_ns);
	return ret || *from_ns >= *to_ns ? -EINVAL : 0;
}

int text_parse_size(const char *s, uint64_t *bytes)
{
	struct decimal d;
	const char *end = parse_decimal(s, &d);
	const struct suffix *suffix = end ? find_suffix(size_suffixes, end, true) : NULL;

	return suffix ? scale(&d, suffix->unit, UINT64_MAX, bytes) : -EINVAL;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : 99;
}

int text_parse_u64(const char *s, uint64_t *value)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	uint64_t base = hex ? 16 : 10, v = 0;
	bool too_large = false;

	s += hex ? 2 : 0;
	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		if (digit_of(*s) >= (int)base)
			return -EINVAL;
		too_large |= __builtin_mul_overflow(v, base, &v) ||
			     __builtin_add_overflow(v, (uint64_t)digit_of(*s), &v);
	}
	if (too_large)
		return -ERANGE;
	*value = v;
	return 0;
}

int text_parse_count(const char *s, uint64_t *value)
{
	struct decimal d;
	const char *end = parse_decimal(s, &d);
	unsigned exponent = 0;
	uint64_t unit = 1;

	if (!end || (*end != 'e' && *end != 'E'))
		return text_parse_u64(s, value);
	end += end[1] == '+' ? 2 : 1;
	if (!*end)
		return -EINVAL;
	for (; *end >= '0' && *end <= '9' && exponent < 100; end++)
		exponent = 10 * exponent + (unsigned)(*end - '0');
	if (*end)
		return -EINVAL;
	for (; exponent; exponent--)
		if (__builtin_mul_overflow(unit, 10, &unit))
			return d.whole || d.fraction ? -ERANGE : -EINVAL;
	if ((unsigned __int128)d.fraction * unit % FRACTION_ONE)
		return -EINVAL;
	return scale(&d, unit, UINT64_MAX, value);
}
