/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text: a growing string, numbers as people read them, and functions that remove control sequences
 * from the target's names (symbols, threads, paths) before a terminal sees them.
 */
#ifndef ISPOT_BASE_TEXT_H
#define ISPOT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *s; /* NUL-terminated once anything was added */
	size_t n, room;
};

/* Writes a line to a file, and releases it. */
typedef void text_write_line(void *ctx, struct text *line);

void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_release(struct text *t);
/* Returns how many line breaks the text has. */
unsigned text_lines(const struct text *t);

/* Numbers into a caller's buffer of TEXT_NUMBER bytes; return buf. */
#define TEXT_NUMBER 24
char *text_time(char *buf, uint64_t ns);     /* "61ns" "41us" "2.9ms" "12.3s" */
char *text_count(char *buf, uint64_t count); /* "310k" "3.1M", exact below 10,000 */
char *text_bytes(char *buf, uint64_t bytes); /* "4.0K" "16M" */

/* "1 call", "310k calls" into buf of TEXT_COUNTED bytes; noun: the singular, up to 20 bytes. */
#define TEXT_COUNTED 48
char *text_counted(char *buf, uint64_t count, const char *noun);

/*
 * "12.3%", "over 900%" into buf of TEXT_NUMBER bytes: the overhead; is_least: it is a lower bound.
 */
char *text_overhead(char *buf, double share, bool is_least);
/* "15%", "3.2%", "<0.1%", "0%" into buf of TEXT_NUMBER bytes: a part of a whole, 0 to 1. */
char *text_share(char *buf, double share);
#define TEXT_TIMES_LEAST 10 /* times from which on a factor says more than percents */
/* The same of what may be many times the whole: "450%", from ten times on "12x". */
char *text_multiple(char *buf, double share);
/* "50% more", "5% less", from ten times on "895 times as long" into buf of TEXT_NUMBER bytes;
 * change: of a time, as a share of what it was. */
char *text_longer(char *buf, double change);
/* "0.4% of a CPU" into buf of TEXT_NUMBER bytes; cpus: up to 1,000. */
char *text_of_cpu(char *buf, double cpus);

/* A copy of s with control characters, escapes and invalid UTF-8 replaced by '?'; at most
 * n - 1 bytes. */
char *text_printable(char *buf, size_t n, const char *s);
/* The same without a limit; the caller frees the copy. */
char *text_printable_new(const char *s);

/*
 * The same in at most `columns` terminal columns (at least 8). A chain of callers ("f in g in h")
 * loses offsets in files without symbols ("app+0x1a2" is "app"), then callers between its ends, the
 * innermost first; a name that is still longer loses its middle, so that names which begin alike
 * still differ. n: the size of buf, 4 bytes a column and 1.
 */
char *text_shortened(char *buf, size_t n, const char *s, size_t columns);

/* Whether the environment says that the user's terminal takes UTF-8. */
bool text_locale_is_utf8(void);

/*
 * Returns the bytes of the character at s, and its code in *code, or 0 if s is not valid UTF-8
 * there.
 */
size_t text_utf8(const char *s, uint32_t *code);
/*
 * Whether code is a control character: C0, DEL, C1, line separators, and marks that change the
 * direction of writing.
 */
bool text_is_control(uint32_t code);

/* "10ms", "2s", "500us", "1h" -> ns; a bare number has the given unit. -EINVAL: not a time;
 * -ERANGE: over 292 years. */
int text_parse_time(const char *s, uint64_t bare_unit_ns, uint64_t *ns);
/* "512K", "1M", "2G" -> bytes. -EINVAL: not a size; -ERANGE: too large. */
int text_parse_size(const char *s, uint64_t *bytes);
/*
 * Parses "A-B", "A-" or "-B": times, bare numbers in seconds, A before B. The time that is left out
 * keeps its value. -EINVAL: anything else.
 */
int text_parse_window(const char *s, uint64_t *from_ns, uint64_t *to_ns);
/* Decimal or 0x…, the whole string. -EINVAL: not a number; -ERANGE: too large. */
int text_parse_u64(const char *s, uint64_t *value);
/* The same, or a whole number with an exponent: 2e6, 3.45e8. */
int text_parse_count(const char *s, uint64_t *value);

/* Returns the part of a path behind its last slash, or the whole path. Points into path. */
const char *text_base_name(const char *path);

/* Appends a word, in quotes if a shell would not take it literally. */
void text_shell_word(struct text *t, const char *word);
/* A word in quotes, also where a shell would take it as it is. */
void text_shell_quoted(struct text *t, const char *word);
/*
 * The words of a line that may come from anybody, each quoted anew, so that a shell takes them for
 * nothing but words; no more than most of them. Single quotes and backslashes are a shell's; all
 * else stands for itself.
 */
void text_shell_words(struct text *t, const char *line, size_t most);

/*
 * Returns the number of edits (insert, delete, replace, swap) that turn a into b, at most max + 1;
 * for "did you mean".
 */
unsigned text_distance(const char *a, const char *b, unsigned max);
/* Returns the number of edits from which on a name of so many letters is another one, not a
 * misspelt one: more than a third of them differ, or four. --html is not --top misspelt, nor frob
 * probe. */
unsigned text_distance_too_far(size_t letters);

#endif
