#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom: the arrows between layers, the floors of a layer's folders (folders.tsv). And one third-party
# library = one module that includes it: one file, the files x.c, x_part.c, x_internal.h of one, or those of
# a folder that has an internal.h.
. "$(dirname "$0")/lib.sh"

declare -A may=(
	[base]="base"
	[trace]="base trace"
	[symbol]="base trace symbol"
	[import]="base trace symbol import"
	[pmu]="base trace pmu"
	[probes]="base trace symbol import pmu probes"
	[analysis]="base trace symbol import analysis"
	[report]="base trace symbol import analysis report"
	[cli]="base cli"
	[cmd]="base trace symbol import pmu probes analysis report cli cmd"
	[top]="base cli top"
)

# Each folder's floor, and which folders it may include: folders.tsv explains itself.
floors() { grep -v '^#' "$top/tests/check/folders.tsv"; }

# find_module PATH: $module is that of src/base/x.c base, of src/main.c top, of probes/bpf/x.h probes.
find_module() {
	case $1 in
	src/*/*) module=${1#src/} module=${module%%/*} ;;
	src/*) module=top ;;
	*) module=${1%%/*} ;;
	esac
}

# Where `#include "NAME"` of each FILE leads to, as the compiler looks it up: lines FILE NAME become
# lines FILE TARGET. What is generated, or gone, is judged by its name.
resolve() {
	local f name d
	while read -r f name; do
		for d in "${f%/*}/" src/ "" none; do
			[ "$d" != none ] || { echo "$f $name" && break; }
			[ -e "$d$name" ] && echo "$f $d$name" && break
		done
	done | awk '{
		n = split($2, part, "/")
		path = ""
		for (i = 1; i <= n; i++) {
			if (part[i] == "..")
				sub("(^|/)[^/]*$", "", path)
			else if (part[i] != "." && part[i] != "")
				path = path (path == "" ? "" : "/") part[i]
		}
		print $1, path
	}'
}

includes() { # includes ROOT: lines FILE TARGET; of the project they are looked up once
	if [ "$1" = "$top" ] && [ -e "$planted/includes" ]; then
		cat "$planted/includes"
		return
	fi
	(cd "$1" && files "$1" 'src/*.[ch]' 'probes/*.[ch]' 'pmu/*.[ch]' 'analysis/*.[ch]' 'report/*.[ch]' |
		xargs -r grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed 's/:[^"]*"\([^"]*\)".*/ \1/' | resolve)
}

uphill() { # uphill ROOT: includes to the same floor or higher, or of a folder that is not listed
	includes "$1" | awk -F '[\t ]' '
		function folder(path) { sub("/[^/]*$", "", path); return path }
		function layer(path) { sub("/.*", "", path); return path }
		floors { floor[$1] = $2; for (i = 3; i <= NF; i++) may[$1, $i]; next }
		{ from = folder($1); to = folder($2) }
		from == to { next }
		!(from in floor) { print $1, $2, "(" from " has no floor in tests/check/folders.tsv)"; next }
		layer(from) == layer(to) && !(to in floor && floor[to] < floor[from]) {
			print $1, $2, "(floor " floor[from] " to " (to in floor ? floor[to] : "none") ")"
			next
		}
		to != "src/base" && !((from, to) in may) && !((from, "*") in may) {
			print $1, $2, "(tests/check/folders.tsv does not let " from " include " to ")"
		}' floors=1 <(floors) floors= -
}

crowded() { # crowded ROOT: folders with more files than somebody reads the names of
	(cd "$1" && files "$1" 'src/*.[ch]' 'probes/*.[ch]' 'pmu/*.[ch]' 'analysis/*.[ch]' 'report/*.[ch]' |
		sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 40 { print $2 " has " $1 " files, 40 at most" }')
}

internals() { # internals ROOT: another folder's internal.h
	includes "$1" | awk '$2 ~ /\/internal\.h$/ {
		from = $1; to = $2
		sub("/[^/]*$", "", from); sub("/[^/]*$", "", to)
		if (from != to)
			print $1 " includes " $2
	}'
}

