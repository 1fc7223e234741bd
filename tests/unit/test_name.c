// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>

#include "unit.h"

#include "symbol/name.h"
#include "base/text.h"

static const char *const names[][2] = {
	{ "cache_evict", "cache_evict" },
	{ "f(int, char const*)", "f" },
	{ "void rocksdb::SkipList<Key const&>::Insert<false>(char const*, bool)",
	  "rocksdb::SkipList<>::Insert<>" },
	{ "v8::Object v8::FutexEmulation::WaitSync<(v8::Mode)0>(v8::Isolate*) [clone .isra.0]",
	  "v8::FutexEmulation::WaitSync<>" },
	{ "std::enable_if<(A<int>)1, int>::type ns::f<int>(int) const", "ns::f<>" },
	{ "(anonymous namespace)::Pool::get(int)", "(anonymous namespace)::Pool::get" },
	{ "std::to_string[abi:cxx11](int)", "std::to_string" },
	{ "decltype(auto) ns::visit<int>(int)", "ns::visit<>" },
	{ "std::function<void (int)>::operator()(int) const", "std::function<>::operator()" },
	{ "bool std::operator< <int>(std::pair<int> const&)", "std::operator< <>" },
	{ "std::ostream& operator<<(std::ostream&, int)", "operator<<" },
	{ "A::operator->() const", "A::operator->" },
	{ "A::operator unsigned int() const", "A::operator unsigned int" },
	{ "operator new(unsigned long)", "operator new" },
	{ "A::operator[](int)", "A::operator[]" },
	{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()" },
	{ "run(int)::{lambda()#2}::operator()() const", "run::{lambda()#2}::operator()" },
	{ "auto f<int>(int)::{lambda(auto:1)#1}::operator()<int>(int) const",
	  "f<>::{lambda(auto:1)#1}::operator()<>" },
	{ "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
	  "std::sys::sync::mutex::futex::Mutex::lock_contended" },
	{ "<app::Lru<T,A> as core::ops::drop::Drop>::drop", "app::Lru<>::drop" },
	{ "<&mut F as core::ops::function::FnOnce<A>>::call_once", "F::call_once" },
	{ "core::fmt::num::<impl core::fmt::Debug for i32>::fmt", "core::fmt::num::i32::fmt" },
	{ "<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
	  "alloc::boxed::Box<>::call_once" },
	{ "<std::sync::mpmc::list::Channel<u64>>::recv in <app::Pool<u8>>::run",
	  "std::sync::mpmc::list::Channel<>::recv in app::Pool<>::run" },
	{ "[<app::Bank>::transfer]", "[app::Bank::transfer]" },
	{ "app::map::<fn(u8) -> u8, 3>::apply", "app::map::apply" },
	{ "app::sum::<u32>", "app::sum" },
	{ "app::main::{closure#0}", "app::main::{closure#0}" },
	/* what a thread of libstdc++ runs */
	{ "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run()",
	  "main::{lambda()#1}" },
	{ "std::thread::_State_impl<std::thread::_Invoker<std::tuple<ns::Pool<int>::Pool(int)::{lambda("
	  "unsigned long)#2}, unsigned long> > >::_M_run()",
	  "ns::Pool<>::Pool::{lambda(unsigned long)#2}" },
	{ "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int> > >::_M_run()",
	  "std::thread::_State_impl<>::_M_run" },
	/* chains of callers, and places */
	{ "Map<int, long>::get(int const&) const in worker(void*)", "Map<>::get in worker" },
	{ "f(int) const in g(char) in main", "f in g in main" },
	{ "[f(int) in g(char)]", "[f in g]" },
	{ "lock(int) in app+0xc73f, at x", "lock in app+0xc73f, at x" },
	{ "f(int), at x", "f, at x" },
	/* what is no name of a function */
	{ "libz.so.1 (no symbols)", "libz.so.1 (no symbols)" },
	{ "<unknown>", "<unknown>" },
	{ "step a -> step b", "step a -> step b" },
	{ "a < b in c", "a < b in c" },
	{ "main.(*Server).Serve", "main.(*Server).Serve" },
	{ "net/http.(*conn).serve in main.main", "net/http.(*conn).serve in main.main" },
	{ "f(unclosed", "f(unclosed" },
	{ "f(int))", "f(int))" },
	{ "(", "(" },
	{ ">", ">" },
	{ "<>", "<>" },
	{ "[", "[" },
	{ "operator", "operator" },
	{ "operator ", "operator " },
	{ "", "" },
};

static void shortens_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct text out = { 0 };

		name_add_short(&out, names[i][0]);
		assert_string_equal(out.n ? out.s : "", names[i][1]);
		text_release(&out);
	}
}

static void is_brief_in_columns(void **state)
{
	char buf[4 * 24 + 1];

	(void)state;
	assert_string_equal(name_brief(buf, sizeof(buf), "f(int)", 24), "f");
	assert_string_equal(text_shortened(buf, sizeof(buf), "f(int)", 24), "f(int)");
	assert_string_equal(
		name_brief(buf, sizeof(buf), "ns::Handler::update(char const*, long)", 24),
		"ns::Handler::update");
	/* A sequence of functions is no name. */
	assert_string_equal(text_shortened(buf, sizeof(buf), "ns::lock(int) ns::unlock(int)", 24),
			    "ns::lock(in..unlock(int)");
}

/* n times `begin`, then `end`. */
static char *repeated(const char *begin, size_t n, const char *end)
{
	struct text s = { 0 };

	while (n--)
		text_add(&s, begin);
	text_add(&s, end);
	return s.s;
}

static void hostile_names_take_no_time(void **state)
{
	static const char *const parts[] = { "(",	  "<",	   "f()::", "<<<a>::f>::f",
					     "operator ", "<f in " };

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (size_t n = 100; n <= 100000; n *= 10) {
			char *name = repeated(parts[i], n, "x");
			struct text out = { 0 };

			for (int k = 0; k < 20; k++)
				name_add_short(&out, name);
			assert_true(out.n);
			text_release(&out);
			free(name);
		}
}

static void types_in_types_end(void **state)
{
	struct text out = { 0 };
	char *opened = repeated("<", 300, "a"), *closed = repeated(">::f", 300, ""), *name;

	(void)state;
	text_printf(&out, "%s%s", opened, closed);
	name = out.s;
	out = (struct text){ 0 };
	name_add_short(&out, name);
	assert_true(out.n > 0);
	text_release(&out);
	free(opened);
	free(closed);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortens_names),
		cmocka_unit_test(is_brief_in_columns),
		cmocka_unit_test(hostile_names_take_no_time),
		cmocka_unit_test(types_in_types_end),
	};

	return unit_run(tests);
}
