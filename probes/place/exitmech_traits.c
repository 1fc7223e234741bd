// SPDX-License-Identifier: GPL-3.0-or-later
/* What a target program is known to do, and the facts of one function, from ELF objects. */
#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "probes/place/exitmech_facts.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/dso/dso.h"

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
	TRAIT("dlopen", forks), /* what it loads may */
	TRAIT("JNI_CreateJavaVM", jvm),
	TRAIT("JLI_Launch", jvm),
};

/* Imports that say nothing about the program. object is a stem or a glob; name NULL: all of them.
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
	/* The teardown of its idle threads, through its own frames only. */
	{ "libgomp", "pthread_exit" },
	/* g_thread_exit(), which counts where it is called. */
	{ "libglib-2.0", "pthread_exit" },
	/* ASYNC_start_job(), which counts where it is called; libssl offers it to programs that
	   ask. */
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
 * What is linked in shows as a symbol instead of an import; in a library it may be unused. Every
 * static program has an unwinder (libc's pthread_cancel wants one), so that says nothing.
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

	return language == LANG_CXX || language == LANG_RUST || symbol_is_cxx(f->symbol) ||
	       symbol_is_rust(f->symbol);
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
