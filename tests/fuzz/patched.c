// SPDX-License-Identifier: GPL-3.0-or-later
/* What compilers make of functions, as seeds for fuzz_patch.c. Nobody runs it. */
typedef int (*step_fn)(int);

int sum_of(const int *numbers, int n);
int choose(int kind, int value);
int pass_on(int value);
int call_any(int which, int value);
int rarely(int value);

__attribute__((cold, noinline)) static int give_up(int value)
{
	return value * 7 - 1;
}

int sum_of(const int *numbers, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += numbers[i] * i;
	return sum;
}

int choose(int kind, int value)
{
	switch (kind) {
	case 0:
		return value + 3;
	case 1:
		return value * value;
	case 2:
		return pass_on(value) + 1;
	case 3:
		return value / 3;
	case 4:
		return give_up(value) ^ 5;
	case 5:
		return value << 3;
	}
	return 0;
}

int pass_on(int value)
{
	return choose(value & 7, value + 1);
}

static step_fn const steps[] = { pass_on, rarely };

int call_any(int which, int value)
{
	return steps[which & 1](value);
}

int rarely(int value)
{
	if (__builtin_expect(value < 0, 0))
		return give_up(value);
	return value ? value + 2 : 0;
}
