// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/place/exitmech.h"

#include <ctype.h>
#include <fnmatch.h>
#include <linux/version.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "probes/place/placement.h"
#include "probes/select/blocking.h"
#include "symbol/demangle.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* ---- names ---- */

static const char *const twice_names[] = {
	"setjmp",      "_setjmp",      "__setjmp",     "sigsetjmp",
	"__sigsetjmp", "getcontext",   "__getcontext", "vfork",
	"__vfork",     "__libc_vfork", "clone",	       "__clone",
	"__clone2",    "clone3",       "__clone3",     NULL
};

/*
 * Functions at whose first instruction (%rsp) holds no return address, or that follow no calling
 * convention.
 */
static const char *const odd_names[] = { "_start",
					 "_dl_start_user",
					 "__restore_rt",
					 "__kernel_rt_sigreturn",
					 "__start_context",
					 "_dl_runtime_resolve",
					 "_dl_runtime_resolve_fxsave",
					 "_dl_runtime_resolve_xsave",
					 "_dl_runtime_resolve_xsavec",
					 "_dl_runtime_profile",
					 "_dl_runtime_profile_avx",
					 "_dl_runtime_profile_avx512",
					 "_dl_runtime_profile_sse",
					 "_dl_tlsdesc_return",
					 "_dl_tlsdesc_undefweak",
					 "_dl_tlsdesc_dynamic",
					 "__fentry__",
					 "mcount",
					 "_mcount",
					 "__morestack",
					 NULL };

static const char *const never_returning[] = { "longjmp",
					       "_longjmp",
					       "siglongjmp",
					       "__longjmp_chk",
					       "____longjmp_chk",
					       "__libc_longjmp",
					       "__libc_siglongjmp",
					       "setcontext",
					       "__setcontext",
					       "exit",
					       "_exit",
					       "_Exit",
					       "quick_exit",
					       "abort",
					       "pthread_exit",
					       "thrd_exit",
					       "__cxa_throw",
					       "__cxa_rethrow",
					       "_Unwind_Resume",
					       "_Unwind_Resume_or_Rethrow",
					       "_Unwind_RaiseException",
					       "_Unwind_ForcedUnwind",
					       "__stack_chk_fail",
					       "__assert_fail",
					       NULL };

static const char *const switching_names[] = { "swapcontext",
					       "__swapcontext",
					       "jump_fcontext",
					       "ontop_fcontext",
					       "co_switch",
					       "coro_transfer",
					       NULL };

static const char *const caller_readers[] = { "dlsym",
					      "__dlsym",
					      "dlvsym",
					      "__dlvsym",
					      "dlopen",
					      "__dlopen",
					      "dlmopen",
					      "__dlmopen",
					      "backtrace",
					      "__backtrace",
					      "_Unwind_Backtrace",
					      "unw_getcontext",
					      NULL };

/*
 * libc functions through whose frames nothing unwinds, as they take no callback and are no
 * cancellation point. Of the other libc functions, those that take callbacks let exceptions pass,
 * and any may be canceled.
 */
static const char *const never_cancelled[] = { "pthread_mutex_lock",
					       "pthread_mutex_trylock",
					       "pthread_mutex_timedlock",
					       "pthread_mutex_clocklock",
					       "pthread_mutex_unlock",
					       "pthread_rwlock_rdlock",
					       "pthread_rwlock_wrlock",
					       "pthread_rwlock_tryrdlock",
					       "pthread_rwlock_trywrlock",
					       "pthread_rwlock_timedrdlock",
					       "pthread_rwlock_timedwrlock",
					       "pthread_rwlock_unlock",
					       "pthread_spin_lock",
					       "pthread_spin_trylock",
					       "pthread_spin_unlock",
					       "pthread_barrier_wait",
					       "pthread_cond_signal",
					       "pthread_cond_broadcast",
					       "pthread_self",
					       "pthread_getspecific",
					       "pthread_setspecific",
					       "pthread_create",
					       "sem_post",
					       "sem_trywait",
					       "sched_yield",
					       "malloc",
					       "calloc",
					       "realloc",
					       "free",
					       "memalign",
					       "posix_memalign",
					       "aligned_alloc",
					       "memcpy",
					       "memmove",
					       "memset",
					       "memcmp",
					       "memchr",
					       "strlen",
					       "strcmp",
					       "strncmp",
					       "strcpy",
					       "strncpy",
					       "strchr",
					       "strrchr",
					       "strstr",
					       "strdup",
					       "strtol",
					       "strtoul",
					       "strtod",
					       "clock_gettime",
					       "gettimeofday",
					       "time",
					       "getpid",
					       "mmap",
					       "munmap",
					       "mprotect",
					       "madvise",
					       "brk",
					       "sbrk",
					       NULL };

