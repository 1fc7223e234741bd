#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Man pages: mandoc accepts them, and they and -h say the same.
. "$(dirname "$0")/lib.sh"

lint() { # lint ROOT
	local f
	for f in "$1"/man/*.[1-8]; do
		[ -e "$f" ] || continue
		# The pages refer to each other before they are installed, and begin with examples.
		mandoc -T lint -W warning "$f" |
			grep -vE 'STYLE: referenced manual not found|sections out of conventional order: Sh DESCRIPTION$'
	done
}

commands() {
	"$ISPOT" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

squeeze() { tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }

# The usage of `ispot CMD -h`, and the page's SYNOPSIS, each as one line.
usage() { sed -n '1,/^$/p' | sed '1s/^usage: //' | squeeze; }

synopsis() {
	mandoc -T utf8 -O width=999 "$1" | sed 's/.\x08//g' |
		sed -n '/^SYNOPSIS/,/^[A-Z]/p' | grep '^ ' | squeeze
}

# -o and --output of both, sorted; -h and --help go without saying.
help_options() {
	sed -n '/^options:/,/^$/p' | grep -E '^  -' | sed 's/^  //; s/   *.*//; s/ [^-].*//' | tr ',' '\n' |
		sed 's/^ *//; s/ .*//' | grep -vxE -e '-h|--help' | sort -u
}

man_options() {
	sed -n 's/^\.It \(Fl .*\)/\1/p' "$1" | sed 's/\\-/-/g; s/ Ns / /g' | tr ' ' '\n' |
		awk 'take { print "-" $0; take = 0 } $0 == "Fl" { take = 1 }' | grep -vxE -e '-h|--help' | sort -u
}

# agree HELP-FILE PAGE: a line for each difference between what -h printed and the page.
agree() {
	local u s
	u=$(usage <"$1")
	s=$(synopsis "$2")
	[ "$u" = "$s" ] || printf '%s: SYNOPSIS is\n  %s\nusage is\n  %s\n' "$2" "$s" "$u"
	comm -3 <(help_options <"$1") <(man_options "$2") |
		sed "s|^\t\(.*\)|$2: \1 is not in -h|; t; s|^\(.*\)|$2: \1 is only in -h|"
}

page_of() { # page_of COMMAND
	[ -e "man/ispot-$1.1" ] || { echo "man/ispot-$1.1 is missing"; return; }
	"$ISPOT" "$1" -h >"$planted/help"
	agree "$planted/help" "man/ispot-$1.1"
}

listed() { # listed ROOT: each command among the pages that ispot(1) refers to
	local c
	for c in $(commands); do
		sed -n '/^\.Sh SEE ALSO/,/^\.Sh C/p' "$1/man/ispot.1" | grep -q "^\.Xr ispot-$c 1" ||
			echo "SEE ALSO of man/ispot.1 does not name ispot-$c"
	done
}

# What each command does, as --help and ispot(1) have it: "name Summary."
summaries() { "$ISPOT" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) *\(.*\)/\1 \u\2./p' | sort; }
paged_summaries() { sed -n '/^\.Ss Commands/,/^\.El/{s/^\.It Xr ispot-\([a-z]*\) 1/\1/p;t;/^[^.]/p}' "$1/man/ispot.1" | paste -d' ' - - | sort; }

# Each section that a page refers to is there: in itself, or in the page it names within two lines. One awk reads all
# pages: first the sections that those here have, and those of ROOT, then what ROOT's refer to.
sections() { # sections ROOT
	awk '
		/^\.S[hs] / { has[FILENAME, substr($0, 5)] }
		!reads { next }
		{ page[++n] = FILENAME; at[n] = FNR; line[n] = $0 }
		function named(text) { # the last page that the line names
			sub(/.*Xr /, "", text)
			return text ~ /^[^ ]+ [1-8]/ ? "man/" substr(text, 1, index(text, " ") - 1) "." substr(text, index(text, " ") + 1, 1) : ""
		}
		function is_there(i, name,	k) {
			if ((page[i], name) in has)
				return 1
			for (k = i; k <= i + 2 && page[k] == page[i]; k++)
				if (line[k] ~ /Xr / && (named(line[k]), name) in has)
					return 1
			return 0
		}
		END {
			for (i = 1; i <= n; i++) {
				name = line[i]
				if (!sub(/.*Sx /, "", name))
					continue
				sub(/[ ).,:;]*$/, "", name)
				file = page[i]
				sub(/.*\//, "", file)
				if (!is_there(i, name))
					print file ":" at[i] ": no section " name
			}
		}' man/*.[1-8] reads=1 "$1"/man/*.[1-8]
}

