/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that others may write are read for root by a process without rights: it says the same as
 * reading here would, and whatever became of it could do nothing.
 */
#include "dso_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitizer.h"
#include "probes/place/function.h"
#include "probes/place/placement.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/called.h"
#include "symbol/dso/data.h"
#include "symbol/dso/frames.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/patience.h"
#include "symbol/dso/prototype.h"
#include "symbol/dso/sandbox.h"
#include "symbol/dso/symbols.h"

#define OTHER 65534

static void needs_root(void)
{
	if (geteuid()) {
		print_message("# needs root: nobody else gives rights up\n");
		skip();
	}
}

/* The same program, of root and of another user. */
static void make_both(void)
{
	fixture_run("chmod 755 app && cp app theirs && chown 65534:65534 theirs");
}

static unsigned children(pid_t *last)
{
	char path[64];
	unsigned n = 0;
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	for (; fscanf(f, "%d", &pid) == 1; n++)
		*last = pid;
	fclose(f);
	return n;
}

static void assert_status(pid_t pid, const char *line)
{
	char path[64], text[8192];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	if (!strstr(text, line))
		fail_msg("no '%s' in %s", line, text);
}

static void assert_dispensable(pid_t pid)
{
	char path[64];
	int score = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &score), 1);
	fclose(f);
	assert_int_equal(score, 1000);
}

static void assert_same_line(struct dso_line a, struct dso_line b)
{
	assert_string_equal(a.file, b.file);
	assert_int_equal(a.line, b.line);
}

static void assert_same_function(struct dso *here, const struct dso_function *a, struct dso *there,
				 const struct dso_function *b)
{
	struct dso_inline chain_a[4], chain_b[4];
	struct dso_prototype p, q;
	size_t n;

	assert_string_equal(a->symbol, b->symbol);
	assert_string_equal(dso_function_name(here, a), dso_function_name(there, b));
	assert_true(a->address == b->address && a->file_offset == b->file_offset);
	assert_true(a->size == b->size && a->size_guessed == b->size_guessed);
	assert_true(a->ifunc == b->ifunc && a->default_version == b->default_version);
	assert_int_equal(a->exported, b->exported);
	assert_same_line(dso_function_line(here, a), dso_function_line(there, b));
	assert_int_equal(dso_language_at(here, a->address), dso_language_at(there, b->address));
	assert_int_equal(dso_prototype(here, a, &p), dso_prototype(there, b, &q));
	assert_string_equal(p.text, q.text);
	assert_int_equal(p.n, q.n);
	for (uint64_t at = a->address; at < a->address + a->size; at++) {
		assert_same_line(dso_line_at(here, at), dso_line_at(there, at));
		n = dso_inlines_at(here, at, chain_a, 4);
		assert_int_equal(n, dso_inlines_at(there, at, chain_b, 4));
		for (size_t i = 0; i < n; i++) {
			assert_string_equal(chain_a[i].name, chain_b[i].name);
			assert_same_line(chain_a[i].call, chain_b[i].call);
		}
	}
}

static void assert_same_file(struct dso *a, struct dso *b)
{
	const char *const *names_a, *const *names_b;
	uint64_t start_a, start_b, size_a, size_b;
	size_t n = dso_imports(a, &names_a), code_a, code_b;

	assert_int_equal(dso_imports(b, &names_b), n);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names_a[i], names_b[i]);
	assert_string_equal(dso_build_id(a), dso_build_id(b));
	assert_string_equal(dso_interp(a), dso_interp(b));
	assert_int_equal(dso_machine(a), dso_machine(b));
	assert_int_equal(dso_is_static(a), dso_is_static(b));
	assert_int_equal(dso_is_restartable(a), dso_is_restartable(b));
	for (uint64_t at = 0; at < 1 << 15; at++) {
		const uint8_t *p = dso_code(a, at, &code_a), *q = dso_code(b, at, &code_b);

		assert_true(!p == !q && code_a == code_b && (!p || *p == *q));
		assert_true(dso_address_to_offset(a, at) == dso_address_to_offset(b, at));
		assert_int_equal(dso_frame_range(a, at, &start_a, &size_a),
				 dso_frame_range(b, at, &start_b, &size_b));
		if (dso_called_import(a, at))
			assert_string_equal(dso_called_import(a, at), dso_called_import(b, at));
	}
}