arrows() { # arrows ROOT
	local f target from
	includes "$1" | while read -r f target; do
		find_module "$f"
		from=$module
		find_module "$target"
		case " ${may[$from]-} " in
		*" $module "*) ;;
		*) echo "$f ($from) includes $target ($module)" ;;
		esac
	done
}

# library, the headers that are its own
libraries() {
	cat <<-'EOR'
	zstd zstd(_errors)?\.h
	zlib zlib\.h
	libpfm4 perfmon/.*
	libtraceevent (traceevent/)?(event-parse|trace-seq|kbuffer)\.h
	libtracefs (tracefs/)?tracefs\.h
	libbpf bpf/(libbpf|bpf|btf)\.h
	elfutils (gelf|libelf|dwarf|libdw|elfutils/.*)\.h
	libunwind libunwind.*
	libiberty (libiberty/.*|demangle\.h)
	capstone capstone.*
	jansson jansson\.h
	gsl gsl/.*
	libcap sys/capability\.h
	sqlite sqlite3\.h
	libcurl curl/.*
	EOR
}

includers() { # includers ROOT [all: each library has a module]
	local library pattern who module f name
	(cd "$1" && files "$1" '*.c' '*.h' | grep -v '^probes/bpf/' | grep -v ^tests/ |
		xargs -r grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<[^>]*>' |
		sed 's/:[^<]*</ /; s/>$//' | while read -r f name; do
		if [ -e "${f%/*}/internal.h" ]; then module=${f%/*}/; else module=$f; fi
		echo "$module $name"
	done) >"$planted/third"
	libraries | while read -r library pattern; do
		who=$(sed -nE "s#^([^ ]*) ($pattern)\$#\1#p" "$planted/third" | sed 's|\(_[^/]*\)\?\.[ch]$||' | sort -u | paste -sd' ')
		case $who in
		*' '*) echo "$library is included by more than one module: $who" ;;
		"") [ "${2-}" ] && echo "$library is included by no module" ;;
		esac
	done
}

includes "$top" >"$planted/included" && mv "$planted/included" "$planted/includes"
ok "there are includes" [ "$(wc -l <"$planted/includes")" -ge 1000 ]
holds "the arrows between the layers" arrows "$top"
holds "a folder includes lower floors, and what it may" uphill "$top"
holds "no folder has more than 40 files" crowded "$top"
holds "internal.h is its folder's" internals "$top"
holds "one library, one module that includes it" includers "$top" all

plant src/trace/a.h </dev/null
plant analysis/a.h </dev/null
plant src/base/a.c <<<'#include "trace/a.h"'
plant src/trace/b.c <<<'#include "../../analysis/a.h"'
plant report/cmd.c <<<'#include "cmd/record.h"'
catches "base including trace" "src/base/a.c (base) includes src/trace/a.h (trace)" arrows "$planted"
catches "an include that climbs" "src/trace/b.c (trace) includes analysis/a.h (analysis)" arrows "$planted"
catches "an include of cmd" "report/cmd.c (report) includes" arrows "$planted"
plant analysis/stat/f.c <<<'#include "analysis/result/r.h"'
plant analysis/attic/f.c <<<'#include "base/a.h"'
plant analysis/stat/g.c <<<'#include "import/import.h"'
plant src/import/import.h </dev/null
plant analysis/result/i.c <<<'#include "analysis/stat/internal.h"'
catches "a higher floor" "analysis/stat/f.c analysis/result/r.h (floor" uphill "$planted"
catches "a folder without a floor" "(analysis/attic has no floor in" uphill "$planted"
catches "a folder that it may not include" "let analysis/stat include src/import)" uphill "$planted"
catches "another folder's internal.h" "analysis/result/i.c includes analysis/stat/internal.h" internals "$planted"
plant report/slow/1.c </dev/null
for i in {2..41}; do : >"$planted/report/slow/$i.c"; done
catches "a folder of 41 files" "report/slow has 41 files" crowded "$planted"
plant src/trace/z1.c <<<'#include <zstd.h>'
plant src/trace/y.c <<<'# include <zstd.h>'
catches "two modules with zstd" "zstd is included by more than one module" includers "$planted"
catches "a library that nobody includes" "libtraceevent is included by no module" includers "$planted" all
