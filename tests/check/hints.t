#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# An error says what failed and then what to do: the format has both, "problem; hint", which src/main.c prints as two
# lines. A format that has no hint of its own stands here with the reason.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
	skip "hints" "python3 is missing"
	exit
fi

cat >"$planted/hints.py" <<'EOP'
import re, sys

def call(source, start):
    """From the name to the parenthesis that closes it; strings may hold any."""
    depth = 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[()]', source[start:]):
        depth += (token[0] == "(") - (token[0] == ")")
        if not depth:
            return source[start:start + token.end()]
    return source[start:]

root, *files = sys.argv[1:]
for file in files:
    source = open(f"{root}/{file}", encoding="utf-8").read()
    for m in re.finditer(r"\b(?:err_set|args_refuse)\((?!struct)", source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call(source, m.start())))
        if "; " not in text:
            print(f"{file}: {text or 'no literal'}")
EOP
unhinted() { # unhinted ROOT: formats without a hint that are not known
	(cd "$1" && files "$1" 'src/*.c' 'probes/*.c' 'analysis/*.c' 'report/*.c' 'pmu/*.c' |
		xargs -r python3 "$planted/hints.py" "$1" | grep -vxF "$known")
	true
}
# A notice may have no hint. If it says what to do, that is its hint, behind "; ", and begins with what to do.
cat >"$planted/notices.py" <<'EOP'
import re, sys

sys.argv[1:], verbs = sys.argv[2:], sys.argv[1]
exec(open(sys.argv.pop(1), encoding="utf-8").read().split("root, *files")[0])
root, *files = sys.argv[1:]
for file in files:
    source = open(f"{root}/{file}", encoding="utf-8").read()
    for m in re.finditer(r"\b(?:log_notice|log_detail|(?:session|recording|inproc)_write_notice)\((?!struct)", source):
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call(source, m.start())))
        if "; " in text and not re.match(verbs, text.rsplit("; ", 1)[1]):
            print(f"{file}: no hint: {text}")
        elif re.search(f"(?:: |, )(?:{verbs})", text) and "; " not in text:
            print(f"{file}: hint in a clause: {text}")
EOP
verbs='(?:end|record|give|raise|name|run|see|set|put|choose|free|let|chown|push|include|use|trace|attach) '
unsaid() { # unsaid ROOT: notices that say what to do otherwise
	(cd "$1" && files "$1" 'src/*.c' 'probes/*.c' 'analysis/*.c' 'report/*.c' 'pmu/*.c' |
		xargs -r python3 "$planted/notices.py" "$verbs" "$planted/hints.py" "$1")
}
known=$(sed 's/ *#.*//; /^ *$/d' <<'EOK'
analysis/fleet/clickhouse/engine.c: %s   # its two texts have hints; what is refused is not shown
probes/select/missing.c: %s              # texts that are put together, with a hint at their end
src/cmd/common/engine.c: %s              # an option that makes ispot use kernel probes: a notice
src/base/log.c: %s                       # a notice, which need not have a hint
src/cli/args.c: %s                       # no error: -h was answered
src/cmd/diff.c: no literal               # a text of several uses, with a hint
src/symbol/dso/parser.c: %s              # what the child that reads the file said, with its hint
src/trace/fixture/expression.c: %s       # texts of its callers, with hints
EOK
)

holds "every error says what to do" unhinted "$top"
holds "and every notice that does, as a hint" unsaid "$top"
plant src/cmd/new.c <<<'return err_set(err, -EIO, "cannot read %s", path);'
catches "an error without a hint" "src/cmd/new.c: cannot read %s" unhinted "$planted"
plant src/cmd/usage.c <<<'return args_refuse(err, "--rule takes paper "
	"or (robust)");'
catches "a refusal without one" "src/cmd/usage.c: --rule takes paper or (robust)" unhinted "$planted"
plant src/cmd/told.c <<<'log_notice("none was recorded: record with a smaller -c");'
catches "a hint within a notice" "src/cmd/told.c: hint in a clause" unsaid "$planted"
plant src/cmd/told.c <<<'log_notice("%s does not answer; it is asked again", host);'
catches "a notice whose second clause is no hint" "src/cmd/told.c: no hint" unsaid "$planted"
