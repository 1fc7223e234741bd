#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files are made in one place: src/base/output.c, for what the user names. What is made elsewhere is in a
# directory of ispot's own or of the kernel's, and each of those places stands here with its reason.
. "$(dirname "$0")/lib.sh"

places() { # places ROOT: that make files and are not known
	(cd "$1" && files "$1" 'src/*.c' 'probes/*.c' 'analysis/*.c' 'report/*.c' 'pmu/*.c' |
		xargs -r grep -HEo 'O_CREAT|fopen\([^,;]*, *"[wa][^"]*"|freopen\(|mkostemp|mkdtemp|\<creat\(' |
		grep -vE "^($known):" | sort -u)
}
known=$(sed 's/#.*//; /^ *$/d' <<'EOK' | sed 's/ *$//' | paste -sd'|'
src/base/output.c                  # what the user names
src/base/temporary.c               # directories of ispot's own, 0700, random names
src/trace/fleet/dir.c              # the lock, in a directory that output.c has checked
src/trace/fleet/spool.c            # likewise
src/symbol/dso/sandbox.c           # the filter that forbids it
probes/edges/edges.c               # in a temporary directory
probes/edges/runtime/runtime.c     # by the traced program, with its rights
probes/java/agent/ring.c           # likewise
probes/java/attach.c               # with the rights of the machine's user
probes/java/place.c                # in a directory of ispot's own
probes/kernel/dynevent_session.c   # the lock, in /run/ispot
probes/shared/shared.c             # the registry, in /run/ispot
EOK
)

holds "files are made where it is known" places "$top"
plant src/cmd/new.c <<<'FILE *f = fopen(path, "we");'
catches "a file that is made elsewhere" 'src/cmd/new.c:fopen(path, "we"' places "$planted"
plant report/page.c <<<'fd = open(path, O_WRONLY | O_CREAT, 0644);'
catches "another" "report/page.c:O_CREAT" places "$planted"
