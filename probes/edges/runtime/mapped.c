/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "probes/edges/runtime/runtime.h"

struct search {
	uintptr_t pc;
	struct edges_mapped *found;
};

static int on_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *s = ctx;
	char *path = s->found->path;
	ssize_t n = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		s->found->start = info->dlpi_addr + p->p_vaddr;
		s->found->end = s->found->start + p->p_memsz;
		if (p->p_type != PT_LOAD || s->pc < s->found->start || s->pc >= s->found->end)
			continue;
		s->found->bias = info->dlpi_addr;
		if (!*info->dlpi_name)
			n = readlink("/proc/self/exe", path, PATH_MAX - 1);
		path[n > 0 ? n : 0] = '\0';
		if (*info->dlpi_name && !realpath(info->dlpi_name, path))
			*path = '\0';
		return 1;
	}
	return 0;
}

bool edges_mapped_at(uintptr_t pc, struct edges_mapped *found)
{
	struct search s = { pc, found };

	return dl_iterate_phdr(on_module, &s);
}
