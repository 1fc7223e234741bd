// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Stack;
import java.util.concurrent.SynchronousQueue;
import java.util.stream.IntStream;

// The fifteen microbenchmarks of the Iceberg paper (section 3.4.1), each a synchronized method that is
// executed N times. Where an execution is long by what it does, by memory that is new, a list or map
// that is made anew, a slow path, another thread's lock or a reply that is late, the program says so.
// It stamps each execution itself, around the call, with the clock that the agent uses:
//
//	run NAME INDEX NS RARE
class Variability {
	static final int N = 300;
	static long slow = 30_000_000; // ns, of what is made slow
	static volatile Object sink;
	static volatile long number;

	interface Body {
		void run(int k);
	}

	static void spin(long ns) {
		long end = System.nanoTime() + ns;

		while (System.nanoTime() < end)
			number++;
	}

	static void runs(String name, int[] rare, Body body) {
		runs(name, rare, body, k -> { });
	}

	static void runs(String name, int[] rare, Body body, Body before) {
		long[] ns = new long[N];

		for (int k = 0; k < N; k++) {
			long start;

			before.run(k);
			start = System.nanoTime();

			body.run(k);
			ns[k] = System.nanoTime() - start;
		}
		for (int k = 0; k < N; k++) {
			int at = k;

			System.out.println("run " + name + " " + k + " " + ns[k] + " "
					+ (Arrays.stream(rare).anyMatch(i -> i == at) ? 1 : 0));
		}
	}

	// ---- M1 to M15 ----

	static final int ADDED = 8192, PUT = 2048; // elements an execution
	final int[] none = {};
	final List<Integer> list = new ArrayList<>();
	final Map<Integer, Integer> map = new HashMap<>();
	final LinkedList<Integer> linked = new LinkedList<>();
	final Stack<Integer> stack = new Stack<>();
	int[] array;
	final List<List<Integer>> lists = new ArrayList<>();
	final Random random = new Random(1);
	final Object inner = new Object();
	String text = "";
	int[] grown = new int[8];
	int n;

	synchronized void arithmetic(int k) {
		for (int i = 1; i < 200; i++)
			number += k * i / 3;
	}

	// A list whose array is made anew, half as large again, when it is full.
	synchronized void appendToList(int k) {
		for (int i = 0; i < ADDED; i++)
			list.add(0);
	}

	// Those in which an array of more than 200,000 is copied: what it takes is told from the rest.
	static int[] listGrows() {
		return IntStream.range(0, N).filter(k -> {
			for (long room = 10; room <= (long) ADDED * (k + 1); room += room >> 1)
				if (room >= (long) ADDED * k && room < (long) ADDED * (k + 1) && room > 200_000)
					return true;
			return false;
		}).toArray();
	}

	// A map whose table is made anew, twice as large, when three quarters are full.
	synchronized void hashMap(int k) {
		for (int i = 0; i < PUT; i++)
			map.put(k * PUT + i, 0);
		map.remove(k * PUT);
	}

	static int[] mapGrows() {
		return IntStream.range(0, N).filter(k -> {
			for (long room = 1 << 17; room <= 1 << 20; room *= 2) {
				long full = room / 4 * 3, before = (long) (PUT - 1) * k;

				if (full >= before && full < before + PUT)
					return true;
			}
			return false;
		}).toArray();
	}

	// The paper's is slow where the heap makes it so; here two executions allocate more.
	synchronized void allocate(int k) {
		if (k == 100 || k == 200)
			for (int i = 0; i < 60; i++)
				sink = new byte[4 << 20];
		else
			sink = new byte[64];
	}

	synchronized void appendString(int k) {
		text = k % 50 == 0 ? "" : text + k;
	}

	synchronized void sortLinkedList(int k) {
		linked.clear();
		for (int i = 0; i < 64; i++)
			linked.add(random.nextInt());
		Collections.sort(linked);
	}

	// Of various sizes: two are large.
	synchronized void sortArray(int k) {
		int[] a = new int[k == 90 || k == 210 ? 600_000 : 64];

		for (int i = 0; i < a.length; i++)
			a[i] = random.nextInt();
		Arrays.sort(a);
	}

	synchronized void stack(int k) {
		stack.push(k);
		if (k % 3 == 0)
			stack.pop();
	}

	// The first one makes the array.
	synchronized void locality(int k) {
		if (array == null)
			array = new int[4 << 20];
		for (int i = 0; i < 1 << 16; i += 16)
			array[i]++;
	}

	synchronized void listOfLists(int k) {
		if (k % 10 == 0)
			lists.add(new ArrayList<>());
		for (List<Integer> l : lists)
			l.add(k);
	}

	synchronized void fastSlow(int k) {
		if (k == 20 || k == 26 || k == 250)
			spin(slow);
	}

	final SynchronousQueue<Boolean> asked = new SynchronousQueue<>();

	// The inner lock is another thread's when it is asked for, for two of them.
	synchronized void nested(int k) {
		synchronized (inner) {
			number++;
		}
	}

	void askHolder(int k) {
		if (k != 77 && k != 177)
			return;
		try {
			asked.put(true);
			asked.take();
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	void hold() {
		try {
			while (asked.take())
				synchronized (inner) {
					asked.put(true);
					Thread.sleep(slow / 1_000_000);
				}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	// Made anew at 8, 16, 32 … elements, each of which takes its time.
	synchronized void growingList(int k) {
		if (n == grown.length) {
			grown = Arrays.copyOf(grown, 2 * n);
			spin(slow);
		}
		grown[n++] = k;
	}

	synchronized void sortStrings(int k) {
		String[] all = new String[32];

		for (int i = 0; i < all.length; i++)
			all[i] = Integer.toString(random.nextInt());
		Arrays.sort(all);
	}

	Socket client;

	// The other end takes its time for two of them.
	synchronized void network(int k) {
		try {
			client.getOutputStream().write(k == 50 || k == 150 ? 1 : 0);
			client.getInputStream().read();
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	static void serve(ServerSocket server) {
		try (Socket s = server.accept()) {
			InputStream in = s.getInputStream();
			OutputStream out = s.getOutputStream();

			for (int b; (b = in.read()) >= 0; out.write(b))
				if (b == 1)
					Thread.sleep(slow / 1_000_000);
		} catch (IOException | InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	void all() throws IOException {
		runs("arithmetic", none, this::arithmetic);
		runs("appendToList", listGrows(), this::appendToList);
		runs("hashMap", mapGrows(), this::hashMap);
		runs("allocate", new int[] { 100, 200 }, this::allocate);
		runs("appendString", none, this::appendString);
		runs("sortLinkedList", none, this::sortLinkedList);
		runs("sortArray", new int[] { 90, 210 }, this::sortArray);
		runs("stack", none, this::stack);
		runs("locality", new int[] { 0 }, this::locality);
		runs("listOfLists", none, this::listOfLists);
		runs("fastSlow", new int[] { 20, 26, 250 }, this::fastSlow);
		Thread holder = new Thread(this::hold, "holder");
		holder.setDaemon(true);
		holder.start();
		runs("nested", new int[] { 77, 177 }, this::nested, this::askHolder);
		runs("growingList", new int[] { 8, 16, 32, 64, 128, 256 }, this::growingList);
		runs("sortStrings", none, this::sortStrings);
		try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			new Thread(() -> serve(server), "server").start();
			client = new Socket(server.getInetAddress(), server.getLocalPort());
			runs("network", new int[] { 50, 150 }, this::network);
			client.close();
		}
	}

	public static void main(String[] args) throws IOException {
		new Variability().all();
	}
}
