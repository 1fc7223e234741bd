/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *status_line(pid_t pid, const char *name)
{
	char path[64], line[512], *found = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			found = xstrdup(line + strlen(name));
	if (f)
		fclose(f);
	return found;
}

bool status_effective(pid_t pid, const char *name, unsigned *id)
{
	char *line = status_line(pid, name);
	bool found = line && sscanf(line, "%*u %u", id) == 1;

	free(line);
	return found;
}

pid_t status_parent(pid_t pid)
{
	char *line = status_line(pid, "PPid:");
	pid_t parent = line ? atoi(line) : 0;

	free(line);
	return parent;
}

pid_t status_inner_pid(pid_t pid)
{
	char *line = status_line(pid, "NSpid:"), *last = line ? strrchr(line, '\t') : NULL;
	pid_t inner = last ? atoi(last) : pid;

	free(line);
	return inner > 0 ? inner : pid;
}