static void says_the_same(void **state)
{
	struct setup *s = *state;
	const struct dso_function *a, *b;
	uint64_t offset_a, offset_b;
	struct dso *here, *there;
	pid_t child = 0;
	size_t n;

	needs_root();
	make_both();
	here = get(s, "app");
	n = dso_functions(here, &a);
	assert_true(n > 5);
	assert_int_equal(children(&child), 0);
	there = get(s, "theirs");
	assert_int_equal(children(&child), 1);
	assert_same_file(here, there);
	assert_int_equal(dso_functions(there, &b), n);
	assert_status(child, "Uid:\t65534\t65534\t65534\t65534\n");
	assert_status(child, "Groups:\t \n");
	assert_status(child, "CapEff:\t0000000000000000\n");
	assert_status(child, "NoNewPrivs:\t1\n");
	assert_status(child, "Seccomp:\t2\n");
	assert_dispensable(child);
	for (size_t i = 0; i < n; i++)
		assert_same_function(here, &a[i], there, &b[i]);
	assert_string_equal(dso_symbol_source(here), dso_symbol_source(there));
	assert_int_equal(dso_has_dwarf(here), dso_has_dwarf(there));
	assert_int_equal(dso_only_inlined(here, "inner"), dso_only_inlined(there, "inner"));
	assert_int_equal(dso_only_inlined(here, "outer"), dso_only_inlined(there, "outer"));
	for (uint64_t at = 0; at < 1 << 15; at += 8) {
		const char *v = dso_variable_at(here, at, &offset_a);
		const char *w = dso_variable_at(there, at, &offset_b);

		assert_true(!v == !w && (!v || (!strcmp(v, w) && offset_a == offset_b)));
	}
	assert_int_equal(children(&child), 1);
	dso_cache_free(s->cache);
	s->cache = dso_cache_new();
	assert_int_equal(children(&child), 0);
}

/* A child that is gone takes its file's symbols with it, and nothing else. */
/* In-process recording patches no code that the kernel restarts (rseq), whoever owns the file. */
static void is_restartable_there(void **state)
{
	struct setup *s = *state;

	needs_root();
	fixture_write("restarted.s", ".section __rseq_cs, \"a\"\n .quad 0, 0, 0, 0\n");
	fixture_run("gcc -shared -nostdlib -o restarted.so restarted.s && "
		    "chown 65534:65534 restarted.so");
	assert_true(dso_is_restartable(get(s, "restarted.so")));
}

static void a_child_that_dies(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso;
	pid_t child = 0;

	needs_root();
	make_both();
	dso = get(s, "theirs");
	assert_true(dso_has_dwarf(dso));
	assert_int_equal(children(&child), 1);
	kill(child, SIGKILL);
	assert_int_equal(dso_functions(dso, &all), 0);
	assert_string_equal(dso_symbol_source(dso), "none");
	assert_int_equal(children(&child), 0);
	assert_false(dso_has_dwarf(dso));
	assert_true(dso_functions(get(s, "app"), &all) > 0);
}

/* Names are demangled where the file is read: what its child did not say before it ended stays as
 * it is linked. */
static void names_are_demangled_there(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	const char *variable = NULL;
	uint64_t offset;
	struct dso *dso;
	pid_t child = 0;
	char *name;
	size_t n;

	needs_root();
	fixture_run("printf '.data\n.globl _ZN2ns5tableE\n.type _ZN2ns5tableE,%%object\n"
		    "_ZN2ns5tableE: .quad 1\n.size _ZN2ns5tableE,8\n.text\n' >named.s; "
		    "for i in $(seq 3000); do printf '.globl _ZN2ns5f%04dEi\n"
		    ".type _ZN2ns5f%04dEi,%%function\n_ZN2ns5f%04dEi: ret\n"
		    ".size _ZN2ns5f%04dEi,1\n' $i $i $i $i; done >>named.s; "
		    "gcc -shared -nostdlib -o named.so named.s && chown 65534:65534 named.so");
	dso = get(s, "named.so");
	n = dso_functions(dso, &all);
	assert_int_equal(n, 3000);
	assert_string_equal(dso_function_name(dso, &all[0]), "ns::f0001(int)");
	assert_string_equal(dso_function_bare_name(dso, &all[1000]), "ns::f1001");
	name = dso_demangle(dso, "_ZN2ns5otherEi");
	assert_string_equal(name, "ns::other(int)");
	free(name);
	for (uint64_t at = 0; !variable && at < 1 << 20; at += 8)
		variable = dso_variable_at(dso, at, &offset);
	assert_string_equal(variable, "ns::table");
	assert_int_equal(children(&child), 1);
	kill(child, SIGKILL);
	assert_string_equal(dso_function_name(dso, &all[2999]), "_ZN2ns5f3000Ei");
	assert_string_equal(dso_function_bare_name(dso, &all[2998]), "_ZN2ns5f2999Ei");
	assert_string_equal(dso_function_name(dso, &all[2]), "ns::f0003(int)");
}