static const char *const callback_takers[] = {
	"qsort",	  "qsort_r",	  "bsearch",	 "lfind",
	"lsearch",	  "tsearch",	  "tfind",	 "tdelete",
	"twalk",	  "twalk_r",	  "tdestroy",	 "ftw",
	"ftw64",	  "nftw",	  "nftw64",	 "fts_open",
	"glob",		  "glob64",	  "scandir",	 "scandir64",
	"scandirat",	  "pthread_once", "call_once",	 "dl_iterate_phdr",
	"__pthread_once", "argp_parse",	  "fopencookie", NULL
};

static const char *const leaving_names[] = {
	"longjmp",	  "_longjmp",	   "siglongjmp",	"__longjmp_chk", "____longjmp_chk",
	"__libc_longjmp", "__longjmp",	   "__libc_siglongjmp", "setcontext",	 "__setcontext",
	"makecontext",	  "__makecontext", "_Unwind_Resume",	"make_fcontext", NULL
};

/*
 * Signal handlers compare the interrupted address with the bounds of these functions, so none of
 * their instructions may run elsewhere.
 */
static const char *const compared_names[] = { "__syscall_cancel_arch", "__syscall_cp_asm", NULL };

const char *exit_odd_by_name(const char *symbol)
{
	if (is_one_of(symbol, twice_names))
		return "returns more than once for one call";
	if (is_one_of(symbol, odd_names))
		return "is entered without a return address";
	if (is_one_of(symbol, compared_names))
		return "is looked for by its address when a signal comes";
	if (is_one_of(symbol, switching_names) || is_one_of(symbol, leaving_names))
		return "goes on with another stack";
	return NULL;
}

bool exit_waits_behind_jump(const char *symbol)
{
	static const char *const names[] = { "sem_wait",
					     "sem_timedwait",
					     "sem_clockwait",
					     "pthread_join",
					     "pthread_timedjoin_np",
					     "pthread_clockjoin_np",
					     "mq_receive",
					     "mq_send",
					     "semop",
					     "sigwaitinfo",
					     "wait",
					     "wait3",
					     "waitpid",
					     NULL };

	return is_one_of(symbol, names);
}

/* ---- rows ---- */

static bool in_libc(const struct exit_facts *f)
{
	static const char *const stems[] = { "libc",
					     "libpthread",
					     "libm",
					     "librt",
					     "libdl",
					     "ld-linux-x86-64",
					     "ld-linux-aarch64" };

	for (size_t i = 0; i < N_OF(stems); i++)
		if (exit_object_is(f->object, stems[i]))
			return true;
	return f->static_object &&
	       (is_one_of(f->symbol, never_cancelled) || blocking_kind(f->symbol));
}

/*
 * No exception leaves a parallel region, or what a barrier runs while it waits. Many of these
 * functions end in a jump to the function that waits; a probe on this jump would see the exit too
 * early.
 */
static bool in_openmp(const struct exit_facts *f)
{
	return !strncmp(f->symbol, "GOMP_", 5) || !strncmp(f->symbol, "__kmpc_", 7);
}

static bool is_go(const struct exit_facts *f)
{
	return f->go || f->traits->go;
}

static bool returns_twice(const struct exit_facts *f)
{
	return is_one_of(f->symbol, twice_names);
}

