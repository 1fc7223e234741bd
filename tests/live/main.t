#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What main does for every command: help, nearest names, exit statuses, closed pipes, full disks,
# pager, completion. Needs no root.
# shellcheck disable=SC2016 # commands for another shell, and backquotes in messages
. "$(dirname "$0")/../check/lib.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" "$planted"; echo "1..$tests"' EXIT

# exits STATUS PATTERN COMMAND...: exit status, and a glob for stdout and stderr together
exits() {
	local want=$1 pattern=$2 out rc
	shift 2
	out=$("$@" 2>&1)
	rc=$?
	out=${out//$'\n'hint: /; }
	# shellcheck disable=SC2053 # a glob
	[ $rc -eq "$want" ] && [[ $out == $pattern ]] && return
	printf '# exit %s, wanted %s; output: %s\n' $rc "$want" "${out//$'\n'/$'\n# '}"
	return 1
}

shell() { bash -c "$1" "$ISPOT" "${@:2}"; }

two_lines() { # what goes to stderr is a line that begins with "ispot: ", and one with "hint: "
	local out
	out=$("$@" 2>&1 >/dev/null)
	[[ $out == "ispot: "*$'\n'"hint: "* && $out != *$'\n'*$'\n'* ]] && return
	printf '# not a problem and a hint: %s\n' "$out"
	return 1
}

ok "--help lists the commands" exits 0 $'usage: ispot*\n  report *' "$ISPOT" --help
ok "nothing to do is a usage error" exits 2 'usage: ispot*' "$ISPOT"
ok "--version" exits 0 'ispot [0-9]*' "$ISPOT" --version
ok "a command's --version" exits 0 'ispot [0-9]*' "$ISPOT" report --version
ok "an unknown command, with the nearest" exits 2 '*did you mean `ispot report`?' "$ISPOT" reprot
ok "an unknown command, far from any" exits 2 '*`ispot --help` lists them' "$ISPOT" frobnicate
ok "a short one, far from any" exits 2 '*`ispot --help` lists them' "$ISPOT" frob
ok "an error is a problem and a hint" two_lines "$ISPOT" frobnicate
ok "a hostile command name cannot write to the terminal" exits 2 'ispot: ??\[2J: *' \
	"$ISPOT" $'\n\033[2J'
ok "help CMD is CMD -h" exits 0 'same' \
	shell 'cmp <("$0" help report) <("$0" report -h) && echo same'
ok "-h behind other options" exits 0 'usage: ispot report*' "$ISPOT" report -v -h
ok "a verb's -h has its own options only, and their help" \
	exits 0 $'usage: ispot fleet reduce *keep separate rows for each TIME (default 1h)\n  --trios *\nexamples:\n  ispot fleet reduce *' \
	"$ISPOT" fleet reduce -h
ok "and no other's" exits 1 '' shell '"$0" fleet reduce -h | grep -e "report" -e "--alpha"'
for command in $("$ISPOT" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
	ok "$command: a usage error exits 2" exits 2 'ispot: '"$command"': no option --nonsense; -h lists the options' "$ISPOT" "$command" --nonsense
done
for words in "record -d x true" "record" "record -m 1 true" "record -c 0 true" "record -p x" "stat -d 0 -F f true" "stat -I x -F f true" "record --burst 1s true" "record -g x true"; do
	# shellcheck disable=SC2086 # words
	ok "$words: so does this" exits 2 'ispot: *; *' "$ISPOT" $words
done
ok "help for no command" exits 2 '*no such command*' "$ISPOT" help nope
ok "an unknown option is a usage error" exits 2 '*did you mean --input?' "$ISPOT" report --inptu x
ok "an error is a problem and a hint" two_lines "$ISPOT" report --inptu x
ok "full output is a failure" exits 1 'ispot: cannot write the output: No space left*' \
	shell '"$0" --help >/dev/full'
ok "a full disk, where a page is written: nothing was recorded, and there is no -o" exits 1 \
	'ispot: report: /dev/full: No space left on device; what was written before is kept, free some space or name another file' \
	shell 'echo "1000 0 1/1 comm x" | "$0" dump --from-text - -o "$1/p" && "$0" report -i "$1/p" --html /dev/full' "$work"
ok "a closed stdout is no place for an opened file, and none to write to" \
	exits 1 'ispot: cannot write the output: Bad file descriptor; *' shell '"$0" --help >&-'
# The reader is gone before ispot writes.
left='exec 3> >(:); wait $!; "$0" --help >&3; echo $?'
ok "a reader who leaves ends ispot quietly" exits 0 141 shell "$left"
ok "the same where SIGPIPE is ignored" exits 0 141 shell "trap '' PIPE; $left"

on_terminal() { # on_terminal COMMAND: its stdout and stderr are a terminal
	python3 -c 'import pty, sys, os; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
		bash -c "$1" "$ISPOT" </dev/null
}

{ echo '{"kind":"function","id":0,"name":"f","symbol":"f"}'; echo '1000 0 1/1 entry f sp=0x100'
	echo '2000 0 1/1 exit f sp=0x100'; } >"$work/t.txt"
"$ISPOT" dump --from-text "$work/t.txt" -o "$work/t.data"

ok "a pager on a terminal" exits 0 '*PAGED*"version"*' on_terminal \
	"ISPOT_PAGER='echo PAGED; cat' \"\$0\" report --json -i $work/t.data; exit 0"
pager_environment() { on_terminal "ISPOT_PAGER='cat >/dev/null; echo \"LESSSECURE=[\$LESSSECURE]\"' \"\$0\" report --json -i $work/t.data; exit 0"; }
if [ "$(id -u)" = 0 ]; then
	ok "root's pager is told to be secure" exits 0 '*LESSSECURE=?1?*' pager_environment
else
	skip "root's pager is told to be secure" "needs root"
fi
ok "PAGER=cat is none" exits 0 '*"version"*' on_terminal \
	"PAGER=cat \"\$0\" report --json -i $work/t.data"
ok "no pager in a pipe" exits 0 '{*' shell "ISPOT_PAGER='echo PAGED' \"\$0\" report --json -i $work/t.data | cat"
ok "an error before any output starts no pager" exits 1 'ispot: report: *' on_terminal \
	"ISPOT_PAGER='echo PAGED' \"\$0\" report -i /nonexistent"

unset NO_COLOR
escapes() { # escapes COMMAND: whether what it writes to a terminal has colours
	local seen
	seen=$(on_terminal "$1") # to its end: pty.spawn waits for ever when its reader leaves
	grep -q "$(printf '\033')\\[" <<<"$seen" && echo colours || echo none
}
"$ISPOT" dump --from-text "$top/tests/golden/story.trace" -o "$work/story.data"
report="PAGER=cat TERM=xterm \"\$0\" report -i $work/story.data"
ok "colours on a terminal" exits 0 'colours' escapes "$report"
ok "none with NO_COLOR" exits 0 'none' escapes "NO_COLOR=1; export NO_COLOR; $report"
ok "none in a pipe" exits 0 'none' escapes "$report | cat"

complete_at() { # complete_at WORD...: what bash offers for the last of the words
	bash -c '. <("$0" --completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_ispot; echo "${COMPREPLY[*]}"' "$ISPOT" "$@"
}

ok "completion is a script" exits 0 '' shell 'bash -n <("$0" --completion bash)'
ok "completion of commands" exits 0 'report' complete_at ispot rep
ok "completion of long options" exits 0 '*--json*' complete_at ispot report --
ok "completion of an option's file" exits 0 '*/Makefile' complete_at ispot report -i "$top/Makef"
ok "completion of an export's file" exits 0 '*/Makefile' complete_at ispot export -o "$top/Makef"
for command in $("$ISPOT" --completion bash | sed -n "s/^.*compgen -W 'help \(.*\) --help.*/\1/p"); do
	ok "completion of $command's options" exits 0 '*--help*' complete_at ispot "$command" --
done
ok "nothing to complete where only the user knows" exits 0 '' complete_at ispot report --top ''
ok "completion for another shell" exits 2 '*name bash, fish or zsh*' "$ISPOT" --completion tcsh
ok "completion for no shell" exits 2 '*name bash, fish or zsh*' "$ISPOT" --completion

# Each option of each command, as bash has it, is offered by the others, too.
"$ISPOT" --completion bash | sed -n "s/^\t\toptions='\(.*\)'/\1/p" | tr ' ' '\n' | grep -vxE -e '-h|--help' | sort >"$work/options"
zsh_options() { "$ISPOT" --completion zsh | sed -nE "s/^\t\t'\*?(--?[A-Za-z0-9-]+)[=+[].*/\1/p" | sort; }
fish_options() {
	"$ISPOT" --completion fish | sed -nE "s/^complete -c ispot -n '__fish_seen_subcommand_from [^']*'(( -[sl] [A-Za-z0-9-]+)+).*/\1/p" |
		sed -E 's/ -s (.)/ -\1/g; s/ -l / --/g' | tr ' ' '\n' | grep . | grep -vxE -e '-h|--help' | sort
}
alike() { diff "$work/options" <("$1") >"$work/differ" || { sed 's/^/# /' "$work/differ"; return 1; }; }
ok "zsh's completion has the options of bash's" alike zsh_options
ok "fish's completion has the options of bash's" alike fish_options
# The words of which an option takes one are the same in all three, as lines "--by function lock ...".
bash_choices() {
	"$ISPOT" --completion bash | sed -nE "s/^\t\tcase \\\$previous in ([^)]*)\) mode=choice options='([^']*)'.*/\1 \2/p" |
		while read -r spellings words; do tr '|' '\n' <<<"$spellings" | sed "s/\$/ $words/"; done | sort
}
zsh_choices() { "$ISPOT" --completion zsh | sed -nE "s/^\t\t'\*?(--?[A-Za-z0-9-]+)[=+].*:\(([a-z -]+)\)'.*/\1 \2/p" | sort; }
fish_choices() {
	"$ISPOT" --completion fish | sed -nE "s/^complete -c ispot -n '__fish_seen_subcommand_from [^']*'(( -[sl] [A-Za-z0-9-]+)+) -x -a '([^']*)'.*/\1:\3/p" |
		while IFS=: read -r spellings words; do
			sed -E 's/ -s (.)/ -\1/g; s/ -l / --/g' <<<"$spellings" | tr ' ' '\n' | grep . | sed "s/\$/ $words/"
		done | sort
}
bash_choices >"$work/options"
ok "bash's completion has the words that options take" grep -qx -e '--by function lock sequence site thread transition' "$work/options"
ok "zsh's completion has the same" alike zsh_choices
ok "fish's completion has the same" alike fish_choices
ok "bash offers them" exits 0 'sequence site' complete_at ispot report --by s
# Each of them is one that the command takes.
refused() { # refused COMMAND OPTION WORD: what is said of it, with the options without which it is not looked at
	local with=()
	case $1$2 in
	report--states) with=(--by transition) ;;
	export--states) with=(--format dot -o -) ;;
	esac
	"$ISPOT" "$1" "$2=$3" "${with[@]}" -i "$work/t.data" 2>&1 >/dev/null | head -1 | sed "s/$3/WORD/g"
}
taken() {
	local command option words word nonsense
	for command in report export outliers; do
		"$ISPOT" --completion bash | sed -n "/^\t${command}[|)]/,/;;\$/p" | sed -nE "s/.* in .*(--[a-z-]+)\) mode=choice options='([^']*)'.*/\1 \2/p" |
			while read -r option words; do
				nonsense=$(refused "$command" "$option" nonsense)
				[ "$nonsense" ] || echo "# $command takes $option=nonsense"
				for word in $words; do
					[ "$(refused "$command" "$option" "$word")" != "$nonsense" ] || echo "# $command takes no $option=$word"
				done
			done
	done
}
ok "and commands take them" exits 0 '' taken
ok "of another word the command would say so" [ "$(refused report --by thraed)" = "$(refused report --by nonsense)" ]
if command -v zsh >/dev/null; then
	ok "zsh's completion is a script" exits 0 '' shell '"$0" --completion zsh >'"$work/_ispot && zsh -n $work/_ispot"
	zsh_at() { # zsh_at CURRENT WORD...: what it asks of zsh's own functions
		zsh -fc 'compdef() { :; }; _arguments() { print -rl -- "$@"; }; _describe() { print -rl -- $commands; }
			source "$1"; CURRENT=$2; shift 2; words=("$@"); _ispot' - "$work/_ispot" "$@"
	}
	ok "zsh's commands" exits 0 '*report:rank*' zsh_at 2 ispot rep
	ok "zsh's options" exits 0 '*--json\[*' zsh_at 3 ispot report --
	ok "zsh's options of a command's other name" exits 0 '*--from-text=*' zsh_at 3 ispot script --
else
	skip "zsh's completion" "no zsh; run make deps"
fi
if command -v fish >/dev/null; then
	fish_at() { HOME=$work PATH=$(dirname "$ISPOT"):$PATH fish --no-config -c '$argv[1] --completion fish | source; complete -C $argv[2]' "$ISPOT" "$1"; }
	ok "fish's commands" exits 0 '*report*rank*' fish_at 'ispot rep'
	ok "fish's options" exits 0 '*--json*' fish_at 'ispot report --j'
	ok "fish's files" exits 0 '*Makefile*' fish_at 'ispot report -i Makef'
else
	skip "fish's completion" "no fish; run make deps"
fi
