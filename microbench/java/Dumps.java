// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.concurrent.CountDownLatch;

// Executions of a synchronized method; in the 500th of each round all threads are stopped again and
// again, though no garbage is collected: their stacks are looked at. Does N rounds (1).
class Dumps {
	static synchronized int step(int k) {
		if (k == 500)
			for (int i = 0; i < 20; i++)
				Thread.getAllStackTraces();
		return k + 1;
	}

	static void sleepAtDepth(int depth, CountDownLatch there) {
		if (depth > 0) {
			sleepAtDepth(depth - 1, there);
			return;
		}
		there.countDown();
		try {
			Thread.sleep(1000000);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
		CountDownLatch there = new CountDownLatch(20);

		for (int i = 0; i < 20; i++) {
			Thread thread = new Thread(() -> sleepAtDepth(200, there));
			thread.setDaemon(true);
			thread.start();
		}
		there.await();
		for (int round = 0; round < rounds; round++) {
			for (int k = 0; k < 1009; k++)
				step(k);
			Thread.sleep(rounds > 1 ? 20 : 0);
		}
	}
}
