// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.ArrayList;
import java.util.List;

// Executions of a synchronized method of which the 500th has the collector run in it, with enough
// alive that it takes its time; and one that finds its monitor taken.
class Pauses {
	static final List<byte[]> alive = new ArrayList<>();
	static volatile boolean held;

	static synchronized int step(int k) {
		if (k == 500)
			System.gc();
		return k + 1;
	}

	// Its thread holds the monitor until the other one waits for it.
	static synchronized void hold(Thread other) throws InterruptedException {
		held = true;
		while (other.getState() != Thread.State.BLOCKED)
			Thread.sleep(1);
	}

	static synchronized void take() {
		held = false;
	}

	public static void main(String[] args) throws InterruptedException {
		Thread other = new Thread(() -> {
			while (!held)
				Thread.onSpinWait();
			take();
		}, "other");

		for (int i = 0; i < 200000; i++)
			alive.add(new byte[64]);
		for (int k = 0; k < 1009; k++)
			step(k);
		other.start();
		hold(other);
		other.join();
	}
}
