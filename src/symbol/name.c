// SPDX-License-Identifier: GPL-3.0-or-later
#include "symbol/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Longer names, and types in types beyond this depth, are not worth their time: they stay. */
#define NAME_BYTES_MAX 4096
#define DEPTH_MAX      8

/* A part of a name: n bytes at s, which do not end with a NUL. */
struct part {
	const char *s;
	size_t n;
};

static struct part from(struct part p, size_t at)
{
	return (struct part){ p.s + at, p.n - at };
}

static struct part between(struct part p, size_t start, size_t end)
{
	return (struct part){ p.s + start, end - start };
}

static bool begins(struct part p, const char *with)
{
	size_t n = strlen(with);

	return p.n >= n && !memcmp(p.s, with, n);
}

static bool is_any_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/*
 * Returns the length of the operator's name at p.s[at], or 0 if none begins there. Its brackets
 * open and close nothing, and a conversion ("operator unsigned int") has spaces.
 */
static size_t operator_length(struct part p, size_t at)
{
	static const char word[] = "operator";
	size_t n = at + strlen(word);

	if (!begins(from(p, at), word) || (at && is_word(p.s[at - 1])) ||
	    (n < p.n && is_word(p.s[n])))
		return 0;
	if (begins(from(p, n), "()"))
		n += 2;
	else if (n < p.n && p.s[n] == ' ')
		while (n < p.n && p.s[n] != '(')
			n++;
	else
		while (n < p.n && is_any_of(p.s[n], "<>=!-+*/%^&|~,[]"))
			n++;
	return n - at;
}

/* Returns 1 for a bracket that opens at p.s[at], -1 for one that closes, or 0. */
static int bracket(struct part p, size_t at)
{
	bool arrow = p.s[at] == '>' && at && p.s[at - 1] == '-';

	return is_any_of(p.s[at], "(<[{") ? 1 : is_any_of(p.s[at], ")>]}") && !arrow ? -1 : 0;
}

/*
 * Returns the place after the bracket that closes all those opened from p.s[at] on, or p.n + 1 if
 * they are not all closed. all: returns the end of p if they are closed there.
 */
static size_t closed_at(struct part p, size_t at, bool all)
{
	long depth = 0;
	size_t op;

	for (; at < p.n && depth >= 0; at++) {
		op = operator_length(p, at);
		at += op ? op - 1 : 0;
		depth += op ? 0 : bracket(p, at);
		if (!depth && !all)
			return at + 1;
	}
	return depth ? p.n + 1 : at;
}

/* Returns the length of the group whose bracket opens at p.s[at], or 0 if nothing closes it. */
static size_t group_length(struct part p, size_t at)
{
	size_t end = closed_at(p, at, false);

	return end <= p.n ? end - at : 0;
}

/* Returns the length of what is one thing at p.s[at]: an operator, a group, or one byte. */
static size_t step(struct part p, size_t at)
{
	size_t n = operator_length(p, at);

	if (!n && is_any_of(p.s[at], "(<[{"))
		n = group_length(p, at);
	return n ? n : 1;
}

/* Returns the first place of `what` in p outside of brackets, or p.n. */
static size_t find_outside(struct part p, const char *what)
{
	size_t at = 0;

	while (at < p.n && !begins(from(p, at), what))
		at += step(p, at);
	return at < p.n ? at : p.n;
}

/*
 * Returns whether a list of parameters opens at p.s[at]. A remark in brackets comes after a space,
 * and a name follows a receiver in brackets, as in Go's "main.(*Server).Serve".
 */
static bool opens_parameters(struct part p, size_t at)
{
	static const char type[] = "decltype";
	size_t end = at + step(p, at);

	return p.s[at] == '(' && at && !is_any_of(p.s[at - 1], " :.") &&
	       !(end < p.n && (is_word(p.s[end]) || p.s[end] == '.')) &&
	       !(at >= strlen(type) && begins(from(p, at - strlen(type)), type));
}

/* Returns where the list of parameters is in p, or p.n. */
static size_t find_parameters(struct part p)
{
	for (size_t at = 0; at < p.n; at += step(p, at))
		if (opens_parameters(p, at))
			return at;
	return p.n;
}

/* Returns where the function's name begins, which is after the type that it returns. Its parameters
 * follow p. */
static size_t behind_type(struct part p)
{
	size_t start = 0;

	for (size_t at = 0; at < p.n; at += step(p, at))
		if (p.s[at] == ' ' && at + 1 < p.n && p.s[at + 1] != '<')
			start = at + 1;
	return start;
}

static void add_name(struct text *out, struct part p, unsigned depth);

