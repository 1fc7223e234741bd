// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.ByteBuffer;

// Behavior D of the Iceberg paper: each execution changes as many elements, and most find them close together. In
// every twentieth each element is in a page of its own, of memory that the thread has not touched before: the
// same instructions, and each element misses the caches, and faults a page in. The program says which these are.
public class Locality {
	static final int RUNS = 1009, ELEMENTS = 512, PAGE = 4096, LONGS = PAGE / Long.BYTES;
	private long sum;

	static boolean isFar(int k) {
		return k % 20 == 17;
	}

	synchronized long walk(LongBuffer elements, int step) {
		for (int i = 0; i < ELEMENTS; i++) {
			long v = elements.get(i * step) + i;

			elements.put(i * step, v);
			sum += v;
		}
		return sum;
	}

	public static void main(String[] args) throws IOException {
		Locality l = new Locality();
		Path path = Files.createTempFile(Path.of("."), "locality", null);
		LongBuffer near = ByteBuffer.allocateDirect(PAGE).asLongBuffer();

		for (int k = 0; k < RUNS; k++) {
			LongBuffer elements = near;

			if (isFar(k))
				try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
					elements = file.map(FileChannel.MapMode.PRIVATE, 0, (long) ELEMENTS * PAGE).asLongBuffer();
					System.out.println("far " + k);
				}
			l.walk(elements, isFar(k) ? LONGS : 1);
		}
		Files.delete(path);
		System.out.println("sum " + l.sum);
	}
}
