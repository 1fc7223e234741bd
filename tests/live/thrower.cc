// SPDX-License-Identifier: GPL-3.0-or-later
/* Exceptions that leave three frames, in a third of the calls. Prints their sum. */
#include <cstdio>
#include <stdexcept>

#define TRACED extern "C" __attribute__((noinline, noclone, used, aligned(64)))

struct counted {
	int *p;
	~counted()
	{
		++*p;
	}
};

TRACED int thrower(int n)
{
	volatile int s = n;

	if (n % 3 == 0)
		throw std::runtime_error("a third");
	return s;
}

TRACED int middle(int n, int *destroyed)
{
	volatile long room[4] = { n };
	counted c{ destroyed };

	return thrower(n) + static_cast<int>(room[0]);
}

TRACED int outer(int n, int *destroyed)
{
	volatile long room[4] = { n };

	try {
		return middle(n, destroyed) + static_cast<int>(room[0]);
	} catch (std::exception &) {
		return -1;
	}
}

int main()
{
	long sum = 0;
	int destroyed = 0;

	for (int i = 0; i < 3001; i++)
		sum += outer(i, &destroyed);
	printf("%ld %d\n", sum, destroyed);
	return 7;
}
