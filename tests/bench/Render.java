// SPDX-License-Identifier: GPL-3.0-or-later
import java.lang.reflect.Field;
import java.util.Arrays;
import org.sunflow.Benchmark;

// Sunflow's own benchmark scene, N pixels wide, in T threads, without its comparison with a picture of
// its author's machine, which floating point elsewhere does not come up to. Prints what it rendered as
// a number, and on standard error the seconds that this took.
class Render {
	public static void main(String[] args) throws Exception {
		int width = Integer.parseInt(args[0]), threads = Integer.parseInt(args[1]);
		Benchmark b = new Benchmark(width, false, false, false, threads, false);
		Field pixels = Benchmark.class.getDeclaredField("validationImage");
		long start;

		b.kernelBegin();
		start = System.nanoTime();
		b.kernelMain();
		System.err.println("seconds " + (System.nanoTime() - start) / 1e9);
		pixels.setAccessible(true);
		System.out.println("pixels " + Arrays.hashCode((int[]) pixels.get(b)));
	}
}