static bool is_odd(const struct exit_facts *f)
{
	return is_one_of(f->symbol, odd_names);
}

static bool never_returns(const struct exit_facts *f)
{
	return is_one_of(f->symbol, never_returning);
}

static bool switches_stacks(const struct exit_facts *f)
{
	return is_one_of(f->symbol, switching_names);
}

static bool reads_caller(const struct exit_facts *f)
{
	return f->place->reads_caller || is_one_of(f->symbol, caller_readers);
}

static bool has_altstack(const struct exit_facts *f)
{
	return f->traits->altstack;
}

static bool is_jvm(const struct exit_facts *f)
{
	return f->traits->jvm;
}

/* Unwinding starts in a call, so a function that calls nothing cannot be unwound through. */
static bool exception_passes(const struct exit_facts *f)
{
	if (!f->traits->unwinds || f->place->leaf || in_openmp(f))
		return false;
	return in_libc(f) ? is_one_of(f->symbol, callback_takers) : true;
}

static bool raises_in_cxx(const struct exit_facts *f)
{
	return f->cxx_or_rust && !f->place->leaf && !in_libc(f) && !in_openmp(f);
}

static bool cancellation_passes(const struct exit_facts *f)
{
	return f->traits->cancels && !f->place->leaf &&
	       !(in_libc(f) && is_one_of(f->symbol + strspn(f->symbol, "_"), never_cancelled));
}

static bool thread_exit_passes(const struct exit_facts *f)
{
	if (!f->traits->thread_exits || f->place->leaf)
		return false;
	return in_libc(f) ? is_one_of(f->symbol, callback_takers) : true;
}

static bool suspended_inside(const struct exit_facts *f)
{
	if (!f->traits->coroutines || f->place->leaf)
		return false;
	return in_libc(f) ? is_one_of(f->symbol, callback_takers) : true;
}

static bool seccomp_kills(const struct exit_facts *f)
{
	return f->traits->seccomp && f->kernel_version >= KERNEL_VERSION(6, 11, 0) &&
	       f->kernel_version <= KERNEL_VERSION(6, 13, 2);
}

static bool no_return_probe(const struct exit_facts *f)
{
	return !f->place->return_possible;
}

/* The first row that holds decides. incomplete: the reason if not all exits are known. */
static const struct {
	bool (*holds)(const struct exit_facts *f);
	bool refused;
	enum exit_mech mech;
	const char *reason, *incomplete;
} rows[] = {
	{ is_go, true, EXIT_NONE, "Go moves its stacks, which probes do not survive", NULL },
	{ returns_twice, true, EXIT_NONE, "it returns more than once for one call", NULL },
	{ is_odd, true, EXIT_NONE, "it is entered without a return address", NULL },
	{ never_returns, false, EXIT_NONE, "it never returns: calls are counted, not timed", NULL },
	{ switches_stacks, false, EXIT_NONE,
	  "it returns on another stack: calls are counted, not timed", NULL },
	{ reads_caller, false, EXIT_RET_SITES, "it looks at its return address",
	  "it looks at its return address, and not all of its exits can be probed" },
	{ has_altstack, false, EXIT_RET_SITES,
	  "the program has signal handlers on alternate stacks",
	  "the program has signal handlers on alternate stacks, and not all exits can be probed" },
	{ is_jvm, false, EXIT_RET_SITES, "the Java machine walks its stacks",
	  "the Java machine walks its stacks, and not all exits can be probed" },
	{ raises_in_cxx, false, EXIT_RET_SITES, "exceptions or panics can pass through it",
	  "exceptions or panics can pass through it, and not all exits can be probed" },
	{ exception_passes, false, EXIT_RET_SITES, "exceptions of its callees can pass through it",
	  "exceptions of its callees can pass through it, and not all exits can be probed" },
	{ cancellation_passes, false, EXIT_RET_SITES, "a thread can be cancelled inside it",
	  "a thread can be cancelled inside it, and not all exits can be probed" },
	{ thread_exit_passes, false, EXIT_RET_SITES, "a thread can end inside it with pthread_exit",
	  "a thread can end inside it with pthread_exit, and not all exits can be probed" },
	{ suspended_inside, false, EXIT_RET_SITES, "a coroutine can be switched inside it",
	  "a coroutine can be switched inside it, and not all exits can be probed" },
	{ seccomp_kills, false, EXIT_RET_SITES,
	  "this kernel kills sandboxed processes at return probes",
	  "this kernel kills sandboxed processes at return probes, and not all exits can be probed" },
	{ no_return_probe, false, EXIT_RET_SITES, "its first instruction takes no return probe",
	  "its first instruction takes no return probe, and not all exits can be probed" },
};

