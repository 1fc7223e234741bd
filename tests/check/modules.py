# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules as the compiler sees them: a module is X.c with X.h. A module uses another if one of its files includes
the other's header, or its object takes a symbol that the other's object defines.

	modules.py folders ROOT OBJECTS         circles of folders
	modules.py circles ROOT OBJECTS MOST    circles of more than MOST modules, and which is the largest
	modules.py contracts ROOT OBJECTS       functions declared elsewhere than in their module's header or internal.h
	modules.py parts ROOT OBJECTS           files of a recording that reach into another part's state
"""
import collections, os, re, subprocess, sys

LAYERS = ("src", "probes", "pmu", "analysis", "report")


def sources(root):
    found = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-co", "--exclude-standard"],
                           capture_output=True, text=True)
    names = found.stdout.split("\n") if found.returncode == 0 and os.path.exists(os.path.join(root, ".git")) else [
        os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files]
    return sorted(n for n in names if n.endswith((".c", ".h")) and n.startswith(LAYERS)
                  and os.path.exists(os.path.join(root, n)))


def module(path):
    return path.rsplit(".", 1)[0]


def folder(path):
    return path.rsplit("/", 1)[0]


def read(root, path):
    with open(os.path.join(root, path), errors="replace") as f:
        return f.read()


def symbols(root, objects):
    """[(source, name, kind)] of every object whose source is there, kind as nm prints it."""
    of = {}
    for s in sources(root):
        o = os.path.join(objects, s[:-2] + ".o")
        if s.endswith(".c") and os.path.exists(o):
            of[o] = s
    if not of:
        sys.exit(f"no objects in {objects}: run make first")
    out = subprocess.run(["nm", "-A", "-P", *of], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        o, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        yield of[o], name, kind


def includes(root):
    """(source, header) for each include of a file of the tree."""
    known = set(sources(root))
    for s in known:
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', read(root, s), re.M):
            for d in (os.path.dirname(s) + "/", "src/", ""):
                target = os.path.normpath(d + name)
                if target in known:
                    yield s, target
                    break


def graph(root, objects):
    """{module: {other: names that it takes}}"""
    uses = collections.defaultdict(lambda: collections.defaultdict(set))
    found = list(symbols(root, objects))
    owner = {name: s for s, name, kind in found if kind in "TDBRVWC"}
    for s, name, kind in found:
        if kind == "U" and name in owner and owner[name] != s:
            uses[module(s)][module(owner[name])].add(name)
    for s, header in includes(root):
        if module(s) != module(header):
            uses[module(s)][module(header)].add(header.rsplit("/", 1)[1])
    return uses


def circles(uses):
    """Strongly connected components of more than one node, the largest first (Tarjan)."""
    index, low, stack, found = {}, {}, [], []
    sys.setrecursionlimit(100000)

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in uses.get(v, ()):
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            component = stack[stack.index(v):]
            del stack[stack.index(v):]
            if len(component) > 1:
                found.append(sorted(component))

    for v in list(uses):
        if v not in index:
            visit(v)
    return sorted(found, key=len, reverse=True)


def ties(uses, component):
    for a in component:
        for b in component:
            if b in uses[a]:
                yield f"  {a} takes of {b}: {', '.join(sorted(uses[a][b])[:4])}"


def print_circles(root, objects, most):
    uses = graph(root, objects)
    found = circles(uses)
    if found:
        print(f"# the largest circle has {len(found[0])} modules: {' '.join(found[0])}", file=sys.stderr)
    for component in found:
        if len(component) > int(most):
            print(f"{len(component)} modules use each other in a circle: {' '.join(component)}")
            print("\n".join(ties(uses, component)))


def print_folders(root, objects):
    by_folder = collections.defaultdict(lambda: collections.defaultdict(set))
    for a, others in graph(root, objects).items():
        for b, names in others.items():
            if folder(a) != folder(b):
                by_folder[folder(a)][folder(b)] |= names
    for component in circles(by_folder):
        print(f"folders use each other in a circle: {' '.join(component)}")
        print("\n".join(ties(by_folder, component)))


def foreign(root, objects):
    """(source, function, headers) of functions that neither their module's header nor internal.h declares."""
    declared = collections.defaultdict(set)
    for h in sources(root):
        if h.endswith(".h"):
            for name in re.findall(r'\b(\w+)(?:"\))?\s*[(,;]', re.sub(r"/\*.*?\*/", "", read(root, h), flags=re.S)):
                declared[name].add(h)
    for s, name, kind in symbols(root, objects):
        # files of machines may stand behind one header: registers_x86.c, registers_arm64.c and registers.h
        own = {module(s) + ".h", re.sub(r"_(x86|arm64|other)$", "", module(s)) + ".h", folder(s) + "/internal.h"}
        if kind == "T" and name != "main" and not own & declared[name]:
            yield s, name, declared[name]


def print_contracts(root, objects):
    for s, name, headers in foreign(root, objects):
        print(f"{name}() of {s} is declared in {' '.join(sorted(headers)) or 'no header'}")


PARTS = ("probes/recording", "probes/session")


def states(root):
    """{struct: header} of the parts' states: what struct session has, but what the parts share."""
    inside = read(root, "probes/session/internal.h")
    held = set(re.findall(r"^\tstruct (\w+) \w+;", inside[inside.index("struct session {"):], re.M)) - {"recording", "session_options"}
    return {name: h for h in sources(root) if h.endswith(".h") and folder(h) in PARTS
            for name in re.findall(r"^struct (\w+) \{", read(root, h), re.M) if name in held}


def print_parts(root, objects):
    own = states(root)
    if not own:
        print("struct session has no parts")
    texts = {s: re.sub(r"/\*.*?\*/|^#include[^\n]*", "", read(root, s), flags=re.S | re.M) for s in sources(root) if folder(s) in PARTS}
    for name, header in own.items():
        copied, pointed = rf"struct {name} (\w+)", rf"struct {name} \*(?:const )?(\w+)"
        members = {m for h, text in texts.items() if h.endswith(".h")
                   for held in (copied, pointed) for m in re.findall(rf"\t(?:const )?{held};", text)}
        for s, text in texts.items():
            if module(s) == module(header):
                continue
            ways = [way for v in set(re.findall(pointed, text)) for way in (rf"\b{v}->\w+", rf"\(\*{v}\)\.\w+")]
            ways += [rf"(?<![\w.>]){v}\.\w+" for v in set(re.findall(copied, text))]
            ways += [way for m in members for way in (rf"(?:->|\.){m}(?:->|\.)\w+", rf"\(&\w+(?:->|\.){m}\)->\w+")]
            for found in sorted({f for way in ways for f in re.findall(way, text)}):
                print(f"{s} reaches into struct {name} of {header}: {found}")


{"parts": print_parts, "circles": print_circles, "folders": print_folders, "contracts": print_contracts}[sys.argv[1]](*sys.argv[2:])
