/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inspect/support.h"

#include <errno.h>
#include <linux/version.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/tracing.h"
#include "probes/kernel/version.h"
#include "probes/session/session.h"

__attribute__((format(printf, 4, 5))) static void
add(struct support_list *list, const char *name, enum support_state state, const char *fmt, ...)
{
	struct support *s = vec_add(list);
	va_list ap;

	s->name = name;
	s->state = state;
	va_start(ap, fmt);
	vsnprintf(s->detail, sizeof(s->detail), fmt, ap);
	va_end(ap);
}

static bool known_filesystem(const char *name)
{
	FILE *f = fopen("/proc/filesystems", "re");
	bool found = false;
	char word[64];

	while (f && !found && fscanf(f, "%63s", word) == 1)
		found = !strcmp(word, name);
	if (f)
		fclose(f);
	return found;
}

/* Opens the file as recording would. */
static void check_uprobes(struct support_list *list, const char *tracefs)
{
	int fd = tracing_control();

	if (fd >= 0) {
		add(list, "uprobes", SUPPORT_YES, "%s/uprobe_events can be written", tracefs);
		close(fd);
	} else if (fd == -EACCES) {
		add(list, "uprobes", SUPPORT_NO, "probes need root; run with sudo");
	} else if (fd == -ENOENT) {
		add(list, "uprobes", SUPPORT_NO,
		    "there is no %s/uprobe_events; use a kernel with CONFIG_UPROBE_EVENTS",
		    tracefs);
	} else {
		add(list, "uprobes", SUPPORT_NO, "%s/uprobe_events: %s", tracefs, strerror(-fd));
	}
}

static void check_tracefs(struct support_list *list)
{
	const char *path = tracing_directory();

	if (path) {
		add(list, "tracefs", SUPPORT_YES, "mounted at %s", path);
		check_uprobes(list, path);
	} else if (known_filesystem("tracefs")) {
		add(list, "tracefs", geteuid() ? SUPPORT_NO : SUPPORT_NOTE,
		    "not mounted; `ispot record` mounts it at /sys/kernel/tracing as root");
	} else {
		add(list, "tracefs", SUPPORT_NO,
		    "this kernel has none; use one with CONFIG_UPROBE_EVENTS");
	}
}

static void check_bpf(struct support_list *list)
{
	struct bpfprog_options options = { .kernel_version = kernel_version_running() };
	struct bpfprog *b = NULL;
	struct err err = { 0 };

	if (bpfprog_open(&b, &options, &err))
		add(list, "bpf", SUPPORT_NO, "%s", err.text);
	else
		add(list, "bpf", SUPPORT_YES, "the recorder's programs load");
	bpfprog_free(b);
}

static bool is_effective(cap_t caps, cap_value_t number)
{
	cap_flag_value_t value = CAP_CLEAR;

	return caps && !cap_get_flag(caps, number, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

static void check_capabilities(struct support_list *list)
{
	static const struct {
		cap_value_t number;
		const char *name;
	} needed[] = {
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
		{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH" },
	};
	cap_t caps = cap_get_proc();
	char lack[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (!is_effective(caps, needed[i].number))
			n += (size_t)snprintf(lack + n, sizeof(lack) - n, "%s%s", n ? ", " : "",
					      needed[i].name);
	if (n)
		add(list, "capabilities", SUPPORT_NO, "missing: %s; run with sudo", lack);
	else
		add(list, "capabilities", SUPPORT_YES, "all that recording uses");
	cap_free(caps);
}

static void check_lockdown(struct support_list *list)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[80] = "";

	if (f && fgets(line, sizeof(line), f) && !strstr(line, "[none]"))
		add(list, "lockdown", strstr(line, "[confidentiality]") ? SUPPORT_NO : SUPPORT_NOTE,
		    "%.*s; confidentiality forbids probes: boot without it",
		    (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

/*
 * Checks the limit of descriptors. Recording needs one for each CPU, and when attaching a few for
 * each thread.
 */
static void check_descriptors(struct support_list *list)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	add(list, "descriptors", limit.rlim_max < 4096 ? SUPPORT_NOTE : SUPPORT_YES,
	    "%llu now, at most %llu%s", (unsigned long long)limit.rlim_cur,
	    (unsigned long long)limit.rlim_max,
	    limit.rlim_max < 4096 ? "; attaching to many threads needs more: ulimit -Hn" : "");
}

void support_mechanisms(struct support_list *list)
{
	check_capabilities(list);
	check_lockdown(list);
	check_tracefs(list);
	check_bpf(list);
	check_descriptors(list);
}

void support_kernel(struct support_list *list, unsigned kernel_version, bool x86)
{
	unsigned v = kernel_version;

	if (x86 && v >= KERNEL_VERSION(6, 18, 0))
		add(list, "nop5", SUPPORT_YES,
		    "functions that begin with a 5-byte nop take a call instead of a trap");
	else if (x86)
		add(list, "nop5", SUPPORT_NO,
		    "every probe is a trap; from 6.18 on 5-byte nops are cheaper");
	if (v < KERNEL_VERSION(6, 14, 0))
		add(list, "return-probes", SUPPORT_NOTE,
		    "hits take %s machine-wide locks before 6.14: with many CPUs they cost more",
		    v < KERNEL_VERSION(6, 12, 0) ? "all" : "some of the");
	else
		add(list, "return-probes", SUPPORT_YES, "without machine-wide locks");
	if (x86 && v >= KERNEL_VERSION(6, 13, 0))
		add(list, "uprobe-sessions", SUPPORT_YES,
		    "calls that -c skips have one trap, in programs that do not fork");
	if (v >= KERNEL_VERSION(6, 11, 0) && v <= KERNEL_VERSION(6, 13, 2))
		add(list, "seccomp", SUPPORT_NOTE,
		    "kernels 6.11 to 6.13.2 kill sandboxed processes at return probes; update");
	if (v < KERNEL_VERSION(6, 13, 0))
		add(list, "forks", SUPPORT_NOTE,
		    "before 6.13 processes that fork as soon as they are born may lose probes");
}
