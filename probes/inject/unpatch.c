/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inject/unpatch.h"

#include "probes/inject/patched.h"
#include "probes/inject/tracee.h"
#include "probes/process/target.h"

/* Returns the process with only those patches, so that patched_restore_stopped() restores only
 * these. */
static struct patched part_of(const struct patched *p, const bool *wanted)
{
	struct patched part = *p;

	memset(&part.patches, 0, sizeof(part.patches));
	vec_for_each (&p->patches, const struct patch, patch)
		if (wanted[patch->function])
			*vec_add(&part.patches) = *patch;
	return part;
}

bool unpatch(const struct patched *p, pid_t pid, const bool *wanted)
{
	struct patched part;
	struct tracees t;

	if (!patched_shares(p, pid))
		return true;
	if (tracees_stop(&t, pid, NULL))
		return !target_alive(pid);
	part = part_of(p, wanted);
	patched_restore_stopped(&part, &t);
	tracees_detach(&t);
	vec_release(&part.patches);
	return true;
}
