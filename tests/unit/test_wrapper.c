/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which functions are wrappers of a standard library, and how a reader knows those of Rust. */
#include "unit.h"

#include "base/text.h"
#include "trace/meta/wrapper.h"

static void functions_of_standard_libraries(void **state)
{
	static const char *const std[] = {
		"std::sys::unix::futex::futex_wait",
		"<std::sys::sync::mutex::futex::Mutex>::lock_contended",
		"core::ops::function::FnOnce::call_once{{vtable.shim}}",
		"<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
		("<std::thread::spawn_unchecked<app::main::{closure#0}, ()>::{closure#1} as "
		 "core::ops::function::FnOnce<()>>::call_once"),
		"<T as core::convert::Into<U>>::into",
		"alloc::sync::Arc<T,A>::drop_slow",
		"std::condition_variable::wait(std::unique_lock<std::mutex>&)",
		"void std::__invoke_impl<void, void (*)(int), int>(std::__invoke_other)",
		"java.util.concurrent.locks.ReentrantLock.lock()",
		"std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)()> > >::_M_run()",
		"_ZNSt6thread4joinEv",
	};
	static const char *const own[] = {
		"worker",
		"app::core::run",
		"core::Server::run(int)", /* a namespace of C++ */
		"alloc::take(unsigned long)",
		"<app::Bank>::transfer",
		"<alloc::vec::Vec<T> as app::Store>::put",
		"<app::Job as core::ops::drop::Drop>::drop",
		"app::run::<std::vec::Vec<u8>>",
		"std::vector<int, std::allocator<int> > app::take<int>(app::Queue&)",
		"std_wait",
	};

	for (unsigned i = 0; i < sizeof(std) / sizeof(*std); i++)
		assert_true(meta_symbol_in_std(std[i]));
	for (unsigned i = 0; i < sizeof(own) / sizeof(*own); i++)
		assert_false(meta_symbol_in_std(own[i]));
}

static void a_thread_of_rust_begins_with_its_closure(void **state)
{
	static const struct {
		const char *symbol, *name;
	} rows[] = {
		{ "std::sys::backtrace::__rust_begin_short_backtrace::<app::main::{closure#1}, u64>",
		  "app::main::{closure#1}" },
		{ "std::sys::backtrace::__rust_begin_short_backtrace::<fn(), ()>", "a closure" },
		{ "std::sys_common::backtrace::__rust_begin_short_backtrace", "a closure" },
		{ "app::main", "app::main" },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text out = { 0 };

		meta_add_function(rows[i].symbol, &out);
		assert_string_equal(out.s, rows[i].name);
		text_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_standard_libraries),
		cmocka_unit_test(a_thread_of_rust_begins_with_its_closure),
	};

	return unit_run(tests);
}
