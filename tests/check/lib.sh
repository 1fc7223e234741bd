# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# TAP for the checks. A check is a function that prints one line per violation in the tree it is
# given: `holds` says that there is none here, `catches` that a planted one is found.
# Checks that start python often start it with -S: its own library is all that they need, and looking for other
# packages takes longer than most of what they do.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
top=$PWD
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
ISPOT=${ISPOT:-$PWD/ispot}
tests=0
planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"; echo "1..$tests"' EXIT

ok() { # ok NAME COMMAND...: passes if the command succeeds
	local name=$1
	shift
	tests=$((tests + 1))
	if "$@"; then echo "ok $tests - $name"; else echo "not ok $tests - $name"; fi
}

skip() { # skip NAME REASON
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

silent() { # silent COMMAND...: succeeds if it prints nothing; what it prints is diagnosis
	local out
	out=$("$@" 2>&1)
	[ -z "$out" ] && return
	printf '%s\n' "$out" | sed 's/^/# /' >&2
	return 1
}

loud() { # loud WORD COMMAND...: succeeds if it prints WORD, an error and its hint as "what; what to do"
	local out
	out=$("${@:2}" 2>&1)
	out=${out//$'\n'hint: /; }
	case $out in *"$1"*) return 0 ;; esac
	printf '# expected "%s" in: %s\n' "$1" "$out" >&2
	return 1
}

holds() { ok "$1" silent "${@:2}"; }
catches() { ok "finds $1" loud "${@:2}"; }

# many: runs ispot for each line of its input: directory, output, arguments, with tabs between
many() { "$top/${B:-build}/many" "$ISPOT"; }
job() { # job DIRECTORY FILE COMMAND...: such a line
	printf '%s\t%s' "$1" "$2"
	printf '\t%s' "${@:3}"
	echo
}

# The golden traces' names
golden=("$top"/tests/golden/*.trace)
golden=("${golden[@]##*/}")
golden=("${golden[@]%.trace}")
goldens() { # goldens DIRECTORY: there they are as NAME.data
	local name
	for name in "${golden[@]}"; do
		job "$top/tests/golden" /dev/null dump --from-text "$name.trace" -o "$1/$name.data"
	done | many | sed 's/^/# /'
}

plant() { # plant PATH: stdin becomes that file of the planted tree
	local file=$planted/$1
	[ -d "${file%/*}" ] || mkdir -p "${file%/*}"
	cat >"$file"
}

# Of the files on stdin, of the project, those that the last commit or nobody yet committed, and one in N (12) of the others,
# each commit others: what `make test` looks at where all would take long (TESTS_QUICK). Else, and of a planted tree, all.
sampled() { # sampled ROOT [N]
	local f i=0 turn changed
	if [ -z "${TESTS_QUICK-}" ] || [ "$1" != "$top" ]; then
		cat
		return
	fi
	turn=$(git -c safe.directory='*' rev-list --count HEAD 2>/dev/null || echo 0)
	changed=" $(git -c safe.directory='*' diff --name-only HEAD~1 2>/dev/null | tr '\n' ' ')"
	while read -r f; do
		i=$((i + 1))
		[ $(((i + turn) % ${2:-12})) -ne 0 ] && [[ $changed != *" $f "* ]] || echo "$f"
	done
}

# The files of a tree that match patterns, one a line; of the project only those that git knows.
files() { # files ROOT PATTERN...
	local root=$1 f p
	shift
	if [ "$root" = "$top" ] && git -c safe.directory='*' -C "$root" ls-files -- "$@" 2>/dev/null; then
		return
	fi
	(cd "$root" && find . -type f ! -path './build/*' ! -path './.git/*') | sed 's|^\./||' | while read -r f; do
		# shellcheck disable=SC2254 # patterns
		for p in "$@"; do case $f in $p) echo "$f" && break ;; esac done
	done
}
