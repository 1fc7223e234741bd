// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/guarded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct guarded *volatile all[GUARDED_MAX];
static struct sigaction before;

static struct guarded *mapping_at(uintptr_t address)
{
	for (size_t i = 0; i < GUARDED_MAX; i++) {
		struct guarded *g = all[i];
		uintptr_t start = g ? (uintptr_t)g->start : 0;

		if (g && address >= start && address < start + g->bytes)
			return g;
	}
	return NULL;
}

/* Replaces everything from the missing page on with zeros, as files are cut at their end. */
static bool replace_missing(struct guarded *g, uintptr_t address)
{
	uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	size_t rest = (uintptr_t)g->start + g->bytes - page;

	g->torn = 1;
	return mmap((void *)page, rest, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	struct guarded *g = mapping_at((uintptr_t)info->si_addr);
	int saved = errno;

	(void)context;
	if (!g || !replace_missing(g, (uintptr_t)info->si_addr)) {
		sigaction(number, &before, NULL); /* the access happens again, and ends ispot */
		return;
	}
	errno = saved;
}

static int install_handler(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO }, is;

	if (sigaction(SIGBUS, NULL, &is))
		return -errno;
	if (is.sa_flags & SA_SIGINFO && is.sa_sigaction == on_bus_error)
		return 0;
	before = is;
	return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

int guarded_map(struct guarded *g, int fd, size_t bytes)
{
	size_t at = 0;
	int ret = install_handler();
	void *p;

	*g = (struct guarded){ 0 };
	while (at < GUARDED_MAX && all[at])
		at++;
	if (at == GUARDED_MAX)
		return -EMFILE;
	if (ret)
		return ret;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	g->bytes = bytes;
	g->start = p;
	all[at] = g;
	return 0;
}

void guarded_unmap(struct guarded *g)
{
	if (!g->start)
		return;
	munmap(g->start, g->bytes);
	for (size_t i = 0; i < GUARDED_MAX; i++)
		if (all[i] == g)
			all[i] = NULL;
	*g = (struct guarded){ 0 };
}
