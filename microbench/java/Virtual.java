// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.reflect.Method;

// Virtual threads (Java 21 and later), more than there are carriers. sleeps() is left by its carrier, which
// takes up others meanwhile: no execution of it is shorter than its sleep. quick() is not.
class Virtual {
	static final int THREADS = 97, ROUNDS = 11, SLEEP_MS = 20;
	private int n;

	static void sleeps() throws InterruptedException {
		Thread.sleep(SLEEP_MS);
	}

	synchronized void quick() {
		n++;
	}

	static void all() {
		Virtual own = new Virtual();

		try {
			for (int i = 0; i < ROUNDS; i++) {
				own.quick();
				sleeps();
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
		Thread[] threads = new Thread[THREADS];

		for (int i = 0; i < THREADS; i++)
			threads[i] = (Thread) start.invoke(null, (Runnable) Virtual::all);
		for (Thread t : threads)
			t.join();
		System.out.println("calls quick " + THREADS * ROUNDS);
		System.out.println("calls sleeps " + THREADS * ROUNDS);
	}
}
