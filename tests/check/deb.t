#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian package: it holds the program, every page, and the completion, and knows what it needs.
. "$(dirname "$0")/lib.sh"

version=$("$ISPOT" --version | awk 'NR == 1 { print $2 }')
if ! command -v dpkg-shlibdeps >/dev/null || ! command -v dpkg-deb >/dev/null; then
	skip "a package is made" "no dpkg-dev"
	exit
fi
ok "a package is made" .make/deb "$version" "$planted"
package=$(find "$planted" -name 'ispot_*.deb')
dpkg-deb -c "$package" | awk '{ print $1, $2, $6 }' >"$planted/list"

missing() { # what ought to be in it and is not
	local f
	for f in ./usr/bin/ispot ./usr/share/bash-completion/completions/ispot ./usr/include/ispot.h \
		./usr/share/zsh/vendor-completions/_ispot ./usr/share/fish/vendor_completions.d/ispot.fish \
		./usr/lib/ispot/libispot-edges.so \
		./usr/share/doc/ispot/copyright; do
		grep -q " $f$" "$planted/list" || echo "$f is not in it"
	done
	for f in man/*.[1-8]; do
		grep -q " ./usr/share/man/man${f##*.}/$(basename "$f").gz$" "$planted/list" || echo "$f is not in it"
	done
}
others() { # not root's, or writable by others
	awk '$2 != "root/root" || $1 ~ /^.......?w/ && $1 !~ /^l/' "$planted/list"
}

holds "with the program, its pages and its completion" missing
holds "all of it root's" others
ok "it names the libraries it needs" loud libdw dpkg-deb -f "$package" Depends
ok "and has the program's version" [ "$(dpkg-deb -f "$package" Version)" = "$version" ]
dpkg-deb -x "$package" "$planted/root"
beside() { # what README shows and is not beside it
	grep -oE '\]\([^)#:]+\)' "$1/README.md" | tr -d '])(' | while read -r f; do [ -e "$1/$f" ] || echo "$f"; done
}
holds "README's pictures are beside it" beside "$planted/root/usr/share/doc/ispot"
ok "what is in it runs" loud "ispot $version" "$planted/root/usr/bin/ispot" --version
if command -v lintian >/dev/null; then
	complaints() { lintian --fail-on none "$1" 2>/dev/null | grep '^[EW]:'; }
	holds "lintian finds no error and nothing to warn of" complaints "$package"
	dpkg-deb -R "$package" "$planted/bare"
	rm "$planted/bare/usr/share/doc/ispot/copyright"
	dpkg-deb --root-owner-group -b "$planted/bare" "$planted/bare.deb" >/dev/null
	catches "what is missing" "no-copyright-file" complaints "$planted/bare.deb"
else
	skip "lintian finds no error and nothing to warn of" "no lintian; run make deps"
fi
