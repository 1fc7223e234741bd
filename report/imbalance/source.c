/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/imbalance/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/identity.h"
#include "base/regular.h"
#include "base/text.h"

#define LINE_BYTES   256
#define SOURCE_BYTES (64 << 20) /* limit for a file that anybody may have written */

#define NOBODY 65534

/* Files of /proc have the size 0. */
static bool is_source(const struct stat *st)
{
	return st->st_size > 0 && st->st_size <= SOURCE_BYTES;
}

/*
 * Opens the file. Root opens it as a user who may read only what everybody may, also along the
 * path.
 */
static FILE *open_source(const char *path)
{
	struct identity user;
	bool as_user = !geteuid();
	struct stat st;
	FILE *f;
	int fd;

	if (!identity_of_sudo(&user))
		user = (struct identity){ .uid = NOBODY, .gid = NOBODY };
	if (as_user && identity_files_as(&user))
		return NULL;
	fd = regular_open(path, &st);
	if (as_user)
		identity_files_back();
	if (fd < 0)
		return NULL;
	f = is_source(&st) ? fdopen(fd, "r") : NULL;
	if (!f)
		close(fd);
	return f;
}

void source_read_line(const char *path, uint32_t number, struct text *out)
{
	FILE *f = number ? open_source(path) : NULL;
	char line[LINE_BYTES] = "", printable[LINE_BYTES], *begin = line;
	uint32_t n = 0;

	while (f && n < number && fgets(line, sizeof(line), f))
		n += strchr(line, '\n') != NULL;
	if (f)
		fclose(f);
	if (!f || n != number)
		return;
	while (isspace((unsigned char)*begin))
		begin++;
	begin[strcspn(begin, "\n")] = '\0';
	for (char *tab = begin; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	text_add(out, text_printable(printable, sizeof(printable), begin));
}
