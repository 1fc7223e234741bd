/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of -F. */
#include "probes/select/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/select/marker.h"
#include "probes/select/match.h"
#include "probes/select/select.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"

/* Limits the nesting of @FILE in @FILE: a deeper one names itself. */
#define FILES_MAX 8

#define REGEX_COPIES_MAX (1u << 12) /* compiling more takes seconds */

static int usage(struct err *err, int code)
{
	if (err)
		err->exit_status = 2;
	return code;
}

/*
 * Returns the closing slash of "/regex/" at s, or NULL if s is a path. No function's name has a
 * slash.
 */
static const char *regex_end(const char *s)
{
	const char *slash = s[0] == '/' ? strchr(s + 1, '/') : NULL;

	return slash && slash > s + 1 && (slash[1] == '\0' || slash[1] == '@') ? slash : NULL;
}

/* Returns the next single ':' outside of brackets like "[[:alpha:]]" and "[abi:cxx11]". */
static const char *next_separator(const char *s)
{
	int brackets = 0;

	for (; *s; s++) {
		size_t colons = brackets ? 0 : strspn(s, ":");

		brackets += *s == '[';
		brackets -= *s == ']' && brackets > 0;
		if (colons == 1 || colons == 3) /* 3: "libx.so:::name" */
			return s;
		if (colons)
			s += colons - 1;
	}
	return NULL;
}

/*
 * Returns the ':' behind an object, whose path may have colons, too: the last one, or the one
 * before "/regex/". Returns NULL if no object is named.
 */
static const char *find_separator(const char *s)
{
	const char *at, *next;

	if (regex_end(s))
		return NULL;
	for (at = next_separator(s); at && !regex_end(at + 1); at = next) {
		next = next_separator(at + 1);
		if (!next)
			break;
	}
	return at;
}

/* Whether it has an anchor (^ $ \b \< …) elsewhere than at its beginning or end. */
static bool has_inner_anchor(const char *regex)
{
	for (const char *s = regex; *s; s++) {
		if (*s == '\\' && s[1] && strchr("bB<>`'", *++s))
			return true;
		if ((*s == '^' && s > regex && s[-1] != '[') || (*s == '$' && s[1]))
			return true;
	}
	return false;
}

/*
 * Whether compiling the regular expression would take too much time or memory. The C library copies
 * what is repeated, once for + and as often as {} says, so repetitions of repetitions multiply.
 * This counts each repetition as one of the whole expression. If an anchor follows parts that may
 * be empty, the C library copies them for each way to the anchor, too. A repetition of what is a
 * repetition itself ("a**") means nothing more, but makes its closures larger.
 */
static bool is_too_large(const char *regex)
{
	const size_t ways = has_inner_anchor(regex) ? 4 : 1;
	size_t n = strlen(regex), times;
	bool in_braces = false;

	for (const char *s = regex; *s && n <= REGEX_COPIES_MAX; s++) {
		in_braces = *s == '{' || (in_braces && *s != '}');
		if (s > regex && strchr("*+?", *s) && strchr("*+?", s[-1]))
			n *= 2;
		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '+') {
			n *= 2 * ways;
		} else if (*s == '*' || *s == '?') {
			n *= ways;
		} else if (in_braces && strchr("{,", *s)) {
			times = strtoul(s + 1, NULL, 10);
			n *= times < REGEX_COPIES_MAX ? (times + 1) * ways : REGEX_COPIES_MAX + 1;
		}
	}
	return n > REGEX_COPIES_MAX;
}

static int compile_regex(struct pattern *p, struct err *err)
{
	char why[128];
	int ret;

	if (is_too_large(p->name)) {
		p->kind = PATTERN_NAME; /* compiled nothing that has to be freed */
		return usage(err,
			     err_set(err, -EINVAL,
				     "-F '%s': its repetitions multiply; use fewer * + {}, ^ and $",
				     p->typed));
	}
	ret = regcomp(&p->regex, p->name, REG_EXTENDED | REG_NOSUB);

	if (!ret)
		return 0;
	regerror(ret, &p->regex, why, sizeof(why));
	p->kind = PATTERN_NAME; /* compiled nothing that has to be freed */
	return usage(err,
		     err_set(err, -EINVAL, "-F '%s': %s; it is a POSIX extended regular expression",
			     p->typed, why));
}

