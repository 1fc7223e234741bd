// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.function.IntUnaryOperator;

// Synchronized methods and blocks of every kind, called a known number of times: instance, static,
// recursive, left by exceptions, with switches and loops, in lambdas, nested classes and
// interfaces; some that cannot be recorded. Prints the calls of each.
class Exact {
	static final int N = 1009;
	private final Object lock = new Object();
	private int sum;

	interface Shape {
		int area(int side);

		default int twice(int side) {
			synchronized (this) {
				return 2 * area(side);
			}
		}
	}

	static class Square implements Shape {
		@Override public synchronized int area(int side) {
			return side * side;
		}
	}

	// A block in a constructor, which itself cannot be synchronized.
	static class Made {
		private final int k;

		Made(Exact exact, int k) {
			this.k = k;
			synchronized (exact) {
				exact.sum += this.k;
			}
		}
	}

	synchronized int add(int k) {
		return sum += k;
	}

	static synchronized long both(long a, double b, String[] names, int[][] table) {
		return a + (long) b + names.length + table.length;
	}

	synchronized int descend(int depth) {
		return depth == 0 ? 0 : 1 + descend(depth - 1);
	}

	synchronized void fail(int k) {
		if (k % 3 == 0)
			throw new IllegalStateException("on purpose");
		sum++;
	}

	synchronized String choose(int k) {
		switch (k % 5) {
		case 0: return "none";
		case 1: return "one";
		case 2:
			try {
				return Integer.toString(Integer.parseInt("x" + k));
			} catch (NumberFormatException e) {
				return "two";
			} finally {
				sum++;
			}
		default: break;
		}
		switch ("k" + k % 7) {
		case "k1": return "a";
		case "k6": return "b";
		default: return new StringBuilder().append(k).toString();
		}
	}

	int blocks(int k) {
		synchronized (lock) {
			if (k % 2 == 0)
				return 0;
			synchronized (this) {
				sum++;
			}
		}
		return 1;
	}

	synchronized static native void machineCode();

	// Not synchronized.
	int plain(int k) {
		return k + 1;
	}

	void round(int k) {
		IntUnaryOperator inside = x -> {
			synchronized (lock) {
				return x + 1;
			}
		};

		add(k);
		both(k, k, new String[k % 3], new int[2][2]);
		descend(10);
		choose(k);
		blocks(k);
		plain(inside.applyAsInt(k));
		new Square().twice(k);
		new Made(this, k);
		try {
			fail(k);
		} catch (IllegalStateException e) {
			plain(k);
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int n = args.length > 0 ? Integer.parseInt(args[0]) : 1, rounds = args.length > 1
				? Integer.parseInt(args[1]) : N;
		Thread[] threads = new Thread[n];
		Exact exact = new Exact();

		for (int i = 0; i < n; i++) {
			threads[i] = new Thread(() -> {
				for (int k = 0; k < rounds; k++)
					exact.round(k);
			}, "worker-" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
		for (String one : new String[] { "add", "both", "choose", "fail", "area", "twice", "outer",
				"lambda", "made" })
			System.out.println("calls " + one + " " + n * rounds);
		System.out.println("calls descend " + 11 * n * rounds);
		System.out.println("calls inner " + n * (rounds / 2));
		System.exit(args.length > 2 ? Integer.parseInt(args[2]) : 0);
	}
}
