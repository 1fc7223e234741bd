// SPDX-License-Identifier: GPL-3.0-or-later
/* One test line for each row of the exit mechanism, and what must not trigger it. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <linux/version.h>

#include "probes/place/exitmech.h"
#include "probes/place/placement.h"
#include "probes/select/blocking.h"

#define PLAIN	     .return_possible = true, .ret_sites_complete = true, .n_ret_sites = 1
#define RETURN	     .mech = EXIT_RETURN, .reason = ""
#define SITES(why)   .mech = EXIT_RET_SITES, .reason = why
#define NONE(why)    .mech = EXIT_NONE, .reason = why
#define REFUSED(why) .mech = EXIT_NONE, .refused = true, .reason = why

static const struct placement normal = { PLAIN }, looking = { PLAIN, .reads_caller = true },
			      leaf = { PLAIN, .leaf = true },
			      endless = { .return_possible = true, .ret_sites_complete = true },
			      unclear = { .return_possible = true, .n_ret_sites = 2 },
			      no_return = { .ret_sites_complete = true, .n_ret_sites = 1 };

struct row {
	const char *symbol, *object;
	struct target_traits traits;
	enum exit_mech mech;
	bool refused;
	const char *reason; /* a part of it */
	const struct placement *place;
	unsigned kernel;
	bool cxx, go, is_static;
};

#define C_PROGRAM \
	{         \
		0 \
	}
#define THROWS                  \
	{                       \
		.unwinds = true \
	}
#define CANCELS                 \
	{                       \
		.cancels = true \
	}
#define ENDS                         \
	{                            \
		.thread_exits = true \
	}
#define COROUTINES                 \
	{                          \
		.coroutines = true \
	}
#define ALTSTACK                 \
	{                        \
		.altstack = true \
	}
#define SANDBOX                 \
	{                       \
		.seccomp = true \
	}

