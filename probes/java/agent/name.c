// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/java/agent/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probes/java/agent/rewrite.h"

void name_plain(char *buf, size_t n, const struct rewrite_method *m)
{
	snprintf(buf, n, "%.*s.%.*s", (int)m->class_name.n, m->class_name.s, (int)m->name.n,
		 m->name.s);
	for (size_t i = 0; i < m->class_name.n && buf[i]; i++)
		if (buf[i] == '/')
			buf[i] = '.';
}

static const char *primitive(char c)
{
	static const struct {
		char letter;
		const char *name;
	} rows[] = {
		{ 'Z', "boolean" }, { 'B', "byte" }, { 'C', "char" },  { 'S', "short" },
		{ 'I', "int" },	    { 'J', "long" }, { 'F', "float" }, { 'D', "double" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].letter == c)
			return rows[i].name;
	return NULL;
}

/* Writes the simple name of the parameter's type at s. Returns the place after the type, or NULL if
 * it is malformed. */
static const char *add_type(char *buf, size_t n, const char *s, const char *end)
{
	unsigned dimensions = 0;
	const char *name, *p;

	for (; s < end && *s == '['; s++)
		dimensions++;
	name = s < end ? primitive(*s) : NULL;
	if (name) {
		p = s + 1;
		snprintf(buf, n, "%s", name);
	} else {
		p = s < end && *s == 'L' ? memchr(s, ';', (size_t)(end - s)) : NULL;
		if (!p)
			return NULL;
		for (name = p; name > s + 1 && name[-1] != '/';)
			name--;
		snprintf(buf, n, "%.*s", (int)(p - name), name);
		p++;
	}
	for (; dimensions; dimensions--)
		strncat(buf, "[]", n - strlen(buf) - 1);
	return p;
}

void name_full(char *buf, size_t n, const struct rewrite_method *m)
{
	const char *s = m->signature.s + 1, *end = m->signature.s + m->signature.n;
	char type[256];
	bool first = true;

	name_plain(buf, n, m);
	strncat(buf, "(", n - strlen(buf) - 1);
	while (s && s < end && *s != ')') {
		s = add_type(type, sizeof(type), s, end);
		if (s && !first)
			strncat(buf, ",", n - strlen(buf) - 1);
		if (s)
			strncat(buf, type, n - strlen(buf) - 1);
		first = false;
	}
	strncat(buf, ")", n - strlen(buf) - 1);
}

void name_class(char *buf, size_t n, const char *name)
{
	bool is_signature = *name == 'L' && strchr(name, ';');

	snprintf(buf, n, "%s", name + is_signature);
	buf[is_signature ? strcspn(buf, ";") : strlen(buf)] = '\0';
	for (char *p = buf; *p; p++)
		if (*p == '/')
			*p = '.';
}
