// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites in C++: a template's two instances and a member function, under an exception's way.
#include <cstdio>
#include <stdexcept>

static volatile unsigned long work;

struct Cache {
	__attribute__((noinline)) void get(unsigned n)
	{
		work = work + n;
		if (n == 1)
			throw std::runtime_error("none");
	}
};

template <class T> __attribute__((noinline)) void use(Cache &c, T n)
{
	c.get(n);
	work = work + 1;
}

int main()
{
	Cache c;

	for (unsigned i = 0; i < 501; i++) {
		use<int>(c, 7);
		use<long>(c, 9);
		use<long>(c, 11);
		try {
			use<short>(c, 1);
		} catch (const std::runtime_error &) {
			work = work + 1;
		}
	}
	std::printf("done\n");
}
