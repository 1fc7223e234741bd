/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exceptions that pass through traced frames: with a return probe there the unwinder finds the
 * kernel's trampoline and terminates the program. Prints what it caught, traced or not.
 */
#include <cstdio>
#include <stdexcept>
#include <string>

#define TRACED __attribute__((noinline, noipa))

static int destroyed;

struct counted {
	~counted()
	{
		destroyed++;
	}
};

extern "C" TRACED void throw_below(int depth)
{
	counted c;

	if (!depth)
		throw std::runtime_error("thrown");
	throw_below(depth - 1);
}

extern "C" TRACED int catch_above(int i)
{
	try {
		throw_below(i % 7);
	} catch (const std::runtime_error &e) {
		return std::string(e.what()) == "thrown";
	}
	return 0;
}

extern "C" TRACED int no_exception(int i)
{
	return i + 1;
}

int main()
{
	int caught = 0, sum = 0;

	for (int i = 0; i < 1009; i++) {
		caught += catch_above(i);
		sum = no_exception(sum);
	}
	std::printf("caught %d destroyed %d\n", caught, destroyed);
	std::printf("expect block=no_exception calls=%d\nexpect block=catch_above calls=%d\n", sum,
		    caught);
	return 0;
}
