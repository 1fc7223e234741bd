#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules as the compiler sees them: no circle of folders, no large one of files, by calls and includes; and
# a module's functions are declared in the header of its name.
. "$(dirname "$0")/lib.sh"

# Files that use each other in a circle can only be read together.
MOST=7
objects=$(realpath "${B:-build}")/obj
modules=$PWD/tests/check/modules.py

folders() { python3 "$modules" folders "$1" "$2"; }		# ROOT OBJECTS
circles() { python3 "$modules" circles "$1" "$2" "$MOST" 2>&3; } # the largest is told, not held
contracts() { python3 "$modules" contracts "$1" "$2"; }
parts() { python3 "$modules" parts "$1" "$2"; }
exec 3>&2

holds "no circle of folders" folders "$top" "$objects"
holds "no circle of more than $MOST modules" circles "$top" "$objects"
holds "functions are declared in their module's header" contracts "$top" "$objects"
holds "a part of a recording leaves the others' states alone" parts "$top" "$objects"

compiled() { # compiled PATH: plants stdin and its object
	plant "$1"
	mkdir -p "$planted/build/obj/$(dirname "$1")"
	gcc -I"$planted" -c -o "$planted/build/obj/${1%.c}.o" "$planted/$1"
}
# A circle by calls alone, through two folders, and one of eight files.
compiled analysis/stat/a.c <<<'void b(void); void a(void) { b(); }'
compiled analysis/score/b.c <<<'void a(void); void b(void) { a(); }'
for i in 0 1 2 3 4 5 6 7; do
	compiled "probes/ring/c$i.c" <<<"void c$(((i + 1) % 8))(void); void c$i(void) { c$(((i + 1) % 8))(); }"
done
plant report/table/other.h <<<'void declared_elsewhere(void);'
compiled report/table/own.c <<<'void declared_elsewhere(void) {}'
plant probes/session/internal.h <<<$'struct session {\n\tstruct follow follow;\n\tstruct burst burst;\n};'
plant probes/session/follow.h <<<$'struct follow {\n\tint late;\n};'
plant probes/session/burst.h <<<$'struct burst {\n\tconst struct follow *follow;\n};'
plant probes/session/burst.c <<<'int is_late(const struct burst *b) { return b->follow->late; }'
plant probes/session/open.c <<<'int on(const struct follow *f) { return f->late; }'
catches "a part that reaches through its own state" \
	"probes/session/burst.c reaches into struct follow of probes/session/follow.h: ->follow->late" parts "$planted" "$planted/build/obj"
catches "a file that reads a part's state" \
	"probes/session/open.c reaches into struct follow of probes/session/follow.h: f->late" parts "$planted" "$planted/build/obj"
plant probes/session/hold.c <<<'int now(const struct follow *f) { struct follow copy = *f; return copy.late; }'
plant probes/session/count.c <<<'int first(const struct session *s) { return (&s->follow)->late; }'
plant probes/session/budget.h <<<'static inline int soon(const struct follow *x) { return (*x).late; }'
catches "a file that copies a part's state" \
	"probes/session/hold.c reaches into struct follow of probes/session/follow.h: copy.late" parts "$planted" "$planted/build/obj"
catches "a file that takes a part's address first" \
	"probes/session/count.c reaches into struct follow of probes/session/follow.h: (&s->follow)->late" parts "$planted" "$planted/build/obj"
catches "a function in a header that reads another part's state" \
	"probes/session/budget.h reaches into struct follow of probes/session/follow.h: (*x).late" parts "$planted" "$planted/build/obj"
catches "a circle of folders by calls" "analysis/score analysis/stat" folders "$planted" "$planted/build/obj"
catches "a circle of eight modules" "8 modules use each other in a circle: probes/ring/c0" circles "$planted" "$planted/build/obj"
catches "a function that another header declares" \
	"declared_elsewhere() of report/table/own.c is declared in report/table/other.h" contracts "$planted" "$planted/build/obj"
catches "a tree that was not compiled" "run make first" folders "$planted" "$planted/none"
