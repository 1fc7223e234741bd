// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/select/syscalls.h"

#include <sys/syscall.h>

#include "probes/bpf/wire.h"
#include "trace/format.h"

#define ROW(name, kind)           \
	{                         \
		__NR_##name, kind \
	}

static const struct {
	uint16_t number;
	uint8_t kind;
} rows[] = {
	ROW(futex, WAIT_FUTEX),
	ROW(clock_nanosleep, WAIT_SLEEP),
	ROW(nanosleep, WAIT_SLEEP),
	ROW(ppoll, WAIT_POLL),
	ROW(pselect6, WAIT_POLL),
	ROW(epoll_pwait, WAIT_POLL),
	ROW(wait4, WAIT_CHILD),
	ROW(waitid, WAIT_CHILD),
	ROW(sched_yield, WIRE_YIELDS),
	/* the disk, whatever the file */
	ROW(fsync, WAIT_DISK),
	ROW(fdatasync, WAIT_DISK),
	ROW(sync, WAIT_DISK),
	ROW(syncfs, WAIT_DISK),
	ROW(sync_file_range, WAIT_DISK),
	ROW(msync, WAIT_DISK),
	ROW(ftruncate, WAIT_DISK),
	ROW(fallocate, WAIT_DISK),
	ROW(io_getevents, WAIT_DISK),
	/* sockets */
	ROW(accept, WAIT_SOCKET),
	ROW(accept4, WAIT_SOCKET),
	ROW(connect, WAIT_SOCKET),
	ROW(recvfrom, WAIT_SOCKET),
	ROW(recvmsg, WAIT_SOCKET),
	ROW(recvmmsg, WAIT_SOCKET),
	ROW(sendto, WAIT_SOCKET),
	ROW(sendmsg, WAIT_SOCKET),
	ROW(sendmmsg, WAIT_SOCKET),
	/* a file, a pipe, a socket or a terminal */
	ROW(read, WIRE_WAIT_BY_FILE),
	ROW(write, WIRE_WAIT_BY_FILE),
	ROW(readv, WIRE_WAIT_BY_FILE),
	ROW(writev, WIRE_WAIT_BY_FILE),
	ROW(pread64, WIRE_WAIT_BY_FILE),
	ROW(pwrite64, WIRE_WAIT_BY_FILE),
	ROW(preadv, WIRE_WAIT_BY_FILE),
	ROW(pwritev, WIRE_WAIT_BY_FILE),
	ROW(preadv2, WIRE_WAIT_BY_FILE),
	ROW(pwritev2, WIRE_WAIT_BY_FILE),
	ROW(sendfile, WIRE_WAIT_BY_FILE),
	ROW(splice, WIRE_WAIT_BY_FILE),
	ROW(tee, WIRE_WAIT_BY_FILE),
	ROW(vmsplice, WIRE_WAIT_BY_FILE),
	ROW(copy_file_range, WIRE_WAIT_BY_FILE),
	ROW(getdents64, WIRE_WAIT_BY_FILE),
#ifdef __NR_poll
	ROW(poll, WAIT_POLL),
#endif
#ifdef __NR_select
	ROW(select, WAIT_POLL),
#endif
#ifdef __NR_epoll_wait
	ROW(epoll_wait, WAIT_POLL),
#endif
#ifdef __NR_epoll_pwait2
	ROW(epoll_pwait2, WAIT_POLL),
#endif
#ifdef __NR_getdents
	ROW(getdents, WIRE_WAIT_BY_FILE),
#endif
};

void syscalls_kinds(uint8_t *kinds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kinds[i] = WAIT_UNKNOWN;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].number < n)
			kinds[rows[i].number] = rows[i].kind;
}
