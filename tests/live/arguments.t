#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Arguments and return values arrive with the calls they are of, each as often as it was given.
. "$(dirname "$0")/lib.sh"
needs_probes

# values NAME MASK: how often each row of values came behind an entry, of a recording of one function
values() {
	"$ISPOT" dump --events -i "$1.data" | awk -v mask="mask=$2" '
		$4 == "entry" { entered[$3] = 1 }
		$4 == "args" && $5 == mask && entered[$3] { n[$6 (NF > 6 ? " " $7 : "") (NF > 7 ? " " $8 : "")]++ }
		$4 != "entry" && $4 != "stack" { delete entered[$3] }
		END { for (v in n) print n[v] "x " v }' | sort -k2n -k3n -k4n
}

# returns NAME FUNCTION: how often each value came directly before an exit of it
returns() {
	"$ISPOT" dump --events -i "$1.data" | awk -v f="$2" '
		$4 == "args" && $5 == "mask=0x200" { value[$3] = $6; next }
		$4 == "exit" && $5 == f && $3 in value { n[value[$3]]++ }
		{ delete value[$3] }
		END { for (v in n) print n[v] "x " v }' | sort -k2
}

described() { "$ISPOT" dump --meta -i "$1.data" | jq -r 'select(.kind == "function" and .args) | .args[] | "\(.name) \(.type) \(.class)"'; }

# all_are_recorded ENGINE FIRST: the arguments of all calls are recorded that are asked for, and otherwise of one in
# 16, and of FIRST calls more
all_are_recorded() {
	by_engine() { record "$1" --engine "$engine" "${@:2}"; }
	local engine=$1 n calls size tag
	shift
	by_engine weigh -F 'weigh@item,size,tag,ret' -- "$MB/arguments"
	is "$status" 0 "status"
	report weigh
	is "$(block weigh weigh .calls)" 12000 "calls"
	nothing_lost weigh
	is "$(described weigh)" "item int value
size uint64_t value
tag unsigned char value
ret long int value" "names and types from the prototype"
	is "$(values weigh 0x7 | awk '{ n[$2] += $1 } END { for (v in n) print n[v] "x " v }' | sort -k2)" \
		"2400x 0
2400x 1
2400x 18446744073709551614
2400x 18446744073709551615
2400x 2" "a signed argument, each value as often as given"
	is "$(values weigh 0x7 | awk '{ n[$3 " " $4] += $1 } END { for (v in n) print n[v] "x " v }' | sort -k2n -k3n)" \
		"$(for size in 1000 2000 4000; do for tag in 240 241 242 243; do echo "1000x $size $tag"; done; done)" \
		"arguments behind a floating-point number, and narrower than a register"
	is "$(returns weigh weigh | awk '/18446/ { print $2, $1 }')" "18446744073709551614 2400x
18446744073709551615 2400x" "return values, negative ones whole"
	is "$(returns weigh weigh | awk '{ sub("x", "", $1); n += $1 } END { print n }')" 12000 "every call has its return value"

	# The third argument is the second that is in an integer register.
	"$ISPOT" report --no-key '*' --key weigh@arg3 --json -i weigh.data >third.json
	is "$(jq -c '[.blocks[] | select(.key) | [.key, .calls]] | sort' third.json)" \
		'[["size=1000",4000],["size=2000",4000],["size=4000",4000]]' "report --key counts arguments as record -F does"

	by_engine pick -F 'pick@arg4' -- "$MB/arguments"
	is "$(values pick 0x8)" "6000x 0
6000x 1" "a fourth argument"

	by_engine all -F 'pick@arg1,arg5' -- "$MB/arguments"
	is "$(values all 0x11)" "12000x 1 5" "two of five"

	by_engine both -F 'pick@arg4' -F 'pick@arg5' -F 'pi*' -- "$MB/arguments"
	is "$(values both 0x18)" "6000x 0 5
6000x 1 5" "arguments that several patterns name"

	# Without debug information an argument is the integer register that it comes in: of weigh the second
	# is its third argument, as the one before is a floating-point number.
	if command -v strip >/dev/null; then
		strip -g -o bare "$MB/arguments"
		by_engine bare -F 'weigh@arg2,ret' -- ./bare
		is "$status" 0 "no debug information: status"
		is "$(values bare 0x2)" "$(for size in 1000 2000 4000; do echo "4000x $size"; done)" \
			"no debug information: by register"
		is "$(returns bare weigh | awk '{ sub("x", "", $1); n += $1 } END { print n }')" 12000 \
			"no debug information: and what it returned"
		by_engine bad -F 'weigh@size' -- ./bare
		is "$status" 2 "no debug information: a name"
		like bad.err 'weigh@size: .*without debug information: name it argN or ret' "says what to name"
	else
		skip "no debug information" "no strip here"
	fi

	# Without a request: one call in 16, the first ones always, what is a number and no pointer.
	by_engine few -F process_sized -- "$MB/sized_work"
	is "$(described few)" "size uint64_t value
thread unsigned int value" "integer arguments by default"
	n=$("$ISPOT" dump --events -i few.data | grep -c ' args mask=0x3 ')
	calls=$(awk -F'[ =]' '$1 == "expect" { print $5 }' few.out)
	[ "$n" -gt $((calls / 24)) ] && [ "$n" -lt $((calls / 12 + $1)) ]
	ok $? "of one call in 16" || diag "$n of $calls"
	report few
	is "$(block few process_sized .workload.argument)" 1 "the size is found to be what the time follows"
	"$ISPOT" report -i few.data --key process_sized@size >few.out2 2>few.err2
	like few.err2 'without its arguments; record it' "calls are not told apart by it"
	by_engine without --no-key '*' -F process_sized -- "$MB/sized_work" -n 1009
	is "$(described without)" "" "--no-key turns it off"
	by_engine pointer -F touch_pages -- "$MB/pagefault" -n 101
	is "$(described pointer)" "thread unsigned int value" "a pointer is no number"

	# What a glob chooses need not all have the argument, but one must.
	by_engine some -F 'weigh*@size' -- "$MB/arguments"
	is "$status" 0 "an argument that some of a glob have: status"
	like some.err '^ispot: 1 function of -F is recorded without an argument named behind @: weigh_box@size: there is no such argument; ' \
		"an argument that some of a glob have: said of the others"
	report some
	is "$(block some weigh .calls) $(block some weigh_box .calls)" "12000 2" "an argument that some of a glob have: all are traced"
	is "$(values some 0x2 | awk '{ sub("x", "", $1); n += $1 } END { print n }')" 12000 "an argument that some of a glob have: recorded"
	jq -r '.notices[]' some.json >some.notices
	like some.notices 'weigh_box@size: there is no such argument' "an argument that some of a glob have: said by the report"
	by_engine bad -F 'weigh*@colour' -- "$MB/arguments"
	is "$status" 2 "weigh*@colour: no recording"
	like bad.err 'weigh[_a-z]*@colour: there is no such argument' "weigh*@colour: says why"
}

