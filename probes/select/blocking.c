// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Functions that wait, as rows. If the kind of waiting depends on the descriptor, it is "unknown"
 * here, and the descriptor or the samples decide later.
 */
#include <stdlib.h>
#include <string.h>

#include "probes/select/blocking.h"

#define LOCK	  "lock"
#define CONDITION "condition-wait"
#define BARRIER	  "barrier"
#define DISK	  "disk-io"
#define NETWORK	  "network"
#define SLEEP	  "sleep"
#define BY_FD	  "unknown"

struct blocking {
	const char *name, *kind;
};

static const struct blocking rows[] = {
	/* glibc: threads */
	{ "pthread_mutex_lock", LOCK },
	{ "pthread_mutex_timedlock", LOCK },
	{ "pthread_mutex_clocklock", LOCK },
	{ "pthread_rwlock_rdlock", LOCK },
	{ "pthread_rwlock_wrlock", LOCK },
	{ "pthread_rwlock_timedrdlock", LOCK },
	{ "pthread_rwlock_timedwrlock", LOCK },
	{ "pthread_rwlock_clockrdlock", LOCK },
	{ "pthread_rwlock_clockwrlock", LOCK },
	{ "pthread_spin_lock", LOCK },
	{ "mtx_lock", LOCK },
	{ "mtx_timedlock", LOCK },
	{ "pthread_cond_wait", CONDITION },
	{ "pthread_cond_timedwait", CONDITION },
	{ "pthread_cond_clockwait", CONDITION },
	{ "cnd_wait", CONDITION },
	{ "cnd_timedwait", CONDITION },
	{ "sem_wait", CONDITION },
	{ "sem_timedwait", CONDITION },
	{ "sem_clockwait", CONDITION },
	{ "pthread_join", CONDITION },
	{ "pthread_timedjoin_np", CONDITION },
	{ "pthread_clockjoin_np", CONDITION },
	{ "thrd_join", CONDITION },
	{ "pthread_barrier_wait", BARRIER },
	/* glibc: processes, signals, System V and POSIX queues */
	{ "wait", CONDITION },
	{ "waitpid", CONDITION },
	{ "wait3", CONDITION },
	{ "wait4", CONDITION },
	{ "waitid", CONDITION },
	{ "pause", CONDITION },
	{ "sigsuspend", CONDITION },
	{ "sigwait", CONDITION },
	{ "sigwaitinfo", CONDITION },
	{ "sigtimedwait", CONDITION },
	{ "mq_receive", CONDITION },
	{ "mq_timedreceive", CONDITION },
	{ "mq_send", CONDITION },
	{ "mq_timedsend", CONDITION },
	{ "msgrcv", CONDITION },
	{ "msgsnd", CONDITION },
	{ "semop", LOCK },
	{ "semtimedop", LOCK },
	{ "flock", LOCK },
	{ "lockf", LOCK },
	{ "lockf64", LOCK },
	/* glibc: time */
	{ "sleep", SLEEP },
	{ "usleep", SLEEP },
	{ "nanosleep", SLEEP },
	{ "clock_nanosleep", SLEEP },
	{ "thrd_sleep", SLEEP },
	{ "sched_yield", "cpu-wait" },
	/* glibc: files that are certainly files */
	{ "fsync", DISK },
	{ "fdatasync", DISK },
	{ "sync", DISK },
	{ "syncfs", DISK },
	{ "sync_file_range", DISK },
	{ "msync", DISK },
	{ "pread", DISK },
	{ "pread64", DISK },
	{ "preadv", DISK },
	{ "preadv2", DISK },
	{ "preadv64", DISK },
	{ "preadv64v2", DISK },
	{ "pwrite", DISK },
	{ "pwrite64", DISK },
	{ "pwritev", DISK },
	{ "pwritev2", DISK },
	{ "pwritev64", DISK },
	{ "pwritev64v2", DISK },
	{ "fallocate", DISK },
	{ "fallocate64", DISK },
	{ "posix_fallocate", DISK },
	{ "posix_fallocate64", DISK },
	{ "ftruncate", DISK },
	{ "ftruncate64", DISK },
	{ "rename", DISK },
	{ "unlink", DISK },
	{ "aio_suspend", DISK },
	/* glibc: sockets */
	{ "accept", NETWORK },
	{ "accept4", NETWORK },
	{ "connect", NETWORK },
	{ "recv", NETWORK },
	{ "recvfrom", NETWORK },
	{ "recvmsg", NETWORK },
	{ "recvmmsg", NETWORK },
	{ "send", NETWORK },
	{ "sendto", NETWORK },
	{ "sendmsg", NETWORK },
	{ "sendmmsg", NETWORK },
	{ "getaddrinfo", NETWORK },
	{ "gethostbyname", NETWORK },
	{ "gethostbyname_r", NETWORK },
	/* glibc: file, pipe, socket or terminal */
	{ "read", BY_FD },
	{ "readv", BY_FD },
	{ "write", BY_FD },
	{ "writev", BY_FD },
	{ "sendfile", BY_FD },
	{ "sendfile64", BY_FD },
	{ "splice", BY_FD },
	{ "tee", BY_FD },
	{ "vmsplice", BY_FD },
	{ "copy_file_range", BY_FD },
	{ "open", BY_FD },
	{ "open64", BY_FD },
	{ "openat", BY_FD },
	{ "openat64", BY_FD },
	{ "close", BY_FD },
	{ "fcntl", BY_FD },
	{ "fcntl64", BY_FD },
	{ "ioctl", BY_FD },
	{ "poll", BY_FD },
	{ "ppoll", BY_FD },
	{ "select", BY_FD },
	{ "pselect", BY_FD },
	{ "epoll_wait", BY_FD },
	{ "epoll_pwait", BY_FD },
	{ "epoll_pwait2", BY_FD },
	/* OpenMP */
	{ "GOMP_barrier", BARRIER },
	{ "GOMP_barrier_cancel", BARRIER },
	{ "GOMP_loop_end", BARRIER },
	{ "GOMP_sections_end", BARRIER },
	{ "GOMP_parallel_end", BARRIER },
	{ "GOMP_taskwait", CONDITION },
	{ "GOMP_taskgroup_end", CONDITION },
	{ "GOMP_critical_start", LOCK },
	{ "GOMP_critical_name_start", LOCK },
	{ "GOMP_atomic_start", LOCK },
	{ "GOMP_ordered_start", LOCK },
	{ "omp_set_lock", LOCK },
	{ "omp_set_nest_lock", LOCK },
	{ "__kmpc_barrier", BARRIER },
	{ "__kmpc_critical", LOCK },
	{ "__kmpc_set_lock", LOCK },
	{ "__kmpc_omp_taskwait", CONDITION },
	/* C++ */
	{ "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", CONDITION },
	{ "_ZNSt6thread4joinEv", CONDITION },
	/* libuv, glib, Python, MPI */
	{ "uv_mutex_lock", LOCK },
	{ "uv_rwlock_rdlock", LOCK },
	{ "uv_rwlock_wrlock", LOCK },
	{ "uv_cond_wait", CONDITION },
	{ "uv_cond_timedwait", CONDITION },
	{ "uv_sem_wait", CONDITION },
	{ "uv_thread_join", CONDITION },
	{ "uv_barrier_wait", BARRIER },
	{ "g_mutex_lock", LOCK },
	{ "g_rec_mutex_lock", LOCK },
	{ "g_rw_lock_reader_lock", LOCK },
	{ "g_rw_lock_writer_lock", LOCK },
	{ "g_cond_wait", CONDITION },
	{ "g_cond_wait_until", CONDITION },
	{ "g_async_queue_pop", CONDITION },
	{ "g_thread_join", CONDITION },
	{ "PyEval_RestoreThread", LOCK },
	{ "PyThread_acquire_lock", LOCK },
	{ "PyThread_acquire_lock_timed", LOCK },
	{ "MPI_Barrier", BARRIER },
	{ "MPI_Allreduce", BARRIER },
	{ "MPI_Wait", NETWORK },
	{ "MPI_Waitall", NETWORK },
	{ "MPI_Recv", NETWORK },
	{ "MPI_Send", NETWORK },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct blocking *find(const char *symbol)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (!strcmp(rows[i].name, symbol))
			return &rows[i];
	return NULL;
}

