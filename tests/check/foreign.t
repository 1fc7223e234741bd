#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is said of files that others may write, which a process without rights reads for root, is what is
# said of root's own: the tests of objects hold for such files, too.
. "$(dirname "$0")/lib.sh"
B=${B:-build}

# Files that everybody may write are others'.
passes() {
	(umask 0 && silent sh -c "CMOCKA_MESSAGE_OUTPUT=TAP \"$1\" 2>/dev/null | grep '^not ok'")
}
for name in dso dso_hostile select; do
	if [ "$(id -u)" != 0 ]; then
		skip "$name: of files that others may write" "only root has rights to give up"
	elif ! [ -x "$B/unit/test_$name" ]; then
		skip "$name: of files that others may write" "no $B/unit/test_$name; run make unit"
	else
		ok "$name: of files that others may write" passes "$B/unit/test_$name"
	fi
done