all_are_recorded kernel 0
if "$ISPOT" bench --engine in-process >bench.out 2>&1; then
	all_are_recorded in-process 2000 # of two threads the first 4,096 records
else
	skip "the same in process" "none here: $(joined bench.out)"
fi

# Without a request: what the table of known functions names.
# shellcheck disable=SC2016
record known -F write -- sh -c 'i=0; while [ $i -lt 11 ]; do echo hello; i=$((i + 1)); done'
is "$(values known 0x5)" "11x 1 6" "write's file and size by default"
record off --no-key write -F write -- sh -c 'echo hello'
is "$(described off)" "" "--no-key: none of write's"
unlike off.err 'no-key' "--no-key: nothing to say about it"
record typo --no-key wirte -F write -- sh -c 'echo hello'
like typo.err '^ispot: --no-key wirte: no function of that name was traced' "--no-key of no function is said"
record none --no-key '*' -F write -- sh -c 'echo hello'
is "$(described none)" "" "--no-key '*': none of any function's"
record asked --no-key '*' -F 'write@arg3' -- sh -c 'echo hello'
is "$(values asked 0x4)" "1x 6" "--no-key '*' leaves what is asked for"

# refused PATTERN REGEX
refused() {
	record bad -F "$1" -- "$MB/arguments"
	is "$status" 2 "$1: no recording"
	like bad.err "$2" "$1: says why and shows the prototype"
}
refused weigh@weight 'weigh@weight: it is a floating-point number.*weigh\(int item, double weight'
refused weigh_box@b 'weigh_box@b: it is a structure, which is in no integer register; it is .*weigh_box\('
refused weigh_box@number 'weigh_box@number: it is behind a structure, so its register is not certain'
refused weigh@arg99 'there is no such argument.*weigh\(int item'
refused weigh@arg-1 'there is no such argument.*weigh\(int item'
refused weigh@arg5 'there is no such argument.*weigh\(int item'
refused weigh@colour 'there is no such argument.*weigh\(int item'
refused weigh@arg0 'count from 1'
refused weigh@arg1,,arg2 'empty'

"$ISPOT" check -F 'weigh*@size' "$MB/arguments" >check.out 2>check.err
is "$? $(grep -c 'weigh_box@size: there is no such argument' check.out)" "0 1" "check says so, too" || diag check.out check.err