long_options() { # long_options ROOT: options of which a page says more than five lines, at 80 columns
	local f
	for f in "$1"/man/*.1; do
		[ -e "$f" ] || continue
		mandoc -T utf8 -O width=80 "$f" | sed 's/.\x08//g' | awk -v page="${f##*/}" '
			function told() { if (lines > 5) print page ": " option ": " lines " lines"; lines = 0; option = "" }
			/^     -/ && blank { told(); option = $0; lines = /^     -[^ ]+  +[^ ]/ }
			/^             / && option { lines++ }
			NF && !/^             / && !/^     -/ { told() }
			{ blank = !NF }
			END { told() }'
	done
}

late_examples() { # late_examples ROOT: pages of commands and files whose EXAMPLES do not follow NAME and SYNOPSIS
	local f
	for f in "$1"/man/*.[1-6]; do
		[ -e "$f" ] || continue
		sed -n 's/^\.Sh //p' "$f" | awk -v page="${f##*/}" '
			$0 == "EXAMPLES" { has = 1 }
			$0 != "NAME" && $0 != "SYNOPSIS" && !first { first = $0 }
			END { if (has && first != "EXAMPLES") print page ": " first " stands before EXAMPLES"
				if (!has) print page ": no EXAMPLES" }'
	done
}

headless() { # headless ROOT: sections of 60 lines of prose or more, outside of lists, without a subsection
	local f
	for f in "$1"/man/*.[1-8]; do
		[ -e "$f" ] || continue
		awk -v page="${f##*/}" '
			function told() { if (lines > 59 && section) print page ": " section " has no subsection" }
			/^\.S[hs] / { told(); section = /^\.Sh / ? substr($0, 5) : ""; lines = 0 }
			/^\.B[ld] / { deep++ }
			/^\.E[ld]/ { deep-- }
			!deep && !/^\./ { lines++ }
			END { told() }' "$f"
	done
}

told_json() { # told_json ROOT: sections on JSON that are no list
	local f
	for f in "$1"/man/*.[1-8]; do
		[ -e "$f" ] || continue
		awk -v page="${f##*/}" '
			/^\.S[hs] / && json && !lists { print page ": JSON is no list" }
			/^\.S[hs] / { json = /^\.S[hs] JSON$/; lists = 0 }
			/^\.Bl / { lists++ }' "$f"
	done
}

# In characters: of ispot's help, and that of each command.
wide() {
	local c
	for c in --help $(commands); do
		"$ISPOT" "$c" -h 2>&1 | grep -E '^.{81,}' | sed "s/^/$c: /"
	done
}

# What make bench prints of causes and the page's table have the same programs, each with the cause it has.
benched() {
	# shellcheck source=tests/bench/causes.sh
	(. tests/bench/causes.sh && scheduled && counted) | while read -r program function arguments; do
		printf '%s: %s\n' "$program${arguments:+ $arguments}" \
			"$(tr '\n' ' ' <"microbench/$program.c" | grep -oE "block = \"$function\", +[^;}]*\.cause = \"[a-z-]+" | sed 's/.*"//')"
	done
}

tabled() { # tabled ROOT
	sed -n '/^\.It Em program Ta Em cause/,/^\.El/s/^\.It \([^E].*\) Ta \(.*\) Ta .*/\1: \2/p' "$1/man/ispot-sci.7" | sed 's/\\-/-/g'
}