/* ---- what such a process cannot do ---- */

static int refused(long result)
{
	return result == -1 && errno == EPERM ? 0 : 1;
}

/* 0: nothing of it is allowed. */
static int try_everything(int fd, const char *mark)
{
	int bad = 0;
	char c;

	bad |= refused(open(mark, O_WRONLY | O_CREAT, 0666)) << 0;
	bad |= refused(open("/tmp", O_RDWR)) << 0;
	bad |= refused(socket(AF_UNIX, SOCK_STREAM, 0)) << 1;
	bad |= refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) << 2;
	bad |= refused(execl("/bin/true", "true", NULL)) << 3;
	bad |= refused(kill(getpid(), 0)) << 4;
	bad |= refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL)) << 5;
	bad |= refused((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0))
	       << 6;
	bad |= refused(syscall(SYS_unlinkat, AT_FDCWD, mark, 0)) << 7;
	bad |= (pread(fd, &c, 1, 0) != 1) << 8;
	bad |= (open("/proc/self/status", O_RDONLY) < 0) << 9; /* reading is allowed */
	return bad;
}

static void a_sandbox(void **state)
{
	int result[2], fd, bad = -1, status;
	char *shared;
	pid_t pid;

	(void)state;
	needs_root();
	assert_int_equal(pipe(result), 0);
	fixture_write("anything", "x");
	fd = open(fixture_path("anything"), O_RDONLY);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid = fork();
	if (!pid) {
		bad = sandbox_enter(OTHER, OTHER, fd, result[1])
			      ? 1 << 10
			      : try_everything(fd, fixture_path("mark"));
		if (write(result[1], &bad, sizeof(bad)) != sizeof(bad))
			_exit(1);
		*shared = 1; /* which is not there any more: it dies of this */
		_exit(0);
	}
	close(result[1]);
	assert_int_equal(read(result[0], &bad, sizeof(bad)), sizeof(bad));
	assert_int_equal(bad, 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(*shared, 0);
	close(result[0]);
	close(fd);
	munmap(shared, 4096);
}

/* However many files of others a program has, few children are there at once, and each file can be
 * asked. */
static void many_files(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso[80];
	char command[128], name[16];
	pid_t last;

	needs_root();
	make_both();
	for (unsigned i = 0; i < 80; i++) {
		snprintf(name, sizeof(name), "many%u", i);
		snprintf(command, sizeof(command), "cp -p theirs %s", name);
		fixture_run(command);
		assert_int_equal(dso_get(s->cache, fixture_path(name), &dso[i], &s->err), 0);
		assert_true(dso_functions(dso[i], &all) > 0);
		assert_in_range(children(&last), 1, 64);
	}
	assert_true(dso_line_at(dso[0], all[0].address).line ==
		    dso_line_at(dso[79], all[0].address).line);
	assert_in_range(children(&last), 1, 64);
}

/* A file that is no program is looked at once. */
static void refused_once(void **state)
{
	struct setup *s = *state;
	struct err first = { 0 }, again = { 0 };
	struct dso *dso;
	pid_t last;

	needs_root();
	fixture_run("head -c 40 app >cut && chown 65534:65534 cut");
	assert_int_equal(dso_get(s->cache, fixture_path("cut"), &dso, &first), -ENOEXEC);
	assert_int_equal(dso_get(s->cache, fixture_path("cut"), &dso, &again), -ENOEXEC);
	assert_string_equal(first.text, again.text);
	assert_int_equal(children(&last), 0);
}

/* The child has the rights of its file's owner, who may stop it: who ends ispot does not wait. */
static void a_child_that_is_stopped(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso[3];
	char name[16], command[64];
	sigset_t ends, before;
	siginfo_t info;
	pid_t child = 0;

	needs_root();
	make_both();
	for (unsigned i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "stopped%u", i);
		snprintf(command, sizeof(command), "cp -p theirs %s", name);
		fixture_run(command);
		dso[i] = get(s, name);
		children(&child);
		kill(child, SIGSTOP);
	}
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, &before);
	kill(getpid(), SIGTERM);
	alarm(90); /* one answer would take longer than this */
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(dso_functions(dso[i], &all), 0);
	alarm(0);
	assert_int_equal(children(&child), 0);
	assert_int_equal(sigwaitinfo(&ends, &info), SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Nor does who does not end it wait for long, and other users' files are read as ever. */
static void a_stopped_child_is_left(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso;
	pid_t child = 0;

	needs_root();
	make_both();
	fixture_run("cp -p theirs held && cp theirs other && chown 65533:65533 other");
	dso = get(s, "held");
	children(&child);
	kill(child, SIGSTOP);
	alarm(60); /* an answer may take twice as long */
	assert_int_equal(dso_functions(dso, &all), 0);
	alarm(0);
	assert_int_equal(children(&child), 0);
	assert_true(dso_functions(get(s, "other"), &all) > 5);
}

/* The child runs no further while this process has it: it is slow, but not stopped. To be killed.
 */
static pid_t hold(pid_t child)
{
	int ready[2];
	pid_t holder;
	char c;

	assert_int_equal(pipe(ready), 0);
	holder = fork();
	if (!holder) {
		bool held = !ptrace(PTRACE_SEIZE, child, NULL, NULL) &&
			    !ptrace(PTRACE_INTERRUPT, child, NULL, NULL) &&
			    waitpid(child, NULL, __WALL) == child;

		if (held && write(ready[1], "", 1) == 1)
			waitpid(child, NULL, __WALL); /* its end comes here first */
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return holder;
}

static struct dso *get_of(struct setup *s, const char *name, unsigned uid)
{
	char command[128];

	snprintf(command, sizeof(command), "cp app %s && chown %u:%u %s", name, uid, uid, name);
	fixture_run(command);
	return get(s, name);
}

/* Waits for the file's functions, which do not come. */
static void wait_for(struct dso *dso)
{
	const struct dso_function *all;
	pid_t child = 0, holder;

	children(&child);
	holder = hold(child);
	assert_int_equal(dso_functions(dso, &all), 0);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
}

/* How long an answer about that user's files would be waited for now. */
static uint64_t allowed_ns(uid_t uid)
{
	uint64_t now_ns = clock_now_ns(), until_ns = patience_deadline_ns(uid, now_ns);

	return until_ns ? until_ns - now_ns : 0;
}

/* A recording does not wait for one that is slow as for one that is asked before: neither while it
 * has buffers to drain, the less the more it has waited, nor when it ends. */
static void a_slow_child_holds_no_recording_up(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	size_t before = patience_given_up();
	struct dso *first, *second, *third;
	uint64_t first_ns;

	needs_root();
	fixture_run("chmod 755 app");
	third = get_of(s, "slow3", 65532);
	second = get_of(s, "slow2", 65531);
	first = get_of(s, "slow1", 65530); /* of those that are left the last process is asked */
	patience_run_ns = patience_after_ns = 1000000000;
	alarm(60); /* an answer may take twice as long otherwise */
	patience_set(PATIENCE_RECORDING);
	first_ns = allowed_ns(65530);
	wait_for(first);
	assert_true(allowed_ns(65531) < first_ns);
	wait_for(second);
	patience_set(PATIENCE_AFTERWARDS);
	wait_for(third);
	alarm(0);
	assert_int_equal(patience_given_up(), before + 3);
	patience_set(PATIENCE_FULL);
	assert_true(dso_functions(get_of(s, "other1", 65529), &all) > 5);
}

/* Nor are all files of a user waited for longer, before a recording begins, than one of them may
 * take; what is left of them is not read. */
static void all_files_of_a_user_have_one_time(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	uint64_t before = patience_user_ns, first_ns;
	struct dso *first, *second;

	needs_root();
	fixture_run("chmod 755 app");
	second = get_of(s, "late2", 65525);
	first = get_of(s, "late1", 65525); /* its process is the last one */
	patience_user_ns = 2000000000;
	alarm(60); /* one may take twice as long otherwise */
	first_ns = allowed_ns(65525);
	wait_for(first);
	assert_true(allowed_ns(65525) < first_ns);
	wait_for(second);
	alarm(0);
	patience_user_ns = before;
	assert_true(dso_functions(get_of(s, "other2", 65526), &all) > 5);
}

/* What is kept of all files of others has one bound. */
static void answers_have_room_and_no_more(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	uint64_t before = parser_bytes_most;

	needs_root();
	make_both();
	fixture_run("cp -p theirs first && cp -p theirs second");
	assert_true(dso_functions(get(s, "first"), &all) > 5);
	parser_bytes_most = 1;
	assert_int_equal(dso_functions(get(s, "second"), &all), 0);
	parser_bytes_most = before;
	assert_true(dso_functions(get(s, "theirs"), &all) > 5);
}

/* Root's program, by a link in somebody's directory, with a debug file beside the link; and one of
 * somebody beside the program. */
static void debug_files_of_others(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct dso *dso;
	pid_t last;

	needs_root();
	fixture_run("rm -rf sound att && mkdir -m 755 sound att && cp app sound/app && "
		    "objcopy --only-keep-debug sound/app sound/app.debug && "
		    "strip --strip-all sound/app && "
		    "objcopy --add-gnu-debuglink=sound/app.debug sound/app && "
		    "mv sound/app.debug att/ && ln -s ../sound/app att/app && "
		    "chown -h 65534:65534 att att/app");
	dso = get(s, "att/app");
	assert_true(dso_functions(dso, &all) > 0);
	assert_false(dso_has_dwarf(dso));
	dso_cache_free(s->cache);
	s->cache = dso_cache_new();
	fixture_run("cp att/app.debug sound && chown 65534:65534 sound/app.debug");
	dso = get(s, "sound/app");
	assert_false(dso_has_dwarf(dso));
	dso_cache_free(s->cache);
	s->cache = dso_cache_new();
	fixture_run("chown 0:0 sound/app.debug");
	dso = get(s, "att/app");
	assert_true(dso_has_dwarf(dso));
	assert_int_equal(children(&last), 0);
}

/* Symbols that each claim all of the code: looking at them takes a part of a recording's time, and
 * the others are refused. */
static void code_that_takes_too_long(void **state)
{
	struct setup *s = *state;
	const struct dso_function *all;
	struct placement placement;
	struct dso *dso;
	size_t n, looked_at = 0;

	needs_root();
	fixture_run("for i in $(seq 5000); do printf '.globl f%d\\n.type f%d,%%function\\n"
		    ".set f%d,base+%d\\n.size f%d,400000\\n' $i $i $i $i $i; done >claims.s && "
		    "printf 'base: .fill 500000,1,0x90\\nret\\n' >>claims.s && "
		    "gcc -shared -nostdlib -o claims.so claims.s && chown 65520 claims.so");
	dso = get(s, "claims.so");
	n = dso_functions(dso, &all);
	assert_int_equal(n, 5000);
	patience_run_ns = 300000000;
	patience_set(PATIENCE_RECORDING);
	for (size_t i = 0; i < n; i++) {
		placement_of_function(dso, &all[i], 0, 0, &placement);
		looked_at += placement.possible;
	}
	patience_set(PATIENCE_FULL);
	assert_in_range(looked_at, 1, n - 1);
	assert_string_equal(placement.reason,
			    "is in a file whose functions take too long to look at");
}

static void assert_leads_to(const char *path, ino_t inode)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_ino, inode);
}

