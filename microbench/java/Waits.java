// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.SynchronousQueue;

/*
 * Synchronized methods for whose monitors nobody waits, of each of which every third execution waits for
 * something else: an answer from a socket, another thread, a time to pass. In crunch() more threads run than the
 * machine has CPUs, each with an object of its own.
 */
public class Waits {
	private static final int RUNS = 153, WAIT_MS = 4;
	private final SynchronousQueue<Integer> handed = new SynchronousQueue<>();
	private InputStream in;
	private OutputStream out;
	private long sum;

	private static boolean waits(int k) {
		return k % 3 == 2;
	}

	synchronized int receive(int k) throws IOException {
		if (!waits(k))
			return k;
		out.write(k);
		return in.read();
	}

	synchronized int take(int k) throws InterruptedException {
		return waits(k) ? handed.take() : k;
	}

	synchronized void pause(int k) throws InterruptedException {
		if (waits(k))
			Thread.sleep(WAIT_MS);
	}

	synchronized long crunch() {
		for (int i = 0; i < 2_000_000; i++)
			sum = sum * 31 + i;
		return sum;
	}

	private static void answer(ServerSocket server) {
		try (Socket s = server.accept()) {
			for (int c; (c = s.getInputStream().read()) >= 0;) {
				Thread.sleep(WAIT_MS);
				s.getOutputStream().write(c);
			}
		} catch (IOException | InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	private void hand() {
		try {
			for (int k = 0; k < RUNS; k++)
				if (waits(k)) {
					Thread.sleep(WAIT_MS);
					handed.put(k);
				}
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	private static Thread start(String name, Runnable run) {
		Thread t = new Thread(run, name);

		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[4 * Runtime.getRuntime().availableProcessors()];
		ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
		Thread answers = start("answers", () -> answer(server));
		Waits w = new Waits();

		try (Socket s = new Socket(server.getInetAddress(), server.getLocalPort())) {
			w.in = s.getInputStream();
			w.out = s.getOutputStream();
			for (int k = 0; k < RUNS; k++)
				w.receive(k);
		}
		answers.join();
		Thread hands = start("hands", w::hand);
		for (int k = 0; k < RUNS; k++)
			w.take(k);
		hands.join();
		for (int k = 0; k < RUNS; k++)
			w.pause(k);
		for (int i = 0; i < threads.length; i++)
			threads[i] = start("crunch-" + i, () -> {
				Waits own = new Waits();

				for (int k = 0; k < RUNS; k++)
					own.crunch();
			});
		for (Thread t : threads)
			t.join();
	}
}