static const struct row rows[] = {
	{ "work", "app", C_PROGRAM, RETURN },
	{ "read", "libc.so.6", C_PROGRAM, RETURN },
	/* Go */
	{ "main.main", "app", C_PROGRAM, REFUSED("Go"), .go = true },
	{ "read", "libc.so.6", { .go = true }, REFUSED("Go") },
	/* returns twice */
	{ "setjmp", "libc.so.6", C_PROGRAM, REFUSED("more than once") },
	{ "__sigsetjmp", "libc.so.6", C_PROGRAM, REFUSED("more than once") },
	{ "vfork", "libc.so.6", C_PROGRAM, REFUSED("more than once") },
	{ "getcontext", "libc.so.6", COROUTINES, REFUSED("more than once") },
	{ "fork", "libc.so.6", C_PROGRAM, RETURN },
	/* no return address at entry */
	{ "_start", "app", C_PROGRAM, REFUSED("return address") },
	{ "__restore_rt", "libc.so.6", C_PROGRAM, REFUSED("return address") },
	/* never returns */
	{ "longjmp", "libc.so.6", C_PROGRAM, NONE("never returns") },
	{ "__cxa_throw", "libstdc++.so.6", THROWS, NONE("never returns"), .cxx = true },
	{ "pthread_exit", "libc.so.6", ENDS, NONE("never returns") },
	/* another stack */
	{ "swapcontext", "libc.so.6", COROUTINES, NONE("another stack") },
	/* looks at its caller */
	{ "dlsym", "libc.so.6", C_PROGRAM, SITES("return address") },
	{ "dlopen", "libc.so.6", C_PROGRAM, SITES("return address") },
	{ "dlsym", "libc.so.6", C_PROGRAM, NONE("not all of its exits"), .place = &unclear },
	{ "who_called", "app", C_PROGRAM, SITES("return address"), .place = &looking },
	/* alternate stacks: even a leaf can be interrupted */
	{ "work", "app", ALTSTACK, SITES("alternate stacks"), .place = &leaf },
	{ "read", "libc.so.6", ALTSTACK, SITES("alternate stacks") },
	{ "work", "app", ALTSTACK, NONE("not all exits"), .place = &unclear },
	/* Java */
	{ "JVM_Sleep", "libjvm.so", { .jvm = true }, SITES("Java") },
	/* C++ and Rust */
	{ "_ZN3app4workEv", "app", THROWS, SITES("exceptions or panics"), .cxx = true },
	{ "_ZN3app4workEv", "app", THROWS, RETURN, .cxx = true, .place = &leaf },
	{ "_ZN3app4workEv", "app", THROWS, NONE("not all exits"), .cxx = true, .place = &unclear },
	{ "_ZN3app4workEv", "app", C_PROGRAM, SITES("exceptions or panics"), .cxx = true },
	/* C in a program that throws */
	{ "visit", "libtree.so.1", THROWS, SITES("callees") },
	{ "visit", "libtree.so.1", THROWS, RETURN, .place = &leaf },
	{ "qsort", "libc.so.6", THROWS, SITES("callees") },
	{ "pthread_mutex_lock", "libc.so.6", THROWS, RETURN },
	{ "read", "libc-2.31.so", THROWS, RETURN },
	{ "read", "libc-client.so.1", THROWS, SITES("callees") },
	{ "read", "app", THROWS, RETURN, .is_static = true },
	{ "visit", "app", THROWS, SITES("callees"), .is_static = true },
	{ "GOMP_parallel", "libgomp.so.1", THROWS, RETURN },
	{ "GOMP_parallel", "libgomp.so.1", ALTSTACK, SITES("alternate stacks") },
	{ "__kmpc_fork_call", "libomp.so.5", THROWS, RETURN, .cxx = true },
	/* cancellation */
	{ "read", "libc.so.6", CANCELS, SITES("cancelled") },
	{ "pthread_cond_wait", "libc.so.6", CANCELS, SITES("cancelled") },
	{ "getaddrinfo", "libc.so.6", CANCELS, SITES("cancelled") },
	{ "pthread_mutex_lock", "libc.so.6", CANCELS, RETURN },
	{ "malloc", "libc.so.6", CANCELS, RETURN },
	{ "__pthread_mutex_lock", "libc.so.6", CANCELS, RETURN },
	{ "malloc", "libfast.so", CANCELS, SITES("cancelled") },
	{ "work", "app", CANCELS, SITES("cancelled") },
	{ "work", "app", CANCELS, RETURN, .place = &leaf },
	{ "work", "app", CANCELS, NONE("not all exits"), .place = &unclear },
	/* pthread_exit unwinds its callers, which libc's functions are not */
	{ "work", "app", ENDS, SITES("pthread_exit") },
	{ "work", "app", ENDS, RETURN, .place = &leaf },
	{ "read", "libc.so.6", ENDS, RETURN },
	{ "bsearch", "libc.so.6", ENDS, SITES("pthread_exit") },
	/* coroutines */
	{ "work", "app", COROUTINES, SITES("coroutine") },
	{ "work", "app", COROUTINES, RETURN, .place = &leaf },
	{ "pthread_mutex_lock", "libc.so.6", COROUTINES, RETURN },
	/* kernels that kill at return probes */
	{ "work", "app", SANDBOX, SITES("sandboxed"), .kernel = KERNEL_VERSION(6, 11, 0) },
	{ "work", "app", SANDBOX, SITES("sandboxed"), .kernel = KERNEL_VERSION(6, 13, 2) },
	{ "work", "app", SANDBOX, RETURN, .kernel = KERNEL_VERSION(6, 13, 3) },
	{ "work", "app", SANDBOX, RETURN, .kernel = KERNEL_VERSION(6, 10, 14) },
	{ "work", "app", C_PROGRAM, RETURN, .kernel = KERNEL_VERSION(6, 12, 0) },
	/* where a probe on the jump would see the exit too early */
	{ "sem_wait", "libc.so.6", CANCELS, NONE("jumps to") },
	{ "sem_wait", "libc.so.6", C_PROGRAM, RETURN },
	/* aarch64 functions whose first instruction takes no probe */
	{ "work", "app", C_PROGRAM, SITES("first instruction"), .place = &no_return },
	/* nowhere to put one */
	{ "serve", "app", CANCELS, NONE("no exit"), .place = &endless },
};