const char *blocking_kind(const char *symbol)
{
	const struct blocking *row = find(symbol);

	return row ? row->kind : NULL;
}

bool blocking_by_descriptor(const char *symbol)
{
	const struct blocking *row = find(symbol);

	return row && !strcmp(row->kind, BY_FD);
}

bool blocking_on_threads(const char *symbol)
{
	const struct blocking *row = find(symbol);

	return row && (!strcmp(row->kind, LOCK) || !strcmp(row->kind, CONDITION) ||
		       !strcmp(row->kind, BARRIER));
}

bool blocking_is_lock(const char *symbol)
{
	const struct blocking *row = find(symbol);

	return row && !strcmp(row->kind, LOCK);
}

static const char *const releases[][2] = {
	{ "pthread_mutex_lock", "pthread_mutex_unlock" },
	{ "pthread_rwlock_rdlock", "pthread_rwlock_unlock" },
	{ "pthread_rwlock_wrlock", "pthread_rwlock_unlock" },
	{ "pthread_spin_lock", "pthread_spin_unlock" },
	{ "mtx_lock", "mtx_unlock" },
	/* a barrier releases all waiters, not one */
	{ "pthread_cond_wait", "pthread_cond_broadcast" },
	{ "pthread_cond_timedwait", "pthread_cond_broadcast" },
	{ "pthread_cond_clockwait", "pthread_cond_broadcast" },
	{ "cnd_wait", "cnd_broadcast" },
	{ "cnd_timedwait", "cnd_broadcast" },
};

const char *blocking_release(const char *symbol)
{
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (!strcmp(releases[i][0], symbol))
			return releases[i][1];
	return NULL;
}

bool blocking_is_unlock(const char *symbol)
{
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		if (!strcmp(releases[i][1], symbol))
			return !strcmp(blocking_kind(releases[i][0]), LOCK);
	return false;
}

bool blocking_waits_or_unlocks(const char *symbol)
{
	return blocking_kind(symbol) || blocking_is_unlock(symbol);
}

bool blocking_part(const char *symbol)
{
	static const char *const begins[] = {
		"__lll_lock_",
		"__GI___lll_lock_",
		"__futex_abstimed_wait",
		"__GI___futex_",
		"futex_",
		"__new_sem_wait_",
		"__pthread_enable_",
		"__pthread_disable_",
		"__pthread_mutex_lock_full",
		"__pthread_mutex_unlock_usercnt",
		/*
		 * functions of glibc 2.41 and later between a blocking function and its system call
		 */
		"__syscall_cancel",
		"__internal_syscall_cancel",
		"__GI___internal_syscall_cancel",
		/* where threads and programs begin */
		"clone",
		"__clone",
		"__GI___clone",
		"start_thread",
		"_start",
		"__libc_start_",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(begins[i], symbol, strlen(begins[i])))
			return true;
	return false;
}

const char *const *blocking_names(void)
{
	static const char *names[N_ROWS + 1];

	for (size_t i = 0; i < N_ROWS; i++)
		names[i] = rows[i].name;
	return names;
}