/* Parses "name[@args]", which follows the object. */
static int parse_name(struct pattern *p, const char *s, struct err *err)
{
	const char *end = regex_end(s), *at;

	if (s[0] == '/' && !end)
		return usage(
			err,
			err_set(err, -EINVAL,
				"-F '%s': the regular expression has no closing '/'; write /REGEX/",
				p->typed));
	at = end ? strchr(end, '@') : strrchr(s, '@');
	if (!strncmp(s, "::", 2))
		s += 2; /* the global namespace, which demangled names do not show */
	p->arguments = xstrdup(at ? at + 1 : "");
	p->name = end ? xstrndup(s + 1, (size_t)(end - s - 1))
		      : xstrndup(s, at ? (size_t)(at - s) : strlen(s));
	if (!*p->name)
		return usage(err,
			     err_set(err, -EINVAL, "-F '%s' names no function; write [OBJECT:]NAME",
				     p->typed));
	if (at && !at[1])
		return usage(err,
			     err_set(err, -EINVAL,
				     "-F '%s': no argument stands behind '@'; name some, as in "
				     "%s@arg1, or leave '@' out",
				     p->typed, p->name));
	if (end) {
		p->kind = PATTERN_REGEX;
		return compile_regex(p, err);
	}
	p->kind = strpbrk(p->name, "*?[") ? PATTERN_GLOB : PATTERN_NAME;
	return 0;
}

static int refuse(const char *word, struct err *err)
{
	size_t n = strlen(word);

	if (n && strspn(word, "0123456789") == n)
		return usage(
			err,
			err_set(err, -EINVAL,
				"-F %s is a sampling frequency in perf, here -F names functions; "
				"leave it out to let ispot choose, or write -F 'parse_*'",
				word));
	return 0;
}

static int parse_pattern(struct patterns *all, const char *word, struct err *err)
{
	const char *rest = word, *separator;
	struct pattern *p;
	int ret = refuse(word, err);

	if (ret)
		return ret;
	p = vec_add(all);
	p->typed = xstrdup(word);
	p->excludes = *rest == '!';
	rest += p->excludes;
	if (!strncmp(rest, "marker:", 7) || !strncmp(rest, "usdt:", 5)) {
		ret = marker_pattern_parse(p, rest, err);
		if (ret || p->of == PATTERN_OF_USDT)
			return ret;
		rest += 7;
	}
	separator = p->of == PATTERN_OF_FUNCTIONS ? find_separator(rest) : NULL;
	if (separator) {
		p->object = xstrndup(rest, (size_t)(separator - rest));
		if (strchr(p->object, ','))
			return usage(err, err_set(err, -EINVAL,
						  "-F '%s': commas do not part patterns; give -F "
						  "once for each",
						  p->typed));
		if (!*p->object)
			return usage(err, err_set(err, -EINVAL,
						  "-F '%s' names no object before ':'; write "
						  "OBJECT:NAME, or NAME alone",
						  p->typed));
		rest = separator + 1;
	}
	ret = parse_name(p, rest, err);
	if (!ret && p->of == PATTERN_OF_FUNCTIONS)
		pattern_prepare(p);
	return ret;
}

static int parse_word(struct patterns *all, const char *word, unsigned depth, struct err *err);

static int parse_text(struct patterns *all, const char *path, FILE *file, unsigned depth,
		      struct err *err)
{
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	for (unsigned number = 1; !ret && getline(&line, &room, file) > 0; number++) {
		char *start = line + strspn(line, " \t\r\n");
		size_t n = strcspn(start, "\r\n");

		while (n && (start[n - 1] == ' ' || start[n - 1] == '\t'))
			n--;
		start[n] = '\0';
		if (!n || *start == '#')
			continue;
		ret = parse_word(all, start, depth + 1, err);
		if (ret)
			err_prefix(err, "%s:%u", path, number);
	}
	free(line);
	return ret;
}

/*
 * Returns the agent's pattern for a method of an earlier recording. Agents match names without
 * parameters, so all methods that share a name are chosen. A synchronized block is no method; its
 * method is rewritten only for its blocks.
 */
static char *java_word(const char *name)
{
	return xasprintf("%s%.*s", strstr(name, " block:") ? "synchronized:" : "",
			 (int)strcspn(name, "("), name);
}

