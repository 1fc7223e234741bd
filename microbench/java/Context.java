// SPDX-License-Identifier: GPL-3.0-or-later

// Executions of a synchronized method that two others call: those from rare() are long, five of 1009, and
// a sixth to which it comes by reflection.
class Context {
	static synchronized int step(long sleep_ms) throws InterruptedException {
		if (sleep_ms > 0)
			Thread.sleep(sleep_ms);
		return 1;
	}

	static void quick() throws InterruptedException {
		step(0);
	}

	static void rare() throws InterruptedException {
		step(30);
	}

	public static void main(String[] args) throws Exception {
		for (int k = 0; k < 1009; k++)
			if (k % 200 == 100)
				rare();
			else
				quick();
		Context.class.getDeclaredMethod("rare").invoke(null);
	}
}