static void use_ret_sites(const struct exit_facts *facts, const char *incomplete,
			  struct exit_choice *choice)
{
	const struct placement *place = facts->place;

	if (exit_waits_behind_jump(facts->symbol))
		*choice = (struct exit_choice){
			EXIT_NONE, false,
			"it waits in a function that it jumps to: calls are counted, not timed"
		};
	else if (!place->ret_sites_complete)
		*choice = (struct exit_choice){ EXIT_NONE, false, incomplete };
	else if (!place->n_ret_sites)
		*choice = (struct exit_choice){ EXIT_NONE, false,
						"it has no exit: calls are counted, not timed" };
}

void exit_choose_by_facts(const struct exit_facts *facts, struct exit_choice *choice)
{
	*choice = (struct exit_choice){ EXIT_RETURN, false, "" };
	for (size_t i = 0; i < N_OF(rows); i++) {
		if (!rows[i].holds(facts))
			continue;
		*choice = (struct exit_choice){ rows[i].mech, rows[i].refused, rows[i].reason };
		if (rows[i].mech == EXIT_RET_SITES)
			use_ret_sites(facts, rows[i].incomplete, choice);
		return;
	}
}

/* ---- the facts: what a program does, known from its ELF objects ---- */

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

struct trait_row {
	const char *name;
	size_t trait; /* offset of its bool */
};
#define TRAIT(name, trait)                                  \
	{                                                   \
		name, offsetof(struct target_traits, trait) \
	}

static const struct trait_row trait_rows[] = {
	TRAIT("__cxa_throw", unwinds),
	TRAIT("__cxa_rethrow", unwinds),
	TRAIT("__cxa_begin_catch", unwinds),
	TRAIT("_Unwind_RaiseException", unwinds),
	TRAIT("_Unwind_Resume", unwinds),
	TRAIT("_Unwind_ForcedUnwind", unwinds),
	TRAIT("rust_eh_personality", unwinds),
	TRAIT("pthread_cancel", cancels),
	TRAIT("thrd_exit", thread_exits),
	TRAIT("pthread_exit", thread_exits),
	TRAIT("g_thread_exit", thread_exits),
	TRAIT("makecontext", coroutines),
	TRAIT("swapcontext", coroutines),
	TRAIT("setcontext", coroutines),
	TRAIT("ASYNC_start_job", coroutines),
	TRAIT("jump_fcontext", coroutines),
	TRAIT("make_fcontext", coroutines),
	TRAIT("ontop_fcontext", coroutines),
	TRAIT("co_switch", coroutines),
	TRAIT("coro_transfer", coroutines),
	TRAIT("qemu_coroutine_enter", coroutines),
	TRAIT("sigaltstack", altstack),
	TRAIT("seccomp_load", seccomp),
	TRAIT("prctl", seccomp),
	TRAIT("fork", forks),
	TRAIT("vfork", forks),
	TRAIT("_Fork", forks),
	TRAIT("clone", forks),
	TRAIT("posix_spawn", forks),
	TRAIT("posix_spawnp", forks),
	TRAIT("system", forks),
	TRAIT("popen", forks),
	TRAIT("daemon", forks),
	TRAIT("forkpty", forks),
	TRAIT("wordexp", forks),
	TRAIT("dlopen", forks), /* the loaded object may fork */
	TRAIT("JNI_CreateJavaVM", jvm),
	TRAIT("JLI_Launch", jvm),
};