# Kinds of records as the format's table has them: "number name", and "name value ...", those values that have names.
rows() { { tr -d '\n\t' <"$1/src/trace/record.c"; echo; } | sed 's/\[REC_/\n&/g' | sed -n 's/^\[\(REC_[A-Z_]*\)\] *= *{ *\.name = "\([^"]*\)"\(.*\)/\1 \2 \3/p'; }
numbered() { # numbered ROOT
	{
		tr -d '\n\t ' <"$1/src/trace/format.h" | grep -oE '[^A-Z_]REC_[A-Z_]*=[0-9]+' | sed 's/^.//; s/=/ = /'
		rows "$1"
	} | awk '$2 == "=" { number[$1] = $3; next } { print number[$1], $2 }' | sort -n
}
valued() { # valued ROOT: what dump's text of a switch-out is, no table says
	rows "$1" | sed 's/^REC_[A-Z_]* //' | sed -n 's/^\([^ ]*\).*\.values = {\([^}]*\)}.*/\1 \2/p; t; s/^\([^ ]*\).*/\1/p' |
		tr -d '",' | sed 's/ id\b//; s/  */ /g; s/ $//; s/^\(switch-out\) .*/\1 next count/' | sort
}
paged_numbers() { sed -n 's/^\.It \([0-9][0-9]*\) \([a-z-]*\)$/\1 \2/p' "$1/man/ispot.data.5" | awk '$1 >= 16' | sort -n; }
paged_values() {
	sed -n '/^The kinds are:/,/^\.El/s/^\.It Li \([a-z-]*\)\(.*\)/\1 \2/p' "$1/man/ispot-dump.1" | grep -vE '^(entry|exit) ' |
		awk '{ line = $1; for (i = 2; i <= NF; i++) if (sub(/=$/, "", $i)) line = line " " $i; print line }' | sort
}
# What the table of deviations says of a constant, and what it is: ".\" FILE NAME VALUE" beside its row.
constants() { # constants ROOT
	local file name value
	sed -n '/^\.Sh DEVIATIONS FROM THE PAPERS/,/^\.Sh [^D]/s/^\.\\" \([a-z_/.]*\.[ch]\) \([A-Z_0-9]*\) \(.*\)/\1 \2 \3/p' "$1/man/ispot-sci.7" |
		while read -r file name value; do
			grep -qE "^#define ${name}[[:space:]]+${value}([[:space:]]|\$)" "$1/$file" || echo "ispot-sci(7) has $name $value, $file has not"
		done
}
deviating() { # deviating ROOT: rows of the table by paper
	sed -n '/^\.Sh DEVIATIONS FROM THE PAPERS/,/^\.Sh [^D]/p' "$1/man/ispot-sci.7" | grep -c "^\.It $2, "
}
rowed() { sed -n '/^\.Sh DEVIATIONS FROM THE PAPERS/,/^\.Sh [^D]/p' "$1/man/ispot-sci.7" | grep "^\.It $2 " >/dev/null; }

# Files, functions and structs that ispot-internals(7) names and the source does not have.
missing() { # missing ROOT
	local page=$1/man/ispot-internals.7 tree name
	tree=$(find [a-z]* .make -not -path 'build*')
	grep -oE '[a-z_0-9]+(/[a-z_0-9.]+)+|[a-z_0-9]+\.(c|h|t|tsv)\b' "$page" | sed 's/\.$//' | sort -u | grep -vxE 'x\.[ch]|_.*|n/a|man/ispot' |
		while read -r name; do
			grep -qxE "(.*/)?${name//./\\.}" <<<"$tree" || echo "ispot-internals(7) names $name, which is not there"
		done
	sed -n 's/.*\(Fn\|Vt struct\|Dv\|Va\) \([A-Za-z_]*\).*/\2/p' "$page" | sort -u | while read -r name; do
		grep -rqwF --include='*.[ch]' "$name" src probes analysis report || echo "ispot-internals(7) names $name, which is not there"
	done
}

