/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"

#define CPU_SECONDS_MAX 600
#define FILES_MAX	64

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/*
 * The system calls that a parser needs for memory, reading and its answers. All others fail with
 * EPERM.
 */
static const uint32_t allowed[] = {
	__NR_read,	__NR_write,	     __NR_pread64,	__NR_lseek,	    __NR_close,
	__NR_fstat,	__NR_newfstatat,     __NR_statx,	__NR_readlinkat,    __NR_getcwd,
	__NR_faccessat, __NR_munmap,	     __NR_mremap,	__NR_brk,	    __NR_madvise,
	__NR_futex,	__NR_fcntl,	     __NR_dup,		__NR_memfd_create,  __NR_ftruncate,
	__NR_sendfile,	__NR_getrandom,	     __NR_sysinfo,	__NR_clock_gettime, __NR_getpid,
	__NR_gettid,	__NR_rt_sigprocmask, __NR_rt_sigreturn, __NR_exit,	    __NR_exit_group,
	__NR_sendto,
#ifdef __NR_stat
	__NR_stat,	__NR_lstat,	     __NR_access,	__NR_readlink,
#endif
};

#define ALLOWED_N (sizeof(allowed) / sizeof(allowed[0]))

/*
 * The instructions of the filter check, in this order: the architecture, the allowed calls, openat
 * for reading, mmap and mprotect without PROT_EXEC. Anything else is refused.
 */
#define LOAD(field)          \
	(struct sock_filter) \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))
#define IF_ANY_BIT(bits, yes, no) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), (yes), (no))
#define RETURN(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE	      RETURN(SECCOMP_RET_ERRNO | EPERM)

static int filter_calls(void)
{
	struct sock_filter words[2 * ALLOWED_N + 32], *w = words;
	struct sock_fprog program = { .filter = words };

	*w++ = LOAD(arch);
	*w++ = IF_EQUAL(ARCH, 1, 0);
	*w++ = RETURN(SECCOMP_RET_KILL_PROCESS);
	*w++ = LOAD(nr);
	for (size_t i = 0; i < ALLOWED_N; i++) {
		*w++ = IF_EQUAL(allowed[i], 0, 1);
		*w++ = RETURN(SECCOMP_RET_ALLOW);
	}
	*w++ = IF_EQUAL(__NR_openat, 0, 4);
	*w++ = LOAD(args[2]);
	*w++ = IF_ANY_BIT(O_ACCMODE | O_CREAT | O_TRUNC, 0, 1);
	*w++ = REFUSE;
	*w++ = RETURN(SECCOMP_RET_ALLOW);
	*w++ = IF_EQUAL(__NR_mmap, 1, 0);
	*w++ = IF_EQUAL(__NR_mprotect, 0, 3);
	*w++ = LOAD(args[2]);
	*w++ = IF_ANY_BIT(PROT_EXEC, 1, 0);
	*w++ = RETURN(SECCOMP_RET_ALLOW);
	*w++ = REFUSE;
	program.len = (unsigned short)(w - words);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

static void limit(int what, rlim_t most)
{
	setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most });
}

/* Not with a sanitizer, which reserves more address space than there is memory. */
static void limit_memory(void)
{
#if !BUILT_WITH_SANITIZER
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), has = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu", &has) != 1)
		has = 0;
	if (f)
		fclose(f);
	limit(RLIMIT_AS, page * (has + (uint64_t)sysconf(_SC_PHYS_PAGES) / 2));
#endif
}

/*
 * Several children may take much memory at once: if memory runs out, the kernel kills them first.
 */
static void be_dispensable(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) != 4)
		errno = 0; /* then the kernel chooses its victim itself */
	close(fd);
}

/* Unmaps up to 512 shared mappings. Returns false if those were all. */
static bool drop_some(void)
{
	struct {
		uint64_t start, end;
	} maps[512];
	const size_t most = sizeof(maps) / sizeof(maps[0]);
	FILE *f = fopen("/proc/self/maps", "re");
	char line[4352], mode[8];
	size_t n = 0;
	bool more;

	while (f && n < most && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %7s", &maps[n].start, &maps[n].end, mode) == 3 &&
		    mode[3] == 's')
			n++;
	if (f)
		fclose(f);
	more = n == most;
	while (n-- > 0)
		munmap((void *)maps[n].start, maps[n].end - maps[n].start);
	return more;
}

/* Unmaps rings and other regions, because other processes read what is written there. */
static void drop_shared_memory(void)
{
	while (drop_some())
		;
}

static void close_others(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (low > 3)
		syscall(__NR_close_range, 3u, low - 1, 0);
	if (high > low + 1)
		syscall(__NR_close_range, low + 1, high - 1, 0);
	syscall(__NR_close_range, high + 1, ~0u, 0);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < _NSIG; number++)
		signal(number, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* the terminal sends these to ispot, which then ends the child */
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int sandbox_enter(uid_t uid, gid_t gid, int fd, int other_fd)
{
	pid_t parent = getppid();

	reset_signals();
	close_others(fd, other_fd);
	drop_shared_memory();
	limit_memory();
	be_dispensable();
	limit(RLIMIT_CPU, CPU_SECONDS_MAX);
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_CORE, 0);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	if (!setresuid(0, 0, 0)) /* if the kernel allows it for any reason */
		return -EPERM;
	prctl(PR_SET_DUMPABLE, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (getppid() != parent)
		return -ESRCH;
	return filter_calls();
}
