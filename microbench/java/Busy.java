// SPDX-License-Identifier: GPL-3.0-or-later

// Calls an empty synchronized method N times, or until it is ended; prints how often, and what a
// call took.
class Busy {
	private int n;

	synchronized void step() {
		n++;
	}

	void run(long calls) {
		for (long i = 0; i < calls; i++)
			step();
	}

	public static void main(String[] args) throws InterruptedException {
		long calls = Long.parseLong(args[0]), sleep_ms = args.length > 1 ? Long.parseLong(args[1]) : 0;
		Busy busy = new Busy();
		long start = System.nanoTime();

		System.out.println("begins");
		if (sleep_ms == 0)
			busy.run(calls);
		for (long i = 0; sleep_ms > 0 && i < calls; i++) {
			busy.run(100);
			Thread.sleep(sleep_ms);
		}
		System.out.println("calls step " + calls);
		System.err.println("ns a call " + Math.round((double) (System.nanoTime() - start) / calls));
	}
}
