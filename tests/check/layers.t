#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom (the arrows), and one third-party library = one module that includes it:
# one file, or the files x.c, x_part.c, x_internal.h of one.
. "$(dirname "$0")/lib.sh"

declare -A may=(
	[base]="base"
	[trace]="base trace"
	[symbol]="base trace symbol"
	[pmu]="base trace pmu"
	[probes]="base trace symbol pmu probes"
	[analysis]="base trace symbol analysis"
	[report]="base trace symbol analysis report"
	[cmd]="base trace symbol pmu probes analysis report top"
	[top]="base top"
)

# find_module PATH: $module is that of src/base/x.c base, of src/args.h top, of probes/bpf/x.h probes.
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

arrows() { # arrows ROOT
	local f target from
	(cd "$1" && files "$1" 'src/*.[ch]' 'probes/*.[ch]' 'pmu/*.[ch]' 'analysis/*.[ch]' 'report/*.[ch]' |
		xargs -r grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed 's/:[^"]*"\([^"]*\)".*/ \1/' | resolve) | while read -r f target; do
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
			sed 's|\(_[^/]*\)\?\.[ch]$||' | sort -u | paste -sd' ')
		case $who in *' '*) echo "$library is included by more than one module: $who" ;; esac
	done
}

holds "the arrows between the layers" arrows "$top"
holds "one library, one module that includes it" includers "$top"

plant src/trace/a.h </dev/null
plant analysis/a.h </dev/null
plant src/base/a.c <<<'#include "trace/a.h"'
plant src/trace/b.c <<<'#include "../../analysis/a.h"'
plant report/cmd.c <<<'#include "cmd/record.h"'
catches "base including trace" "src/base/a.c (base) includes src/trace/a.h (trace)" arrows "$planted"
catches "an include that climbs" "src/trace/b.c (trace) includes analysis/a.h (analysis)" arrows "$planted"
catches "an include of cmd" "report/cmd.c (report) includes" arrows "$planted"
plant src/trace/z1.c <<<'#include <zstd.h>'
plant src/trace/y.c <<<'# include <zstd.h>'
catches "two modules with zstd" "zstd is included by more than one module" includers "$planted"
