// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Threads that wait for monitors: three queue for the one of an object, whose method enters it a second time, and
 * each takes that of an object of its own, for which nobody waits. Before that one thread waits once for an object
 * that another one has in a block, once for a class, and once for an object in which a further thread waits for
 * something else meanwhile. What the program's own clock says of each is printed: "waited", in ns, "queued",
 * the waits of a millisecond or more, and "held".
 */
public class Monitors {
	private static final int HOLD_MS = 3, LONG_MS = 100;
	private static final Object shelf = new Object();
	private static final Room room = new Room();
	private static volatile boolean holds;
	private static final long[] waited = new long[5], queued = new long[5], held = new long[5];

	private static synchronized void note(int of, long ns) {
		waited[of] += ns;
		queued[of] += ns >= 1_000_000 ? 1 : 0;
	}

	private static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	// Until that thread waits for what this one holds, and for a while.
	private static void hold(int of, Thread other) {
		holds = true;
		while (other.getState() != Thread.State.BLOCKED)
			Thread.onSpinWait();
		long since = System.nanoTime();
		pause(LONG_MS);
		held[of] = System.nanoTime() - since;
	}

	static class Store {
		private final int of;

		Store(int of) {
			this.of = of;
		}

		synchronized long put() {
			long since = System.nanoTime();

			again();
			pause(of == 0 ? HOLD_MS : 1);
			return since;
		}

		synchronized void again() {
			pause(1);
		}
	}

	static class Room {
		volatile boolean rests;

		synchronized void rest() {
			rests = true;
			try {
				while (rests)
					wait();
			} catch (InterruptedException e) {
				throw new RuntimeException(e);
			}
		}

		synchronized void occupy(Thread other) {
			hold(4, other);
			rests = false;
			notifyAll();
		}

		synchronized long enter() {
			return System.nanoTime();
		}
	}

	static synchronized long fetchClass() {
		return System.nanoTime();
	}

	static synchronized void keepClass(Thread other) {
		hold(3, other);
	}

	static long fetch() {
		synchronized (shelf) {
			return System.nanoTime();
		}
	}

	static void keep(Thread other) {
		synchronized (shelf) {
			hold(2, other);
		}
	}

	private interface Taking {
		long take();
	}

	private interface Keeping {
		void keep(Thread other);
	}

	// One wait, of the thread named so, for what the main thread holds.
	private static void once(int of, Keeping keeping, Taking taking) throws InterruptedException {
		Thread waits = new Thread(() -> {
			while (!holds)
				Thread.onSpinWait();
			long before = System.nanoTime();
			note(of, taking.take() - before);
		}, "visitor-" + of);

		holds = false;
		waits.start();
		keeping.keep(waits);
		waits.join();
	}

	private static void work(Store hot, int rounds) {
		Store own = new Store(1);

		for (int i = 0; i < rounds; i++) {
			long before = System.nanoTime();
			note(0, hot.put() - before);
			before = System.nanoTime();
			note(1, own.put() - before);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 53;
		Thread[] threads = new Thread[3];
		Thread rests = new Thread(room::rest, "rests");
		Store hot = new Store(0);
		String[] names = { "hot", "own", "shelf", "class", "room" };

		once(2, Monitors::keep, Monitors::fetch);
		once(3, Monitors::keepClass, Monitors::fetchClass);
		rests.start();
		while (!room.rests)
			Thread.onSpinWait();
		once(4, room::occupy, room::enter);
		rests.join();
		for (int i = 0; i < threads.length; i++)
			(threads[i] = new Thread(() -> work(hot, rounds), "worker-" + i)).start();
		for (Thread t : threads)
			t.join();
		for (int i = 0; i < names.length; i++)
			System.out.println("monitor " + names[i] + " waited " + waited[i] + " queued " + queued[i] +
				" held " + held[i]);
	}
}