# Where a function ends with a jump into another one, the value that it returns is not there yet.
cat >tail.c <<'EOC'
__attribute__((noinline, noclone)) long last(long x) { __asm__ volatile(""); return 3 * x; }
__attribute__((noinline, noclone)) long tail(long x) { __asm__ volatile(""); return last(x + 1); }
int main(void) { long sum = 0; for (long i = 0; i < 101; i++) sum += tail(i % 2); return sum == 0; }
EOC
if cc -O2 -o tail tail.c 2>compile.err; then
	record tail --engine auto -F tail@ret -- ./tail
	is "$(returns tail tail)" "51x 3
50x 6" "a tail call: the value that the other function returns" || diag tail.err
	record gone --engine in-process -F tail@ret -- ./tail
	is "$status" 125 "in process alone: refused"
	like gone.err '-F tail@ret: where tail can be patched, that argument is gone' "in process alone: says why"
else
	skip "a tail call: the value that the other function returns" "no C compiler"
fi

# Of a copy that the compiler made of a function the parameters stand in other registers, or in none.
if command -v gcc >/dev/null; then
	cat >copy.c <<-'EOC'
		static __attribute__((noinline)) long scaled(long mode, long x)
		{
			volatile long v = x * mode;
			return v + mode;
		}
		__attribute__((noinline)) long ninth(long a, long b, long c, long d, long e, long f, long g, long h, long i)
		{
			volatile long v = a + b + c + d + e + f + g + h + i;
			return v;
		}
		int main(void)
		{
			long sum = 0;
			for (long i = 0; i < 1001; i++)
				sum += scaled(3, i % 7 + 40) + ninth(1, 2, 3, 4, 5, 6, 7, 8, i);
			return sum == 0;
		}
	EOC
	gcc -O2 -g -o copy copy.c
	record copy -F scaled@x -- ./copy
	report copy
	is "$(block copy scaled.constprop.0 .calls)" 1001 "a copy without a parameter: its calls"
	is "$(values copy 0x1)" "$(for x in 40 41 42 43 44 45 46; do echo "143x $x"; done)" \
		"a copy without a parameter: what is left of them"
	record bad -F scaled@mode -- ./copy
	is "$status" 2 "what a copy was made without: no recording"
	like bad.err 'scaled.constprop.0@mode: by its debug information the compiler has left it out of the function; it is long int scaled' \
		"what a copy was made without: said" || diag bad.err
	record bad -F ninth@i -- ./copy
	is "$status" 2 "an argument on the stack: no recording"
	like bad.err 'ninth@i: it is passed on the stack; it is long int ninth\(long int a' "an argument on the stack: said"
	if command -v clang >/dev/null; then # makes no copy, and does not say so
		clang -O2 -g -o copy-clang copy.c
		record clang -F scaled@x -- ./copy-clang
		is "$(values clang 0x1)" "$(for x in 40 41 42 43 44 45 46; do echo "143x $x"; done)" \
			"clang: what is left of a function's arguments"
		record bad -F scaled@mode -- ./copy-clang
		is "$status" 2 "clang: what a function was made without: no recording"
		record bad -F scaled@ret -- ./copy-clang
		like bad.err 'scaled@ret: the compiler, which has left out arguments, may have left it out' "clang: or may have been"
	else
		skip "functions that clang changes" "no clang here"
	fi
	strip -g -o copy-bare copy
	record bad -F ninth@arg9 -- ./copy-bare
	is "$status" 2 "an argument on the stack, no debug information: no recording"
	like bad.err 'ninth@arg9: arguments from there on are on the stack' "an argument on the stack, no debug information: said"
else
	skip "copies that the compiler makes" "no gcc here"
fi

# What report says of an argument that was not recorded is what record says when it is told to.
record later -F weigh -F weigh_box -F pick -- "$MB/arguments"
is "$status" 0 "asked later: status"
# agree FUNCTION ARG...
agree() {
	local function=$1 word advice
	shift
	for word; do
		"$ISPOT" report -i later.data --key "$function@$word" >later.out2 2>later.err2
		grep -q "record it with -F '$function@$word'\$" later.err2
		advice=$?
		record bad -F "$function@$word" -- "$MB/arguments"
		is "$status" $((advice ? 2 : 0)) "$function@$word: recorded if report says so" ||
			diag "$(cat later.err2 bad.err)"
	done
}
agree weigh weight size arg2 arg3 arg5 ret colour
agree weigh_box b number arg1 ret
"$ISPOT" report -i later.data --key weigh_box@b >later.out2 2>later.err2
like later.err2 'b cannot be recorded: it is a structure, which is in no integer register' "and why not"

done_testing