ok "there are commands" test -n "$(commands)"
holds "no help has a line beyond 80 columns" wide
holds "mandoc accepts the pages" lint "$top"
holds "options take five lines at most" long_options "$top"
holds "EXAMPLES follow SYNOPSIS" late_examples "$top"
holds "JSON is told as a list" told_json "$top"
holds "long sections have subsections" headless "$top"
for c in $(commands); do holds "ispot $c -h and its page agree" page_of "$c"; done
holds "ispot(1) refers to every command" listed "$top"
holds "and says of each what --help says" diff <(summaries) <(paged_summaries "$top")
holds "sections that pages refer to are there" sections "$top"
holds "what ispot-internals(7) names is there" missing "$top"
holds "ispot.data(5) has every kind of record" diff <(numbered "$top") <(paged_numbers "$top")
holds "ispot-dump(1) has every kind of record and what its values are called" diff <(valued "$top") <(paged_values "$top")
ok "the table of kinds is read" test "$(valued "$top" | wc -l)" -ge 24
for paper in ISPOT LIME Iceberg Datacenter; do
	ok "ispot-sci(7) says where it differs from $paper" test "$(deviating "$top" "$paper")" -ge 3
done
for row in 'Iceberg, 4.1 Ta behavior D' 'Iceberg, 4.1 Ta behavior G' 'ISPOT, 3.2.1 Ta in process' 'Datacenter, VI-C'; do
	ok "ispot-sci(7) has a row for $row" rowed "$top" "$row"
done
holds "and its numbers are the source's" constants "$top"
ok "which are many" test "$(grep -cE '^\.\\" [a-z_/.]+\.[ch] [A-Z_0-9]+ ' "$top/man/ispot-sci.7")" -ge 10
benched >"$planted/benched"
ok "make bench has a matrix of causes" grep -qx 'false_sharing --same 1: cache-sharing' "$planted/benched"
holds "and ispot-sci(7) has the same" diff "$planted/benched" <(tabled "$top")

# The manual as HTML and Markdown (make docs).
rendered() {
	local f
	.make/docs "$planted/docs" >/dev/null || echo "make docs failed"
	for f in man/*.[1-8]; do
		f=${f##*/}
		grep -q '<section class="Sh">' "$planted/docs/html/$f.html" || echo "man/$f has no HTML"
		grep -q '^# NAME' "$planted/docs/md/$f.md" || echo "man/$f has no Markdown"
		[ "$(grep -c "\"$f.html\"" "$planted/docs/html/index.html")" = 1 ] || echo "man/$f is not in the index"
	done
}
dangling() { # dangling DIR: links to files that are not there
	local f to
	grep -HoE '(href="|\]\()[^"#)]+' "$1"/*/*.html "$1"/*/*.md | sed 's/:href="/ /; s/:](/ /' | grep -vE '^[^ ]* (https?|mailto):' |
		sort -u | while read -r f to; do
		[ -e "${f%/*}/$to" ] || echo "${f##*/}: $to"
	done
}
holds "make docs renders each page" rendered
holds "and its links lead somewhere" dangling "$planted/docs"
ok "CHANGELOG begins with this version" [ "## $("$ISPOT" --version | awk 'NR == 1 { print $2 }')" = \
	"$(sed -n 's/^\(## [^ ]*\).*/\1/p' man/CHANGELOG.md | head -1)" ]
plant docs/md/x.md <<<'[gone](gone.1.md)'
catches "a link to nowhere" "x.md: gone.1.md" dangling "$planted/docs"

