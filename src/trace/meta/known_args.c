/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of the C library and of POSIX threads whose duration depends on an argument by what
 * they are: which lock, which file, how many bytes. One row an argument. The types say how the
 * values are read where there is no debug information.
 */
#include "trace/meta/known_args.h"

#include <string.h>

#define LOCK(function, type, name)                                                      \
	{                                                                               \
		function, 1, name, type " *", ARGUMENT_ADDRESS, 8, false, false, false, \
	}
/* A function that takes a lock, but may return without it. */
#define TRY(function, type, name)                                                \
	LOCK(function, type, name),                                              \
	{                                                                        \
		function, 0, "ret", "int", ARGUMENT_VALUE, 4, true, true, false, \
	}
/* A wait whose second argument is a mutex, which is released during the wait. */
#define WAIT(function, type, name)                                                       \
	LOCK(function, type, name),                                                      \
	{                                                                                \
		function, 2, "mutex", "void *", ARGUMENT_ADDRESS, 8, false, true, false, \
	}
#define FD(function)                                                          \
	{                                                                     \
		function, 1, "fd", "int", ARGUMENT_FD, 4, true, false, false, \
	}
#define SIZE(function, n, name)                                                     \
	{                                                                           \
		function, n, name, "size_t", ARGUMENT_SIZE, 8, false, false, false, \
	}
/* Reads or writes. */
#define TRANSFER(function, size) FD(function), SIZE(function, 3, size)

/*
 * A function with several implementations, of which the loader chooses one. They are named after
 * the function: "__memcpy_avx_unaligned".
 */
#define FAMILY(function, n, name)                                                  \
	{                                                                          \
		function, n, name, "size_t", ARGUMENT_SIZE, 8, false, false, true, \
	}

static const struct known_arg rows[] = {
	LOCK("pthread_mutex_lock", "pthread_mutex_t", "mutex"),
	TRY("pthread_mutex_trylock", "pthread_mutex_t", "mutex"),
	TRY("pthread_mutex_timedlock", "pthread_mutex_t", "mutex"),
	TRY("pthread_mutex_clocklock", "pthread_mutex_t", "mutex"),
	LOCK("pthread_mutex_unlock", "pthread_mutex_t", "mutex"),
	LOCK("pthread_rwlock_rdlock", "pthread_rwlock_t", "rwlock"),
	LOCK("pthread_rwlock_wrlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_tryrdlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_trywrlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_timedrdlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_timedwrlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_clockrdlock", "pthread_rwlock_t", "rwlock"),
	TRY("pthread_rwlock_clockwrlock", "pthread_rwlock_t", "rwlock"),
	LOCK("pthread_rwlock_unlock", "pthread_rwlock_t", "rwlock"),
	LOCK("pthread_spin_lock", "pthread_spinlock_t", "lock"),
	TRY("pthread_spin_trylock", "pthread_spinlock_t", "lock"),
	LOCK("pthread_spin_unlock", "pthread_spinlock_t", "lock"),
	LOCK("mtx_lock", "mtx_t", "mtx"),
	TRY("mtx_trylock", "mtx_t", "mtx"),
	TRY("mtx_timedlock", "mtx_t", "mtx"),
	LOCK("mtx_unlock", "mtx_t", "mtx"),
	WAIT("cnd_wait", "cnd_t", "cond"),
	WAIT("cnd_timedwait", "cnd_t", "cond"),
	WAIT("pthread_cond_wait", "pthread_cond_t", "cond"),
	WAIT("pthread_cond_timedwait", "pthread_cond_t", "cond"),
	WAIT("pthread_cond_clockwait", "pthread_cond_t", "cond"),
	LOCK("pthread_cond_signal", "pthread_cond_t", "cond"),
	LOCK("pthread_cond_broadcast", "pthread_cond_t", "cond"),
	LOCK("pthread_barrier_wait", "pthread_barrier_t", "barrier"),
	LOCK("sem_wait", "sem_t", "sem"),
	LOCK("sem_timedwait", "sem_t", "sem"),
	LOCK("sem_post", "sem_t", "sem"),
	TRANSFER("read", "count"),
	TRANSFER("write", "count"),
	TRANSFER("pread", "count"),
	TRANSFER("pread64", "count"),
	TRANSFER("pwrite", "count"),
	TRANSFER("pwrite64", "count"),
	FD("readv"),
	FD("writev"),
	FD("preadv"),
	FD("pwritev"),
	TRANSFER("recv", "len"),
	TRANSFER("recvfrom", "len"),
	FD("recvmsg"),
	TRANSFER("send", "len"),
	TRANSFER("sendto", "len"),
	FD("sendmsg"),
	FD("accept"),
	FD("accept4"),
	FD("connect"),
	FD("fsync"),
	FD("fdatasync"),
	FD("ftruncate"),
	FD("epoll_wait"),
	FAMILY("memcpy", 3, "n"),
	FAMILY("mempcpy", 3, "n"),
	FAMILY("memmove", 3, "n"),
	FAMILY("memset", 3, "n"),
	FAMILY("memcmp", 3, "n"),
	FAMILY("memcmpeq", 3, "n"),
	FAMILY("memchr", 3, "n"),
	FAMILY("memrchr", 3, "n"),
	SIZE("malloc", 1, "size"),
	SIZE("calloc", 2, "size"),
	SIZE("realloc", 2, "size"),
	SIZE("aligned_alloc", 2, "size"),
};

/* "__memset_zva64" of "memset"; "__memcpy_chk_evex", too, has its arguments at the same places. */
static bool is_of_family(const char *family, const char *symbol)
{
	size_t n = strlen(family);

	return !strncmp(symbol, "__", 2) && !strncmp(symbol + 2, family, n) && symbol[2 + n] == '_';
}

size_t known_args(const char *symbol, const struct known_arg *found[KNOWN_ARGS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && n < KNOWN_ARGS_MAX; i++)
		if (!strcmp(rows[i].function, symbol) ||
		    (rows[i].family && is_of_family(rows[i].function, symbol)))
			found[n++] = &rows[i];
	return n;
}