/* Rust's "<T as Trait>::f" and "<impl Trait for T>::f" are functions of T. */
static void add_self_type(struct text *out, struct part p, unsigned depth)
{
	static const char impl[] = "impl ", of[] = " for ";
	size_t at = find_outside(p, of);

	if (begins(p, impl) && at < p.n)
		p = from(p, at + strlen(of));
	else if (begins(p, impl))
		p = from(p, strlen(impl));
	else
		p.n = find_outside(p, " as ");
	while (begins(p, "&") || begins(p, "mut "))
		p = from(p, *p.s == '&' ? 1 : strlen("mut "));
	add_name(out, p, depth + 1);
}

/*
 * Appends the group in brackets that is all of p. at_start: nothing of the name is before it;
 * before_path: "::" is behind it.
 */
static void add_group(struct text *out, struct part p, bool at_start, bool before_path,
		      unsigned depth)
{
	bool in_path = out->n >= 2 && !memcmp(out->s + out->n - 2, "::", 2);
	struct part inside = between(p, 1, p.n - 1);

	if (depth > DEPTH_MAX)
		text_addn(out, p.s, p.n);
	else if (*p.s == '<' && before_path && (at_start || (in_path && begins(inside, "impl "))))
		add_self_type(out, inside, depth);
	else if (*p.s == '<' && in_path) /* "f::<u32>" */
		out->s[out->n -= 2] = '\0';
	else if (*p.s == '<' && !at_start)
		text_add(out, "<>");
	else if (!begins(p, "[abi:"))
		text_addn(out, p.s, p.n);
}

/* Appends a name that has no parameters. */
static void add_name(struct text *out, struct part p, unsigned depth)
{
	size_t n;

	for (size_t at = 0; at < p.n; at += n) {
		n = step(p, at);
		if (n > 1 && is_any_of(p.s[at], "<[{("))
			add_group(out, between(p, at, at + n), !at, begins(from(p, at + n), "::"),
				  depth);
		else
			text_addn(out, p.s + at, n);
	}
}

/*
 * Returns the lambda that libstdc++'s first function of a thread runs, which its template's
 * arguments name: "main::{lambda()#1}". n 0: p is another function, or runs no lambda.
 */
static struct part lambda_of_thread(struct part p)
{
	static const char first[] = "std::thread::_State_impl<", run[] = "::_M_run",
			  of[] = "std::tuple<";
	size_t at = 0, n;

	if (!begins(p, first) || !begins(from(p, find_outside(p, run)), run))
		return (struct part){ 0 };
	while (at < p.n && !begins(from(p, at), of))
		at++;
	if (at == p.n)
		return (struct part){ 0 };
	p = from(p, at + strlen(of));
	for (n = 0; n < p.n && !is_any_of(p.s[n], ",>"); n += step(p, n))
		;
	p.n = n;
	at = find_outside(p, "::{lambda");
	return at < n ? p : (struct part){ 0 };
}

/* Appends one function. Something declared in it, such as a lambda, follows its parameters. */
static void add_function(struct text *out, struct part p)
{
	struct part lambda = lambda_of_thread(p);
	size_t end, at;

	p = lambda.n ? lambda : p;
	end = find_parameters(p);
	if (end == p.n) {
		add_name(out, p, 0);
		return;
	}
	add_name(out, between(p, behind_type(between(p, 0, end)), end), 0);
	p = from(p, end + step(p, end));
	for (at = 0; at < p.n && !begins(from(p, at), "::") && p.s[at] != ','; at += step(p, at))
		;
	if (at < p.n && p.s[at] == ',')
		text_addn(out, p.s + at, p.n - at);
	else if (at < p.n)
		add_function(out, from(p, at));
}

static void add_chain(struct text *out, struct part p)
{
	static const char in[] = " in ";
	size_t n = find_outside(p, in);

	while (n < p.n) {
		add_function(out, between(p, 0, n));
		text_add(out, in);
		p = from(p, n + strlen(in));
		n = find_outside(p, in);
	}
	add_function(out, p);
}

void name_add_short(struct text *out, const char *s)
{
	struct part p = { s, strlen(s) };

	if (p.n > NAME_BYTES_MAX || closed_at(p, 0, true) != p.n) {
		text_add(out, s);
		return;
	}
	if (*s != '[' || group_length(p, 0) != p.n) {
		add_chain(out, p);
		return;
	}
	text_add(out, "[");
	add_chain(out, between(p, 1, p.n - 1));
	text_add(out, "]");
}

char *name_brief(char *buf, size_t n, const char *s, size_t columns)
{
	struct text name = { 0 };

	name_add_short(&name, s);
	text_shortened(buf, n, name.n ? name.s : "", columns);
	text_release(&name);
	return buf;
}