plant man/bad.1 <<'EOM'
.Dd November 21, 2026
.Dt BAD 1
.Os
.Sh NAME
.Nm bad
.Nd a page
.Sh SYNOPSIS
.Nm ispot bad
.Op Fl a
.Sh DESCRIPTION
.Bl -tag -width Ds
.It Fl a , Fl \-all Ar N
x
.It Fl z
x
EOM
catches "a list that does not end" "missing end of block" lint "$planted"
printf 'usage: ispot bad [-b]\n\nsummary\n\noptions:\n  -a, --all N    x\n  -b    x\n\n' >"$planted/help2"
cat >>"$planted/man/bad.1" <<'EOM'
.Sx LEFT OUT
of
.Xr ispot-sci 7 :
EOM
plant man/bad.5 <<'EOM'
.Dd November 21, 2026
.Dt BAD 5
.Os
.Sh NAME
.Nm bad
.Nd a file
.Sh DESCRIPTION
The options are:
.Bl -tag -width Ds
.It Fl a , Fl \-all Ar N
one
.br
two
.br
three
.br
four
.br
five
.br
six
.El
.Ss JSON
It has all.
.Sh EXAMPLES
None.
EOM
cp "$planted/man/bad.5" "$planted/man/long.1"
catches "an option of six lines" "long.1:      -a, --all N: 6 lines" long_options "$planted"
catches "examples at the end" "bad.5: DESCRIPTION stands before EXAMPLES" late_examples "$planted"
{
	printf '.Sh DESCRIPTION\n'
	yes 'A line of prose.' | head -60
} >"$planted/man/prose.1"
catches "a long section without subsections" "prose.1: DESCRIPTION has no subsection" headless "$planted"
rm "$planted/man/prose.1"
catches "JSON in prose" "bad.5: JSON is no list" told_json "$planted"
rm "$planted/man/bad.5" "$planted/man/long.1"
catches "a section that is not there" "no section LEFT OUT" sections "$planted"
plant man/ispot.1 <<'EOM'
.Xr ispot-probe 1
.Sh SEE ALSO
.Xr ispot-record 1
.Sh CAVEATS
EOM
catches "a command that is not in SEE ALSO" "name ispot-probe" listed "$planted"
catches "another synopsis" "usage is" agree "$planted/help2" "$planted/man/bad.1"
catches "an option without a man entry" "-b is only in -h" agree "$planted/help2" "$planted/man/bad.1"
catches "an option that is not in -h" "-z is not in -h" agree "$planted/help2" "$planted/man/bad.1"
plant man/ispot-dump.1 <<<"$(sed '/^\.It Li pause/d; s/ Li how= Ns Ar BITS//' man/ispot-dump.1)"
catches "a kind of record that ispot-dump(1) lacks" "< pause why" diff <(valued "$top") <(paged_values "$planted")
catches "a value that it lacks" "< wait kind syscall what how value" diff <(valued "$top") <(paged_values "$planted")
plant man/ispot.data.5 <<<"$(sed '/^\.It 38 contended/d' man/ispot.data.5)"
catches "a kind of record that ispot.data(5) lacks" "< 38 contended" diff <(numbered "$top") <(paged_numbers "$planted")
plant man/ispot-sci.7 <<<"$(sed 's/STACK_PERIOD 10000/STACK_PERIOD 20000/' man/ispot-sci.7)"
for folder in probes analysis; do [ -e "$planted/$folder" ] || ln -s "$PWD/$folder" "$planted/$folder"; done
catches "a number that is another in the source" "STACK_PERIOD 20000" constants "$planted"
plant man/ispot-sci.7 <<<"$(sed '/^\.It fsync Ta/d; s/^\.It pipe Ta pipe/.It pipe Ta lock/' man/ispot-sci.7)"
catches "a program that the matrix lacks" "< fsync: disk-io" diff "$planted/benched" <(tabled "$planted")
catches "another cause in the matrix" "> pipe: lock" diff "$planted/benched" <(tabled "$planted")
plant man/ispot-internals.7 <<<"$(sed 's#probes/edges/flow\.c#probes/edges/blocks.c#; s/^\.Fn do_seldom/.Fn do_often/' man/ispot-internals.7)"
catches "a file that was removed" "probes/edges/blocks.c" missing "$planted"
catches "a function that was renamed" "do_often" missing "$planted"
