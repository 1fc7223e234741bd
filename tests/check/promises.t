#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each sentence that ispot(1) says about security has a test that holds it: promises.tsv.
. "$(dirname "$0")/lib.sh"
if ! command -v mandoc >/dev/null || ! command -v python3 >/dev/null; then
	skip "promises" "needs mandoc and python3"
	exit
fi
promises() { python3 tests/check/promises.py "$1/man/ispot.1" "$1/tests/check/promises.tsv"; }
holds "every sentence on security names its tests, which are there" promises "$top"
sed 's/^Only regular files are opened\.$/Only regular files are opened, and devices./' man/ispot.1 | plant man/ispot.1
sed 's/ | a_sandbox$/ | no_such_words/' tests/check/promises.tsv | plant tests/check/promises.tsv
catches "a sentence without a test" "no test is named for: Only regular files are opened, and devices." promises "$planted"
catches "a sentence that is gone" "the manual does not say: Only regular files are opened." promises "$planted"
catches "a test that is gone" "does not test 'no_such_words'" promises "$planted"
