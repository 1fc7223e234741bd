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

# The module of a path: src/base/x.c is base, src/args.h top, probes/bpf/x.h probes.
module() {
	case $1 in
	src/*/*) local m=${1#src/} && echo "${m%%/*}" ;;
	src/*) echo top ;;
	*) echo "${1%%/*}" ;;
	esac
}

# Where `#include "NAME"` of a file leads to, as the compiler looks it up.
resolve() { # resolve ROOT FILE NAME
	local d
	for d in "$(dirname "$2")" src .; do
		[ -e "$1/$d/$3" ] && realpath -m --relative-to="$1" "$1/$d/$3" && return
	done
	echo "$3" # generated, or gone: judged by its name
}

arrows() { # arrows ROOT
	local f name from to target
	(cd "$1" && files "$1" 'src/*.[ch]' 'probes/*.[ch]' 'pmu/*.[ch]' 'analysis/*.[ch]' \
		'report/*.[ch]' | xargs -r grep -H '^[[:space:]]*#[[:space:]]*include[[:space:]]*"') |
		sed 's/:[^"]*"\([^"]*\)".*/ \1/' | while read -r f name; do
		from=$(module "$f")
		target=$(resolve "$1" "$f" "$name")
		to=$(module "$target")
		case " ${may[$from]-} " in
		*" $to "*) ;;
		*) echo "$f ($from) includes $target ($to)" ;;
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
