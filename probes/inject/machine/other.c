// SPDX-License-Identifier: GPL-3.0-or-later
/* Other processors: nothing is patched there, but recordings are read. As there is no blob, none of
 * the other functions is called. */
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <errno.h>

#include "probes/inject/machine/blob.h"
#include "probes/inject/machine/registers.h"
#include "probes/inject/machine/thisthread.h"

struct blob blob_get(void)
{
	return (struct blob){ 0 };
}

uint64_t blob_table_bytes(void)
{
	return 0;
}

int thisthread_enter(uint64_t *block, void *table)
{
	(void)block, (void)table;
	return -ENOTSUP;
}

void thisthread_leave(void)
{
}

int registers_read(pid_t tid, struct registers *r)
{
	(void)tid, (void)r;
	return -ENOTSUP;
}

int registers_write(pid_t tid, const struct registers *r)
{
	(void)tid, (void)r;
	return -ENOTSUP;
}

uint64_t registers_ip(const struct registers *r)
{
	return r->words[0];
}

uint64_t registers_sp(const struct registers *r)
{
	return r->words[0];
}

bool registers_can_go(pid_t tid, const struct registers *r)
{
	(void)tid, (void)r;
	return false;
}

void registers_restart(struct registers *r)
{
	(void)r;
}

void registers_go_to(struct registers *r, uint64_t ip)
{
	(void)r, (void)ip;
}

bool registers_at_mark(const struct registers *r, uint64_t tag, int64_t *value)
{
	(void)r, (void)tag, (void)value;
	return false;
}

uint64_t registers_thread(const struct registers *r)
{
	return r->words[0];
}

bool registers_lead_to_blocks(void)
{
	return false;
}

bool registers_block(const struct registers *r, uint64_t *block)
{
	*block = r->words[0];
	return false;
}

void registers_set_block(struct registers *r, uint64_t block, uint64_t thread_if_none)
{
	(void)r, (void)block, (void)thread_if_none;
}

#endif