/* Adds the functions of an earlier recording: by their symbols, in objects of the same name. */
static int parse_trace(struct patterns *all, const char *path, struct err *err)
{
	struct trace_reader *reader = NULL;
	const struct meta *meta;
	bool is_java;
	int ret = trace_reader_open(&reader, path, err);

	if (ret)
		return ret;
	meta = trace_reader_meta(reader);
	is_java = !strcmp(meta->session.producer, "java");
	vec_for_each (&meta->functions, const struct meta_function, f) {
		const char *object;
		struct pattern *p;

		if (!f->symbol || !*f->symbol || f->object >= meta->objects.n)
			continue;
		if (f->block && !strcmp(f->block, "marker")) { /* its symbol is a pattern */
			ret = parse_pattern(all, f->symbol, err);
			continue;
		}
		object = meta->objects.data[f->object].path;
		p = vec_add(all);
		p->object = xstrdup(text_base_name(object));
		p->name = xstrdup(f->symbol);
		p->arguments = xstrdup("");
		p->typed = is_java ? java_word(p->name) : xasprintf("%s:%s", p->object, p->name);
		pattern_prepare(p);
	}
	trace_reader_free(reader);
	return ret;
}

static int parse_file(struct patterns *all, const char *path, unsigned depth, struct err *err)
{
	FILE *file = fopen(path, "re");
	size_t n, before = all->n;
	char head[512];
	int ret;

	if (!file)
		return usage(err, err_set(err, -errno, "-F '@%s': %s; name a file of patterns",
					  path, strerror(errno)));
	n = fread(head, 1, sizeof(head), file);
	if (ferror(file)) { /* a directory can be opened, but not read */
		ret = err_set(err, -EIO, "-F '@%s': it cannot be read; name a file of patterns",
			      path);
	} else if (memchr(head, '\0', n)) { /* not a text file */
		ret = parse_trace(all, path, err);
		if (ret)
			ret = err_prefix(err, "-F '@%s'", path);
	} else {
		rewind(file);
		ret = parse_text(all, path, file, depth, err);
	}
	fclose(file);
	if (!ret && all->n == before)
		ret = err_set(err, -EINVAL, "-F '@%s': there is no pattern in it; write one a line",
			      path);
	return ret ? usage(err, ret) : 0;
}

static int parse_word(struct patterns *all, const char *word, unsigned depth, struct err *err)
{
	if (word[0] != '@')
		return parse_pattern(all, word, err);
	if (depth == FILES_MAX)
		return usage(err,
			     err_set(err, -ELOOP,
				     "-F '%s': the file names itself; take that line out", word));
	return parse_file(all, word + 1, depth, err);
}

int patterns_parse(struct patterns **out, const char *const *words, size_t n, struct err *err)
{
	struct patterns *all = xcalloc(1, sizeof(*all));
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		ret = parse_word(all, words[i], 0, err);
	if (ret)
		patterns_free(all);
	else
		*out = all;
	return ret;
}

int pattern_words_expand(struct pattern_words *all, const char *const *words, size_t n,
			 struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct patterns *of_file = NULL;
		int ret;

		if (words[i][0] != '@') {
			*vec_add(all) = xstrdup(words[i]);
			continue;
		}
		ret = patterns_parse(&of_file, &words[i], 1, err);
		if (ret)
			return ret;
		vec_for_each (of_file, const struct pattern, p)
			*vec_add(all) = xstrdup(p->typed);
		patterns_free(of_file);
	}
	return 0;
}

void pattern_words_release(struct pattern_words *all)
{
	vec_for_each (all, char *, word)
		free(*word);
	vec_release(all);
}

void patterns_free(struct patterns *all)
{
	if (!all)
		return;
	vec_for_each (all, struct pattern, p) {
		if (p->kind == PATTERN_REGEX)
			regfree(&p->regex);
		free(p->typed);
		free(p->object);
		free(p->name);
		free(p->arguments);
		free(p->token);
		free(p->end);
		free(p->impossible);
	}
	vec_release(all);
	free(all);
}

size_t patterns_n(const struct patterns *all)
{
	size_t n = 0;

	vec_for_each (all, const struct pattern, p)
		n += !p->excludes;
	return n;
}

bool patterns_only_exclude(const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (*words[i] != '!')
			return false;
	return true;
}

bool patterns_choose_markers(const struct patterns *all)
{
	vec_for_each (all, const struct pattern, p)
		if (!p->excludes && p->of != PATTERN_OF_FUNCTIONS)
			return true;
	return false;
}

bool patterns_all_matched(const struct patterns *all)
{
	vec_for_each (all, const struct pattern, p)
		if (!p->excludes && !p->matched)
			return false;
	return true;
}