/* The kernel gets the file that was read, whatever is at its path by then. */
static void the_kernel_opens_what_was_read(void **state)
{
	struct setup *s = *state;
	struct dso *theirs, *roots, *in_theirs;

	needs_root();
	make_both();
	fixture_run("rm -rf their_dir safe && mkdir -m 755 their_dir && cp app their_dir/roots && "
		    "chown 65534 their_dir && cp theirs replaced && chown 65534 replaced && "
		    "chmod 755 .");
	theirs = get(s, "replaced");
	roots = get(s, "app");
	in_theirs = get(s, "their_dir/roots");
	assert_string_equal(dso_kernel_path(roots, fixture_path("app")), fixture_path("app"));
	dso_kernel_path(theirs, fixture_path("replaced"));
	fixture_run("for f in replaced their_dir/roots; do rm $f && ln -s /bin/true $f; done");
	assert_leads_to(dso_kernel_path(theirs, fixture_path("replaced")), dso_inode(theirs));
	assert_leads_to(dso_kernel_path(in_theirs, fixture_path("their_dir/roots")),
			dso_inode(in_theirs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(says_the_same),
		TEST(is_restartable_there),
		TEST(a_child_that_dies),
		TEST(a_child_that_is_stopped),
		TEST(a_stopped_child_is_left),
		TEST(a_slow_child_holds_no_recording_up),
		TEST(all_files_of_a_user_have_one_time),
		TEST(names_are_demangled_there),
		TEST(a_sandbox),
		TEST(many_files),
		TEST(refused_once),
		TEST(answers_have_room_and_no_more),
		TEST(debug_files_of_others),
		TEST(code_that_takes_too_long),
		TEST(the_kernel_opens_what_was_read),
	};

	if (BUILT_WITH_SANITIZER) {
		printf("1..0 # SKIP a sanitizer's builds parse in the process itself\n");
		return 0;
	}
	return unit_run(tests);
}
