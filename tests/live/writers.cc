// SPDX-License-Identifier: GPL-3.0-or-later
// A queue of writers as LevelDB's: a mutex and a queue of writers, each with a condition variable
// of its own. The one at the front writes for all who queue by then, outside the mutex, then tells
// them that it is done, and the next one that it is its turn. Beside them a pool of workers that
// get nothing to do. Takes how many writers there are, how often each writes, how many workers, and
// anything for writes that reach the disk. Prints what is true: how often writers wrote, and how
// often one waited.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#define TRACED __attribute__((noinline, noclone))

static volatile unsigned long work;

struct Writer {
	std::condition_variable turn;
	bool done = false;
};

class Log
{
      public:
	explicit Log(bool sync) : sync_(sync), file_(std::tmpfile())
	{
	}
	TRACED void append(long records)
	{
		char record[100] = {};

		for (long i = 0; i < 200000 + 2000 * records; i++)
			work = work + i;
		for (long i = 0; sync_ && i < records; i++)
			if (write(fileno(file_), record, sizeof(record)) < 0)
				std::abort();
		if (sync_ && fdatasync(fileno(file_)))
			std::abort();
	}

      private:
	bool sync_;
	FILE *file_;
};

class Db
{
      public:
	explicit Db(bool sync) : log_(sync)
	{
	}
	TRACED void put()
	{
		Writer w;
		std::unique_lock<std::mutex> lock(mutex_);

		writers_.push_back(&w);
		writes_++;
		if (&w != writers_.front())
			waits_++;
		while (!w.done && &w != writers_.front())
			w.turn.wait(lock);
		if (w.done)
			return;
		batch(lock, writers_.size());
	}
	unsigned long writes_ = 0, waits_ = 0, batches_ = 0;

      private:
	void batch(std::unique_lock<std::mutex> &lock, size_t n)
	{
		batches_++;
		lock.unlock();
		log_.append(n);
		lock.lock();
		for (size_t i = 0; i < n; i++) {
			Writer *w = writers_.front();

			writers_.pop_front();
			w->done = true;
			if (i)
				w->turn.notify_one();
		}
		if (!writers_.empty())
			writers_.front()->turn.notify_one();
	}
	std::mutex mutex_;
	std::deque<Writer *> writers_;
	Log log_;
};

class Pool
{
      public:
	explicit Pool(unsigned n)
	{
		while (n--)
			threads_.emplace_back([this] { park(); });
	}
	~Pool()
	{
		{
			std::lock_guard<std::mutex> lock(mutex_);
			stop_ = true;
		}
		filled_.notify_all();
		for (auto &t : threads_)
			t.join();
	}

      private:
	TRACED void park()
	{
		std::unique_lock<std::mutex> lock(mutex_);

		while (!stop_)
			filled_.wait(lock);
	}
	std::mutex mutex_;
	std::condition_variable filled_;
	std::vector<std::thread> threads_;
	bool stop_ = false;
};

static void prepare()
{
	for (unsigned i = 0; i < 20000; i++)
		work = work + i;
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 1 ? std::atoi(argv[1]) : 6,
		 n = argc > 2 ? std::atoi(argv[2]) : 601,
		 parked = argc > 3 ? std::atoi(argv[3]) : 4;
	Db db(argc > 4);
	Pool pool(parked);
	std::vector<std::thread> writers;

	for (unsigned i = 0; i < threads; i++)
		writers.emplace_back([&db, n] {
			for (unsigned k = 0; k < n; k++) {
				prepare();
				db.put();
			}
		});
	for (auto &w : writers)
		w.join();
	std::printf("expect block=Db::put() calls=%lu\n", db.writes_);
	std::printf("expect block=Log::append(long) calls=%lu\n", db.batches_);
	std::printf("waits %lu\n", db.waits_);
}
