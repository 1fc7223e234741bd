// SPDX-License-Identifier: GPL-3.0-or-later
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

// Loads and links, which verifies, every class of the modules named (all: of each that the image
// has), and says of how many that was so. Asking for a class's methods links it and runs nothing
// of it.
class VerifyAll {
	static int linked, refused, unlinked;

	static void load(String name) {
		try {
			Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
			linked++;
		} catch (VerifyError | ClassFormatError | ClassCircularityError e) {
			refused++;
			System.out.println("refused " + name + ": " + e.getMessage());
		} catch (Throwable e) {
			unlinked++; // it needs classes that are not there
		}
	}

	public static void main(String[] args) throws Exception {
		Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
		List<Path> all;

		try (Stream<Path> files = Files.walk(modules)) {
			all = files.filter(p -> p.toString().endsWith(".class")).collect(Collectors.toList());
		}
		for (Path p : all) {
			Path inside = p.subpath(2, p.getNameCount());
			boolean wanted = args[0].equals("all") || args[0].equals(p.getName(1).toString());

			if (wanted && !inside.toString().endsWith("-info.class"))
				load(inside.toString().replace(".class", "").replace('/', '.'));
		}
		System.out.println("linked " + linked + " refused " + refused + " lacking others " + unlinked);
	}
}
