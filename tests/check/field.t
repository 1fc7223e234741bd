#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The table of make field: each row says all that its verdict rests on.
. "$(dirname "$0")/lib.sh"

lacking() { # lacking ROOT
	"$1/tests/field/run" check | grep -v '^[0-9]*$'
	return 0
}

rows() { [ "$("$top/tests/field/run" check)" -ge 24 ]; }

mkdir -p "$planted/tests/field"
cp tests/field/run "$planted/tests/field/run"
holds "rows are whole" lacking .
ok "there are 24 rows or more" rows
sed '0,/^cause\t/{/^cause\t/d}' tests/field/programs >"$planted/tests/field/programs"
catches "a row without a cause" "linear_regression: no cause" lacking "$planted"
sed 's/^must\(not\)\{0,1\}\t.*//' tests/field/programs >"$planted/tests/field/programs"
catches "a row that says nothing of the screen" "pigz: its first screen is held to nothing" lacking "$planted"
