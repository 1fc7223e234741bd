#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The RPM package: it holds what the Debian package does, and knows what it needs.
. "$(dirname "$0")/lib.sh"

version=$("$ISPOT" --version | awk 'NR == 1 { print $2 }')
if ! command -v rpmbuild >/dev/null; then
	skip "a package is made" "no rpmbuild; run make deps"
	exit
fi
ok "a package is made" .make/rpm "$version" "$planted"
package=$(find "$planted" -name 'ispot-*.rpm')
rpm -qp --qf '[%{FILENAMES} %{FILEUSERNAME} %{FILEMODES:perms}\n]' "$package" >"$planted/list"

missing() { # what ought to be in it and is not
	local f
	for f in bin/ispot include/ispot.h lib/ispot/libispot-edges.so share/bash-completion/completions/ispot \
		share/zsh/site-functions/_ispot share/fish/vendor_completions.d/ispot.fish; do
		grep -q "^/usr/$f " "$planted/list" || echo "$f is not in it"
	done
	for f in man/*.[1-8]; do
		grep -qE "^/usr/share/man/man${f##*.}/$(basename "$f")(\.gz)? " "$planted/list" || echo "$f is not in it"
	done
	grep -q '/CHANGELOG.md ' "$planted/list" || echo "CHANGELOG.md is not in it"
}
others() { # not root's, or writable by others
	awk '$2 != "root" || $3 ~ /^-.......w/' "$planted/list"
}

holds "with the program, its pages and its completions" missing
holds "all of it root's" others
ok "it names the libraries it needs" loud 'libdw.so.1' rpm -qp --requires "$package"
ok "and has the program's version" [ "$(rpm -qp --qf '%{VERSION}' "$package")" = "$version" ]
rpm2archive "$package" && tar -xzf "$package.tgz" -C "$planted"
beside() { # what README shows and is not beside it
	grep -oE '\]\([^)#:]+\)' "$1/README.md" | tr -d '])(' | while read -r f; do [ -e "$1/$f" ] || echo "$f"; done
}
holds "README's pictures are beside it" beside "$(dirname "$(find "$planted/usr/share/doc" -name README.md)")"
ok "what is in it runs" loud "ispot $version" "$planted/usr/bin/ispot" --version
