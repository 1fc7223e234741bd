#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The lifecycle of dynamic events on this kernel: what of tests/vm/guest/lifecycle.c is safe beside
# other people's probes. The rest of it may cost a kernel and runs in guests: make test-vm.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "creating probes needs root"
grep -qw tracefs /proc/filesystems || skip_all "this kernel has no tracefs"
[ -e /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no uprobes"
needs_command gcc

if ! (cd "$ROOT" && tests/vm/build-guest-test lifecycle gcc "$DIR/lifecycle") >build.log 2>&1; then
	ok 1 "lifecycle.c builds"
	diag build.log
	done_testing
	exit 1
fi
"$DIR/lifecycle" live 2>lifecycle.err
status=$?
# 2: it could not even start; anything else it has said itself, in TAP.
if [ "$status" = 2 ]; then
	grep -Eq 'permitted|EPERM|lockdown|Read-only' lifecycle.err && skip_all "$(head -n 1 lifecycle.err)"
	ok 1 "lifecycle.c runs"
	diag lifecycle.err
	done_testing
fi
exit "$status"
