// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

// Calls an empty synchronized method N times, or until it is ended; prints how often, and what a
// call took, of time and of the CPU's.
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
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long start = System.nanoTime(), start_cpu = threads.getCurrentThreadCpuTime();

		System.out.println("begins");
		if (sleep_ms == 0)
			busy.run(calls);
		for (long i = 0; sleep_ms > 0 && i < calls; i++) {
			busy.run(100);
			Thread.sleep(sleep_ms);
		}
		System.out.println("calls step " + calls);
		System.err.println("ns a call " + Math.round((double) (System.nanoTime() - start) / calls));
		System.err.println("CPU ns a call " + Math.round((double) (threads.getCurrentThreadCpuTime() - start_cpu) / calls));
	}
}
