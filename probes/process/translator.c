/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/process/translator.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

/* Globs of base names. valgrind executes a program of each tool, such as memcheck-amd64-linux. */
static const char *const translators[] = {
	"valgrind",
	"valgrind.bin",
	"memcheck-*-linux",
	"callgrind-*-linux",
	"helgrind-*-linux",
	"drd-*-linux",
	"massif-*-linux",
	"cachegrind-*-linux",
	"dhat-*-linux",
	"lackey-*-linux",
	"none-*-linux",
	"exp-bbv-*-linux",
	"qemu-*",
	"drrun",
	"pin",
	"box64",
	"FEXInterpreter",
};

/* Programs of qemu that translate no program's code, or that of a whole machine. */
static const char *const others[] = {
	"qemu-system-*",       "qemu-img",	 "qemu-io", "qemu-nbd", "qemu-ga",
	"qemu-storage-daemon", "qemu-pr-helper",
};

static bool is_in(const char *const *globs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return false;
}

#define IS_IN(globs, name) is_in(globs, sizeof(globs) / sizeof(*(globs)), name)

bool translator_is(const char *path)
{
	const char *name = text_base_name(path);

	return IS_IN(translators, name) && !IS_IN(others, name);
}

int translator_refuse(const char *path, struct err *err)
{
	if (!translator_is(path))
		return 0;
	return err_set(err, -ENOTSUP,
		       "%s runs a translation of the program, which probes would end; record the "
		       "program without it",
		       text_base_name(path));
}

int translator_refuse_process(pid_t pid, struct err *err)
{
	char path[64], program[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, program, sizeof(program) - 1);
	if (n < 0)
		return 0;
	program[n] = '\0';
	return translator_refuse(program, err);
}