static void every_row_decides(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct exit_facts facts = { .traits = &r->traits,
					    .symbol = r->symbol,
					    .object = r->object,
					    .static_object = r->is_static,
					    .cxx_or_rust = r->cxx,
					    .go = r->go,
					    .place = r->place ? r->place : &normal,
					    .kernel_version = r->kernel
								      ? r->kernel
								      : KERNEL_VERSION(6, 18, 0) };
		struct exit_choice choice;

		exit_choose_by_facts(&facts, &choice);
		if (choice.mech != r->mech || choice.refused != r->refused ||
		    !strstr(choice.reason, r->reason) || !!*choice.reason != !!*r->reason)
			fail_msg("%s in %s (row %zu): %d, refused %d, \"%s\"", r->symbol, r->object,
				 i, choice.mech, choice.refused, choice.reason);
	}
}

struct import {
	const char *object, *name;
	struct target_traits expect;
};

static const struct import imports[] = {
	{ "app", "__cxa_throw", { .unwinds = true } },
	{ "libtree.so", "_Unwind_Resume", { .unwinds = true } },
	{ "libgcc_s.so.1", "_Unwind_Resume", { 0 } },
	{ "app", "pthread_cancel", { .cancels = true } },
	{ "libc.so.6", "pthread_cancel", { 0 } },
	{ "app", "pthread_exit", { .thread_exits = true } },
	{ "libgomp.so.1", "pthread_exit", { 0 } },
	{ "libglib-2.0.so.0", "pthread_exit", { 0 } },
	{ "app", "g_thread_exit", { .thread_exits = true } },
	{ "app", "swapcontext", { .coroutines = true } },
	{ "libcrypto.so.3", "makecontext", { 0 } },
	{ "libssl.so.3", "ASYNC_start_job", { 0 } },
	{ "nginx", "ASYNC_start_job", { .coroutines = true } },
	{ "app", "make_fcontext", { .coroutines = true } },
	{ "app", "sigaltstack", { .altstack = true } },
	{ "app", "seccomp_load", { .seccomp = true } },
	{ "app", "prctl", { .seccomp = true } },
	{ "java", "JLI_Launch", { .jvm = true } },
	{ "app", "pthread_create", { 0 } },
	{ "app", "_setjmp", { 0 } },
	{ "python3.11", "sigaltstack", { 0 } },
	{ "libpython3.11.so.1.0", "sigaltstack", { 0 } },
	{ "python-daemon", "sigaltstack", { .altstack = true } },
	{ "app", "rust_eh_personality", { .unwinds = true } },
};

static void every_import_tells(void **state)
{
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
		struct target_traits traits = { 0 };

		target_traits_import(&traits, imports[i].object, imports[i].name);
		if (memcmp(&traits, &imports[i].expect, sizeof(traits)) != 0)
			fail_msg("%s in %s", imports[i].name, imports[i].object);
	}
}

static void blocking_functions_have_a_kind_of_the_contract(void **state)
{
	static const char *const kinds[] = { "lock",	"condition-wait", "barrier",
					     "disk-io", "network",	  "pipe",
					     "sleep",	"cpu-wait",	  "unknown" };
	const char *const *names = blocking_names();
	size_t n = 0;

	for (; names[n]; n++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			known |= !strcmp(kinds[k], blocking_kind(names[n]));
		if (!known)
			fail_msg("%s: %s", names[n], blocking_kind(names[n]));
		for (size_t earlier = 0; earlier < n; earlier++)
			assert_string_not_equal(names[earlier], names[n]);
	}
	assert_true(n > 50);
	assert_string_equal(blocking_kind("pthread_mutex_lock"), "lock");
	assert_string_equal(blocking_kind("fsync"), "disk-io");
	assert_string_equal(blocking_kind("read"), "unknown");
	assert_true(blocking_part("__lll_lock_wait"));
	assert_true(blocking_part("__syscall_cancel_arch")); /* under fsync in glibc 2.41 */
	assert_true(blocking_part("__internal_syscall_cancel"));
	assert_false(blocking_part("fsync"));
	assert_true(blocking_by_descriptor("read"));
	assert_false(blocking_by_descriptor("fsync"));
	assert_false(blocking_by_descriptor("work"));
	assert_null(blocking_kind("work"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_decides),
		cmocka_unit_test(every_import_tells),
		cmocka_unit_test(blocking_functions_have_a_kind_of_the_contract),
	};

	return cmocka_run_group_tests_name("exitmech", tests, NULL, NULL);
}
