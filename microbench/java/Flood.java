// SPDX-License-Identifier: GPL-3.0-or-later

// One thread calls an empty synchronized method until the other has made N calls that last 2 ms each, of
// another one: where the first loses records, the second does not. Prints the calls of each.
class Flood {
	private static volatile boolean over;
	private static long fast;

	static synchronized void quick() {
		fast++;
	}

	static class Slow {
		synchronized void step() throws InterruptedException {
			Thread.sleep(2);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int calls = Integer.parseInt(args[0]);
		Slow slow = new Slow();
		Thread flood = new Thread(() -> {
			while (!over)
				quick();
		}, "flood");

		flood.start();
		for (int i = 0; i < calls; i++)
			slow.step();
		over = true;
		flood.join();
		System.out.println("calls quick " + fast);
		System.out.println("calls step " + calls);
	}
}
