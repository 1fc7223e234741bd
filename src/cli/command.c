/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/command.h"

#include <stddef.h>
#include <string.h>

const char *const ispot_version = ISPOT_VERSION;

/* In the order of `ispot --help`. */
#define COMMANDS(ROW)  \
	ROW(record)    \
	ROW(report)    \
	ROW(check)     \
	ROW(diff)      \
	ROW(stat)      \
	ROW(imbalance) \
	ROW(outliers)  \
	ROW(fleet)     \
	ROW(export)    \
	ROW(dump)      \
	ROW(probe)     \
	ROW(list)      \
	ROW(bench)

/* Weak: a command without a file in src/cmd is left out. */
#define DECLARE(name) extern const struct command cmd_##name __attribute__((weak));
COMMANDS(DECLARE)

#define ROW_OF(name) &cmd_##name,
static const struct command *const rows[] = { COMMANDS(ROW_OF) };

#define N_ROWS (sizeof(rows) / sizeof(*rows))

const struct command *const *command_all(void)
{
	static const struct command *all[N_ROWS + 1];
	size_t n = 0;

	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i])
			all[n++] = rows[i];
	all[n] = NULL;
	return all;
}

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = command_all(); *c; c++)
		if (!strcmp((*c)->name, name) || ((*c)->alias && !strcmp((*c)->alias, name)))
			return *c;
	return NULL;
}
