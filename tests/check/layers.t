#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom: the arrows between layers, the floors of a layer's folders. And one third-party
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

# A folder includes folders of its layer only from lower floors.
floors() { # floor, folders
	cat <<-'EOR'
	1 src/base
	2 src/cli src/symbol src/trace
	3 src src/symbol/dso src/trace/frame src/trace/meta
	4 src/trace/fleet src/trace/read src/trace/write
	5 src/import src/trace/fixture
	10 src/cmd/common
	16 src/cmd src/cmd/fleet src/cmd/imbalance
	1 probes probes/edges/runtime probes/java/preload
	3 probes/bpf
	4 probes/code probes/process
	5 probes/select
	6 probes/edges probes/kernel
	7 probes/place probes/ring
	8 probes/cost probes/drain probes/sample
	9 probes/inproc probes/session
	10 probes/inspect probes/java probes/java/agent
	11 probes/shared
	1 pmu
	3 analysis/stat
	4 analysis/imbalance analysis/threads
	5 analysis/calls analysis/fleet/simulate
	6 analysis/evidence analysis/fleet
	7 analysis/fleet/sqlite analysis/score
	8 analysis/cause analysis/fleet/clickhouse analysis/group analysis/sequence
	9 analysis/imbalance/section analysis/lock analysis/site
	10 analysis/imbalance/count analysis/result
	11 analysis/diff analysis/outlier
	4 report/table
	6 report/export
	12 report/block
	13 report/screen
	14 report/html report/slow
	15 report/fleet report/imbalance report/outlier
	EOR
}

# Includes that climb until what they are made for is cut: a line goes with its cut, none comes.
climbs() {
	cat <<-'EOR'
	EOR
}

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

includes() { # includes ROOT: lines FILE TARGET
	(cd "$1" && files "$1" 'src/*.[ch]' 'probes/*.[ch]' 'pmu/*.[ch]' 'analysis/*.[ch]' 'report/*.[ch]' |
		xargs -r grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed 's/:[^"]*"\([^"]*\)".*/ \1/' | resolve)
}

climbing() { # climbing ROOT: includes to the same floor or higher, in lines FILE TARGET WHY
	includes "$1" | awk '
		function folder(path) { sub("/[^/]*$", "", path); return path }
		function layer(path) { sub("/.*", "", path); return path }
		floors { for (i = 2; i <= NF; i++) floor[$i] = $1; next }
		{ from = folder($1); to = folder($2) }
		!(from in floor) { print $1, $2, "(" from " has no floor)"; next }
		layer(from) == layer(to) && from != to && !(to in floor && floor[to] < floor[from]) {
			print $1, $2, "(floor " floor[from] " to " (to in floor ? floor[to] : "none") ")"
		}' floors=1 <(floors) floors= -
}

uphill() { climbing "$1" | grep -vFf <(climbs | sed '/./s/$/ /') || true; } # uphill ROOT
unneeded() { # unneeded ROOT: lines of climbs
	climbs | grep . | grep -vxFf <(climbing "$1" | sed 's/ (.*//') | sed 's/$/ does not climb: it needs no line/'
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

includers() { # includers ROOT
	local library pattern who
	libraries | while read -r library pattern; do
		who=$(cd "$1" && files "$1" '*.c' '*.h' | grep -v '^probes/bpf/' | grep -v ^tests/ |
			xargs -r grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$pattern>" |
			while read -r f; do
				if [ -e "${f%/*}/internal.h" ]; then echo "${f%/*}/"; else echo "$f"; fi
			done |
			sed 's|\(_[^/]*\)\?\.[ch]$||' | sort -u | paste -sd' ')
		case $who in *' '*) echo "$library is included by more than one module: $who" ;; esac
	done
}

holds "the arrows between the layers" arrows "$top"
holds "a folder includes lower floors" uphill "$top"
holds "of those that climb, none needs no line" unneeded "$top"
holds "internal.h is its folder's" internals "$top"
holds "one library, one module that includes it" includers "$top"

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
plant analysis/result/i.c <<<'#include "analysis/stat/internal.h"'
catches "a higher floor" "analysis/stat/f.c analysis/result/r.h (floor" uphill "$planted"
catches "a folder without a floor" "(analysis/attic has no floor)" uphill "$planted"
catches "another folder's internal.h" "analysis/result/i.c includes analysis/stat/internal.h" internals "$planted"
plant src/trace/z1.c <<<'#include <zstd.h>'
plant src/trace/y.c <<<'# include <zstd.h>'
catches "two modules with zstd" "zstd is included by more than one module" includers "$planted"