/*
 * Imports that tell nothing about the program. object is a stem or a glob; name NULL: all imports
 * of the object.
 */
static const struct {
	const char *object, *name;
} silent_imports[] = {
	{ "libc", NULL },
	{ "libpthread", NULL },
	{ "libdl", NULL },
	{ "librt", NULL },
	{ "ld-linux-x86-64", NULL },
	{ "ld-linux-aarch64", NULL },
	{ "libgcc_s", NULL },
	/* Ends its idle threads, only through its own frames. */
	{ "libgomp", "pthread_exit" },
	/* Belongs to g_thread_exit(), whose importers count. */
	{ "libglib-2.0", "pthread_exit" },
	/*
	 * Belong to ASYNC_start_job(), whose importers count; libssl only offers it to programs
	 * that ask for it.
	 */
	{ "libcrypto", "makecontext" },
	{ "libcrypto", "setcontext" },
	{ "libcrypto", "swapcontext" },
	{ "libssl", "ASYNC_start_job" },
	/* faulthandler: the stack of a handler that ends the process. */
	{ "python[23]*", "sigaltstack" },
	{ "libpython[23]*", "sigaltstack" },
};

bool exit_object_is(const char *object, const char *stem)
{
	size_t n = strlen(stem);

	if (strncmp(object, stem, n) != 0)
		return false;
	return !strncmp(object + n, ".so", 3) ||
	       (object[n] == '-' && isdigit((unsigned char)object[n + 1]));
}

static bool is_silent(const char *object, const char *name)
{
	for (size_t i = 0; i < N_OF(silent_imports); i++)
		if ((exit_object_is(object, silent_imports[i].object) ||
		     !fnmatch(silent_imports[i].object, object, 0)) &&
		    (!silent_imports[i].name || !strcmp(silent_imports[i].name, name)))
			return true;
	return false;
}

void target_traits_import(struct target_traits *traits, const char *object, const char *name)
{
	if (is_silent(object, name))
		return;
	for (size_t i = 0; i < N_OF(trait_rows); i++)
		if (!strcmp(trait_rows[i].name, name))
			*(bool *)((char *)traits + trait_rows[i].trait) = true;
}

/*
 * Adds the traits of functions that are linked into an executable, where they are symbols instead
 * of imports; in a library they may be unused. Every static program has an unwinder (libc's
 * pthread_cancel needs one), so an unwinder tells nothing.
 */
static void add_defined(struct target_traits *traits, struct dso *dso)
{
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);

	for (size_t i = 0; i < n; i++)
		if (strncmp(functions[i].symbol, "_Unwind_", 8) != 0)
			target_traits_import(traits, text_base_name(dso_path(dso)),
					     functions[i].symbol);
}

void target_traits_add(struct target_traits *traits, struct dso *dso, bool executable)
{
	const char *object = text_base_name(dso_path(dso));
	const char *const *names;
	size_t n = dso_imports(dso, &names);

	for (size_t i = 0; i < n; i++)
		target_traits_import(traits, object, names[i]);
	traits->jvm |= exit_object_is(object, "libjvm");
	if (!executable)
		return;
	traits->go |= dso_is_go(dso);
	add_defined(traits, dso);
}

static bool is_cxx_or_rust(struct dso *dso, const struct dso_function *f)
{
	enum dso_language language = dso_language_at(dso, f->address);

	return language == LANG_CXX || language == LANG_RUST || symbol_is_mangled(f->symbol);
}

void exit_choose(const struct target_traits *traits, struct dso *dso, const struct dso_function *f,
		 const struct placement *place, unsigned kernel_version, struct exit_choice *choice)
{
	struct exit_facts facts = {
		.traits = traits,
		.symbol = f->symbol,
		.object = text_base_name(dso_path(dso)),
		.static_object = dso_is_static(dso),
		.cxx_or_rust = is_cxx_or_rust(dso, f),
		.go = dso_is_go(dso),
		.place = place,
		.kernel_version = kernel_version,
	};

	exit_choose_by_facts(&facts, choice);
}
