/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding through traced frames that is not a C++ exception of the program's own: one of a
 * foreign language (as a Rust panic is), a forced one, and what libc does for pthread_exit and
 * pthread_cancel. Destructors must run in each. Prints what it saw, traced or not.
 */
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unwind.h>

#define TRACED __attribute__((noinline, noipa))

static int destroyed, caught;
static volatile int always = 1; /* what never returns is not seen to be endless */

struct counted {
	~counted()
	{
		destroyed++;
	}
};

static _Unwind_Exception exception;

static void forget(_Unwind_Reason_Code, _Unwind_Exception *)
{
}

extern "C" TRACED void raise_foreign(int depth)
{
	counted c;

	if (!depth) {
		exception.exception_class = 0x4d4f5a0052555354; /* "MOZ\0RUST" */
		exception.exception_cleanup = forget;
		_Unwind_RaiseException(&exception);
		std::abort();
	}
	if (always)
		raise_foreign(depth - 1);
}

extern "C" TRACED void catch_foreign(int depth)
{
	try {
		raise_foreign(depth);
	} catch (...) {
		caught++;
	}
}

static void *stop_frame;

static _Unwind_Reason_Code stop(int, _Unwind_Action, _Unwind_Exception_Class, _Unwind_Exception *,
				_Unwind_Context *context, void *arg)
{
	if (_Unwind_GetCFA(context) > (_Unwind_Word)stop_frame) {
		caught++;
		__builtin_longjmp((void **)arg, 1);
	}
	return _URC_NO_REASON;
}

extern "C" TRACED void force_unwind(int depth, void **jump)
{
	counted c;

	if (!depth) {
		_Unwind_ForcedUnwind(&exception, stop, jump);
		std::abort();
	}
	if (always)
		force_unwind(depth - 1, jump);
}

static __attribute__((noinline)) void forced_once()
{
	void *jump[5];
	volatile char here;

	stop_frame = (void *)&here;
	if (!__builtin_setjmp(jump))
		force_unwind(3, jump);
}

extern "C" TRACED void exit_inside(int depth)
{
	counted c;

	if (!depth)
		pthread_exit(nullptr);
	if (always)
		exit_inside(depth - 1);
}

static pthread_barrier_t ready;

extern "C" TRACED void cancelled_inside(int depth)
{
	counted c;

	if (!depth) {
		pthread_barrier_wait(&ready);
		for (;;)
			pthread_testcancel();
	}
	if (always)
		cancelled_inside(depth - 1);
}

static void *exiting_thread(void *)
{
	exit_inside(3);
	return nullptr;
}

static void *cancelled_thread(void *)
{
	cancelled_inside(3);
	return nullptr;
}

static void say(const char *block, int calls)
{
	std::printf("expect block=%s calls=%d\n", block, calls);
}

int main()
{
	const int rounds = 101;
	pthread_t thread;

	pthread_barrier_init(&ready, nullptr, 2);
	for (int i = 0; i < rounds; i++) {
		catch_foreign(3);
		forced_once();
		pthread_create(&thread, nullptr, exiting_thread, nullptr);
		pthread_join(thread, nullptr);
		pthread_create(&thread, nullptr, cancelled_thread, nullptr);
		pthread_barrier_wait(&ready);
		pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	std::printf("caught %d destroyed %d\n", caught, destroyed);
	say("raise_foreign", 4 * rounds);
	say("catch_foreign", rounds);
	say("force_unwind", 4 * rounds);
	say("exit_inside", 4 * rounds);
	say("cancelled_inside", 4 * rounds);
	return 0;
}
