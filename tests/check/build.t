#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What make says where packages are missing, and what it leaves behind.
. "$(dirname "$0")/lib.sh"

# A pkg-config that knows everything but libzstd.
mkdir -p "$planted/bin" "$planted/none"
cat >"$planted/bin/pkg-config" <<'EOS'
#!/bin/sh
case " $* " in *" libzstd "*) exit 1 ;; esac
PATH=${PATH#*:} exec pkg-config "$@"
EOS
chmod +x "$planted/bin/pkg-config"

unset MAKEFLAGS MAKELEVEL MFLAGS
export -n B

lacking() { PATH=$planted/bin:$PATH make B="$planted/build" 2>&1; }

one_line() { # one_line GLOB COMMAND...: fails and prints just one line that matches
	local out
	# shellcheck disable=SC2053 # a glob
	if out=$("${@:2}" 2>&1) || [[ $out == *$'\n'* || $out != $1 ]]; then
		printf '# %s\n' "${out//$'\n'/$'\n# '}"
		return 1
	fi
}

ok "a missing library is one line that names it and make deps" \
	one_line '*missing: libzstd-dev; run: make deps*' lacking

# Without apt: only what .make/deps itself needs is in PATH.
for c in bash sed paste cat id dirname; do ln -s "$(command -v $c)" "$planted/none/$c"; done
no_apt() { PATH=$planted/none "$top/.make/deps" install build; }
ok "without apt-get one line says what to install" \
	one_line 'missing: gcc * and there is no apt-get; *' no_apt

# Another user without sudo, in a PATH with apt-get but without the packages.
printf '#!/bin/sh\nexit 1\n' >"$planted/none/apt-get"
printf '#!/bin/sh\necho 1000\n' >"$planted/id"
chmod +x "$planted/none/apt-get" "$planted/id"
mv -f "$planted/id" "$planted/none/id"
no_root() { PATH=$planted/none "$top/.make/deps" install build </dev/null; }
ok "without root one line has the command" \
	one_line 'missing: * as root run: apt-get update && apt-get install *libzstd-dev*' no_root

ignored() { [ "$(git -c safe.directory="*" check-ignore build/x ispot ispot.data ispot.data.old | wc -l)" = 4 ]; }
not_ignored() { ! git -c safe.directory='*' check-ignore -q src/x.c; }
if git -c safe.directory='*' rev-parse 2>/dev/null; then
	ok "what make makes is ignored by git" ignored
	ok "sources are not" not_ignored
else
	skip "what make makes is ignored by git" "not a git repository"
fi

# What the linker and the compiler did against exploits. hardened FILE: prints what is missing.
hardened() {
	readelf -lW "$1" >"$planted/segments"
	readelf -dW "$1" >"$planted/dynamic"
	readelf -sW --dyn-syms "$1" >"$planted/symbols"
	grep -q 'GNU_STACK.* RW ' "$planted/segments" || echo "an executable stack"
	grep -q GNU_RELRO "$planted/segments" || echo "no RELRO"
	grep -Eq 'BIND_NOW|FLAGS.* NOW' "$planted/dynamic" || echo "not bound at the start"
	! grep -q TEXTREL "$planted/dynamic" || echo "text that is relocated"
	readelf -hW "$1" | grep -q 'Type: *DYN' || echo "a fixed address"
	case $1 in *preload*) return ;; esac
	grep -q __stack_chk_fail "$planted/symbols" || echo "no stack protector"
	case $1 in */ispot) grep -Eq '__(memcpy|snprintf|vsnprintf|fprintf|read)_chk' "$planted/symbols" || echo "no FORTIFY_SOURCE" ;; esac
}
is_hardened() { [ -z "$(hardened "$1")" ] || { hardened "$1" | sed 's/^/# /'; return 1; }; }
if [ "${B:-build}" = build ] && ! readelf -sW ispot | grep -q __asan_init; then
	for f in build/ispot build/libispot-edges.so build/libispot-java.so build/libispot-preload.so; do
		[ ! -e $f ] || ok "$(basename $f) is hardened" is_hardened $f
	done
	landing_pads() { [ "$(uname -m)" != x86_64 ] || [ "$(objdump -d build/ispot --section=.text | grep -c endbr64)" -gt 1000 ]; }
	ok "landing pads for indirect jumps" landing_pads
	# Shadow stacks and branch tracking are on only in a program whose every object says that it is made for
	# them. ispot's own all do; of the C library's start files some systems' do not, and then the linker drops
	# the word. It is not put back by force (-z ibt): those files have no landing pads, so a kernel that
	# takes the word for true would end ispot at its first jump; -z shstk alone turns nothing on where the C library was
	# built without it.
	case $(uname -m) in
	x86_64) property='IBT, SHSTK' ;;
	aarch64) property='BTI' ;;
	*) property= ;;
	esac
	has_property() { readelf -nW "$1" 2>/dev/null | grep -q "feature: .*$property"; }
	lacks_property() { # FILE...: prints those
		local file
		for file; do has_property "$file" || echo "$file"; done
	}
	mapfile -t objects < <(find build/obj -name '*.o' && find build -maxdepth 2 -name '*.embed.o')
	own_objects() { [ -z "$property" ] || lacks_property "${objects[@]}" | sed 's/^/# no property: /'; }
	no_own_object_lacks_it() { [ -z "$(own_objects)" ] || { own_objects; return 1; }; }
	ok "each object of ispot's has the property of control-flow protection" no_own_object_lacks_it
	start_files=()
	for f in Scrt1.o crti.o crtn.o crtbeginS.o crtendS.o; do start_files+=("$(gcc -print-file-name=$f)"); done
	lacking=$(lacks_property "${start_files[@]}" | sed 's|.*/||' | paste -sd' ')
	if [ -z "$property" ] || has_property build/ispot; then
		ok "so has ispot" true
	elif [ "$lacking" ]; then
		skip "so has ispot" "the C library's $lacking have not, so no program of this system has"
	else
		ok "so has ispot" false
	fi
	echo 'int main(void) { return 0; }' | gcc -x c -no-pie -fno-stack-protector -Wl,-z,lazy,-z,norelro,-z,execstack \
		-o "$planted/soft" - 2>/dev/null
	echo 'int x;' | gcc -x c -c -o "$planted/soft.o" -fcf-protection=none - 2>/dev/null ||
		echo 'int x;' | gcc -x c -c -o "$planted/soft.o" -
	[ -z "$property" ] || ok "finds an object without the property" [ "$(lacks_property "$planted/soft.o" | wc -l)" = 1 ]
	finds_all() { [ "$(hardened "$planted/soft" | wc -l)" = 5 ] || { hardened "$planted/soft"; return 1; }; }
	ok "finds a program that is not" finds_all
else
	skip "ispot is hardened" "of this kind of build it is not said"
fi

installs() {
	make -s install DESTDIR="$planted/root" PREFIX=/usr >/dev/null 2>&1
	"$planted/root/usr/bin/ispot" --version
	for f in man/*.[1-8]; do
		[ -s "$planted/root/usr/share/man/man${f##*.}/${f#man/}" ] || echo "$f is missing"
	done
	for f in bash-completion/completions/ispot zsh/site-functions/_ispot fish/vendor_completions.d/ispot.fish; do
		[ -s "$planted/root/usr/share/$f" ] || echo "$f is missing"
	done
}
ok "make install puts program, pages and completion into place" \
	test "$(installs)" = "$("$ISPOT" --version)"
