// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/cost/selfcost_once.h"

#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "probes/cost/selfcost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/kernel/dynevent.h"
#include "probes/kernel/dynevent_session.h"
#include "probes/kernel/version.h"
#include "probes/place/probeset.h"
#include "probes/ring/ringbuf.h"

#define RING_BYTES (4u << 20)

struct engine {
	struct dynevent_session *dynevents;
	struct bpfprog *programs;
	struct ringbufs rings;
	struct probeset set;
};

static int open_rings(struct engine *e, struct err *err)
{
	struct cpus cpus;
	int ret = cpus_read(&cpus);

	if (ret)
		return err_set(err, ret, "cannot read the list of CPUs: %s; mount /sys",
			       strerror(-ret));
	return ringbufs_open(&e->rings, e->programs, &cpus, RING_BYTES, err);
}

static int open_engine(struct engine *e, struct err *err)
{
	struct bpfprog_options options = { .kernel_version = kernel_version_running(),
					   .ring_bytes = RING_BYTES };
	int ret = dynevent_session_open(&e->dynevents, err);

	if (!ret)
		ret = bpfprog_open(&e->programs, &options, err);
	if (!ret)
		ret = open_rings(e, err);
	if (ret)
		return ret;
	probeset_init(&e->set, e->dynevents, 0);
	ret = selfcost_add(&e->set, true);
	if (ret)
		return err_set(
			err, ret,
			"cannot probe ispot itself: %s; ispot list says what this machine can do",
			strerror(-ret));
	return probeset_create(&e->set, NULL, NULL, err);
}

int selfcost_once(uint32_t threads, struct meta_calibration *rows, size_t *n, struct err *err)
{
	struct engine e = { 0 };
	int ret = open_engine(&e, err);

	*n = 0;
	if (!ret)
		ret = selfcost_measure(&e.set, e.programs, &e.rings, threads, "now", rows, n, err);
	probeset_release(&e.set);
	bpfprog_free(e.programs);
	ringbufs_release(&e.rings);
	dynevent_session_close(e.dynevents);
	return ret;
}
