/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounds of four threads, of which one has a longer loop, inlined into its caller; the argument
 * says how the program ends, or goes on. In a folder of its own: it counts its edges. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
static pthread_barrier_t barrier;
static volatile unsigned long out[8 * 8];
static inline unsigned long steps(unsigned long n)
{
	unsigned long sum = 0;
	while (n != 1) { // planted
		n = n % 2 ? 3 * n + 1 : n / 2;
		sum++;
	}
	return sum;
}
static void *run(void *arg)
{
	unsigned me = (unsigned)(long)arg;
	std::vector<unsigned long> v;
	pthread_barrier_wait(&barrier);
	for (int r = 0; r < 401; r++) {
		v.assign(20, r);
		std::sort(v.begin(), v.end());
		for (unsigned i = 0; i < 300; i++)
			out[me * 8] += steps(me == 2 ? 27 : me == 1 ? 9 : 5);
		pthread_barrier_wait(&barrier);
	}
	return nullptr;
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t t[4];
	if (!strcmp(how, "fork") && fork())
		wait(nullptr); // then it does the same itself
	pthread_barrier_init(&barrier, nullptr, 4);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], nullptr, run, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], nullptr);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "signal"))
		raise(SIGKILL);
	if (!strcmp(how, "exec"))
		execl("/proc/self/exe", "again", (char *)nullptr);
}
