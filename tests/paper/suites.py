# SPDX-License-Identifier: GPL-3.0-or-later
"""
Applications of checkouts that the user names: SPLASH3=DIR (Splash-3, the Splash-2 of the papers without its data
races) and PHOENIX=DIR. They are copied and built in build/paper, with debug information; nothing is written there.
"""
import os
import shutil
import struct

from record import WORK, Failed, run

# One a CPU, as in the papers; the suites want a power of two, and have inputs for so many.
THREADS = 1 << (min(max(os.cpu_count() or 2, 2), 32).bit_length() - 1)
SUITES = ("SPLASH3", "PHOENIX")


class Application:
    """A row of the paper's tables: how it is built and run here."""

    def __init__(self, suite, name, folder, command, stdin=None, prepare=None):
        self.suite, self.name, self.folder, self.command = suite, name, folder, command
        self.stdin, self.prepare = stdin, prepare

    def words(self, threads=THREADS, before=()):
        """The command, to be run in directory(), behind these words, which read its input, too."""
        words = [*before, "./" + self.command[0]] + [word.format(p=threads) for word in self.command[1:]]
        if self.stdin:
            return ["sh", "-c", 'exec "$@" <%s' % self.stdin.format(p=threads), "sh"] + words
        return words

    def directory(self):
        return os.path.join(WORK, self.suite.lower(), self.folder)

    def build(self):
        """Copies the checkout once and builds the application; a Failed says why not."""
        copy = os.path.join(WORK, self.suite.lower())
        if not os.path.exists(copy):
            shutil.copytree(os.environ[self.suite], copy, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        if self.suite == "PHOENIX":
            run(["sh", "-c", "make -k DEBUG=-g >make.log 2>&1; true"], os.path.join(copy, "phoenix-2.0"))
        else:
            run(["sh", "-c", "make >make.log 2>&1 || { tail -3 make.log >&2; exit 1; }"], self.directory())
        if not os.path.exists(os.path.join(self.directory(), self.command[0])):
            raise Failed("%s was not built" % self.name)
        if self.prepare:
            self.prepare(self.directory())


def text(directory, megabytes=32):
    """Words of small letters, always the same ones."""
    path = os.path.join(directory, "text")
    if not os.path.exists(path):
        words = ["w%x" % (i * 2654435761 % 4096) for i in range(16384)]
        line = (" ".join(word.translate(str.maketrans("0123456789", "abcdefghij")) for word in words) + "\n").encode()
        with open(path, "wb") as file:
            while file.tell() < megabytes << 20:
                file.write(line)


def bitmap(directory, pixels=24 << 20):
    path = os.path.join(directory, "picture.bmp")
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + 3 * pixels, 0, 0, 54, 40, pixels >> 12, 1 << 12, 1,
                                   24, 0, 3 * pixels, 0, 0, 0, 0))
            file.write(bytes(range(256)) * (3 * pixels // 256))


def scene(directory):
    for name in os.listdir(os.path.join(directory, "inputs")):
        target = os.path.join(directory, name)
        if not os.path.exists(target):
            shutil.copy(os.path.join(directory, "inputs", name), target)


APPS, KERNELS, TESTS = "codes/apps/", "codes/kernels/", "phoenix-2.0/tests/"


def phoenix(name, *arguments, prepare=None):
    return Application("PHOENIX", name, TESTS + name, [name + "-pthread", *arguments], prepare=prepare)


BARNES = Application("SPLASH3", "Barnes", APPS + "barnes", ["BARNES"], stdin="inputs/n16384-p{p}")
FMM = Application("SPLASH3", "FMM", APPS + "fmm", ["FMM"], stdin="inputs/input.{p}.16384")
OCEAN = Application("SPLASH3", "Ocean cont.", APPS + "ocean/contiguous_partitions", ["OCEAN", "-p{p}", "-n1026"])
OCEAN_NON = Application("SPLASH3", "Ocean non cont.", APPS + "ocean/non_contiguous_partitions",
                        ["OCEAN", "-p{p}", "-n1026"])
RADIOSITY = Application("SPLASH3", "Radiosity", APPS + "radiosity", ["RADIOSITY", "-p", "{p}", "-batch"])
# Checkouts of Splash-3 have the car's view without its model.
RAYTRACE = Application("SPLASH3", "Raytrace balls4", APPS + "raytrace", ["RAYTRACE", "-p{p}", "-m64", "balls4.env"],
                       prepare=scene)
WATER = Application("SPLASH3", "Water-nsquared", APPS + "water-nsquared", ["WATER-NSQUARED"], stdin="inputs/n512-p{p}")
# Those of LIME's study that are no rows of table 2
LU = Application("SPLASH3", "LU", KERNELS + "lu/contiguous_blocks", ["LU", "-p{p}", "-n256"])
RADIX = Application("SPLASH3", "radix", KERNELS + "radix", ["RADIX", "-p{p}", "-n262144"])
FFT = Application("SPLASH3", "fft", KERNELS + "fft", ["FFT", "-p{p}", "-m16"])
WATER_SPATIAL = Application("SPLASH3", "water-sp", APPS + "water-spatial", ["WATER-SPATIAL"],
                            stdin="inputs/n512-p{p}")

HISTOGRAM = phoenix("histogram", "picture.bmp", prepare=bitmap)
KMEANS = phoenix("kmeans", "-p", "40000")
LINEAR_REGRESSION = phoenix("linear_regression", "picture.bmp", prepare=bitmap)
MATRIX_MULTIPLY = phoenix("matrix_multiply", "400", "1")
PCA = phoenix("pca", "-r", "600", "-c", "600")
STRING_MATCH = phoenix("string_match", "text", prepare=text)
WORD_COUNT = phoenix("word_count", "text", prepare=text)
