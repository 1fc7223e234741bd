/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What placement takes for probeable, kernels must take too: one refused point fails the whole
 * event of an attach. Each row's function is called in a child with a probe on its instruction:
 * the probe fires once a call, and the child lives.
 */
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "probes/kernel/dynevent.h"
#include "probes/kernel/dynevent_session.h"
#include "tests/vm/guest/placement_rows.h"
#include "tests/vm/guest/tap.h"

#define CALLS 7

static uint64_t file_offset(const void *code)
{
	const ElfW(Ehdr) * head;
	const ElfW(Phdr) * segments;
	extern const char __ehdr_start[];
	uintptr_t base = (uintptr_t)__ehdr_start;

	head = (const void *)__ehdr_start;
	segments = (const void *)(__ehdr_start + head->e_phoff);
	for (int i = 0; i < head->e_phnum; i++) {
		uintptr_t start = segments[i].p_vaddr + (head->e_type == ET_DYN ? base : 0);

		if (segments[i].p_type == PT_LOAD && (uintptr_t)code - start < segments[i].p_filesz)
			return (uintptr_t)code - start + segments[i].p_offset;
	}
	return UINT64_MAX;
}

static pid_t start_child(const struct probed_row *row, int *go)
{
	long memory[8] __attribute__((aligned(64))) = { 0 };
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		exit(2);
	pid = fork();
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &c, 1) != 1)
			_exit(3);
		for (int i = 0; i < CALLS; i++)
			row->call(memory);
		_exit(0);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

static void check_row(struct dynevent_session *s, uint32_t i, const char *path)
{
	const struct probed_row *row = &probed_rows[i];
	struct dynevent *ev = dynevent_new(s, POINT_CODE, i);
	struct err err = { 0 };
	uint64_t hits = 0;
	int go, fd, status;
	pid_t pid = start_child(row, &go);

	dynevent_add(ev, path, file_offset(row->probed), i);
	dynevent_create(ev, NULL, NULL, &err);
	fd = dynevent_open(ev, pid, 0, 0, &err);
	if (fd < 0)
		printf("# %s\n", err.text);
	if (write(go, "", 1) != 1)
		kill(pid, SIGKILL);
	close(go);
	waitpid(pid, &status, 0);
	if (fd >= 0 && read(fd, &hits, sizeof(hits)) != sizeof(hits))
		hits = 0;
	ok(fd >= 0 && hits == CALLS && status == 0, "%s: %d hits of %d calls, status %d", row->name,
	   (int)hits, CALLS, status);
	dynevent_delete(ev);
}

int main(void)
{
	struct dynevent_session *s;
	struct err err = { 0 };
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return 2;
	path[n] = '\0';
	if (dynevent_session_open(&s, &err)) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	for (uint32_t i = 0; i < N_PROBED_ROWS; i++)
		check_row(s, i, path);
	dynevent_session_close(s);
	return tap_end();
}
