// SPDX-License-Identifier: GPL-3.0-or-later
#ifdef __x86_64__
#include "probes/inject/machine/thisthread.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/inject/machine/blob.h"

#define ARCH_GS 0x1001 /* ARCH_SET_GS */

int thisthread_enter(uint64_t *block, void *table)
{
	(void)table;
	__asm__("mov %%fs:0, %0" : "=r"(block[BLOCK_KEY / 8]));
	return syscall(SYS_arch_prctl, ARCH_GS, block) ? -errno : 0;
}

void thisthread_leave(void)
{
	syscall(SYS_arch_prctl, ARCH_GS, 0);
}

#endif
