// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Paths;
import java.net.URL;
import java.net.URLClassLoader;

// A class that two loaders have each for itself, of which one knows the machine's own classes and nothing
// of the program's; and one that is loaded and not linked, because it is wrong: linking it fails, with and
// without an agent. Its synchronized methods are called a known number of times, for N seconds (0: once).
class Loaders {
	public static class Inner implements Runnable {
		int n;

		@Override public synchronized void run() {
			n++;
		}
	}

	public static class Wrong {
		static synchronized int seven() {
			return 7;
		}
	}

	// "bipush 7; ireturn" ends in "areturn" now: the verifier refuses it.
	static class Spoiling extends ClassLoader {
		Class<?> define(String name) throws IOException {
			byte[] b;

			try (InputStream in = Loaders.class.getResourceAsStream(name + ".class")) {
				ByteArrayOutputStream out = new ByteArrayOutputStream();

				in.transferTo(out);
				b = out.toByteArray();
			}
			for (int i = 0; i + 2 < b.length; i++)
				if (b[i] == 0x10 && b[i + 1] == 7 && b[i + 2] == (byte) 0xac)
					b[i + 2] = (byte) 0xb0;
			return defineClass(null, b, 0, b.length);
		}
	}

	public static void main(String[] args) throws Exception {
		URL here = Paths.get("").toUri().toURL();
		ClassLoader[] loaders = { new URLClassLoader(new URL[] { here }, null), Loaders.class.getClassLoader() };
		long until = System.nanoTime() + 1_000_000_000L * Integer.parseInt(args.length > 0 ? args[0] : "0");
		Class<?> wrong = new Spoiling().define("Loaders$Wrong");
		int calls = 0;

		System.out.println("begins");
		do {
			for (ClassLoader l : loaders) {
				Runnable r = (Runnable) l.loadClass("Loaders$Inner").getDeclaredConstructor().newInstance();

				for (int i = 0; i < 101; i++, calls++)
					r.run();
			}
			Thread.sleep(1);
		} while (System.nanoTime() < until);
		System.out.println("calls run " + calls);
		try {
			wrong.getDeclaredMethods();
			System.out.println("linked");
		} catch (VerifyError e) {
			System.out.println("refused");
		}
	}
}
