// SPDX-License-Identifier: GPL-3.0-or-later

// Behavior G of the Iceberg paper: getters and setters that are synchronized and do next to nothing, beside a
// method that does some work. Their executions diverge by what the machine does meanwhile.
public class Accessors {
	private static final int RUNS = 200_003;
	private long value;

	synchronized long get() {
		return value;
	}

	synchronized void set(long v) {
		value = v;
	}

	synchronized long work() {
		for (int i = 0; i < 30_000; i++)
			value = value * 31 + i;
		return value;
	}

	public static void main(String[] args) {
		Accessors a = new Accessors();

		for (int i = 0; i < RUNS; i++)
			a.set(a.get() + i);
		for (int i = 0; i < RUNS / 100; i++)
			a.work();
		System.out.println("sum " + a.get());
	}
}
