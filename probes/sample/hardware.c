/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/sample/hardware.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "pmu/perf_event.h"
#include "pmu/sysfs.h"
#include "probes/process/spaces.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"

#define RING_BYTES	(4u << 20) /* room for some 100 ms in which every event is a sample */
#define HERTZ		2000
#define BRANCHES_PERIOD 200003 /* taken branches, for machines that want a fixed period */

#define SAMPLED (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* ---- records ---- */

struct sample_head {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time_ns, period;
};

bool hardware_decode(const struct perf_event_header *h, enum hardware_behind behind,
		     struct hardware_record *r)
{
	const struct sample_head *s = (const void *)h;
	const uint64_t *rest = (const uint64_t *)(s + 1);
	uint64_t words;

	if (h->type != PERF_RECORD_SAMPLE || h->size < sizeof(*s))
		return false;
	words = (h->size - sizeof(*s)) / sizeof(*rest);
	*r = (struct hardware_record){ .ip = s->ip,
				       .time_ns = s->time_ns,
				       .period = s->period,
				       .pid = s->pid,
				       .tid = s->tid };
	if (behind == HARDWARE_NOTHING)
		return true;
	if (!words)
		return false;
	if (behind == HARDWARE_SOURCE) {
		r->source = *rest;
		return true;
	}
	r->n_branches = *rest;
	r->branches = (const void *)(rest + 1);
	return r->n_branches <= (words - 1) * sizeof(*rest) / sizeof(struct perf_branch_entry);
}

bool hardware_missed(uint64_t source)
{
	const union perf_mem_data_src s = { .val = source };

	return s.mem_op & PERF_MEM_OP_LOAD && !(s.mem_lvl & PERF_MEM_LVL_NA) &&
	       !(s.mem_lvl & PERF_MEM_LVL_L1 && s.mem_lvl & PERF_MEM_LVL_HIT);
}

/* ---- what the machine has ---- */

static int try_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int try_here(struct perf_event_attr attr)
{
	int fd;

	attr.inherit = attr.enable_on_exec = 0;
	fd = try_open(&attr, 0, -1);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static struct perf_event_attr common(void)
{
	return (struct perf_event_attr){
		.sample_type = SAMPLED,
		.freq = 1,
		.sample_freq = HERTZ,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/*
 * The events to try, in this order. If the event counts branches, the turns of a record stand for
 * as many branches as the period. AMD's first kind of branch sampling takes only its own event,
 * with a fixed period.
 */
static const struct {
	uint32_t type;
	uint64_t config, period;
} branch_rows[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0 },
	{ PERF_TYPE_RAW, 0xc4, BRANCHES_PERIOD }, /* BRS: RETIRED_TAKEN_BRANCH */
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
};
#define BRANCH_ROWS (sizeof(branch_rows) / sizeof(branch_rows[0]))

static struct perf_event_attr branches_of(size_t row)
{
	struct perf_event_attr attr = common();

	attr.type = branch_rows[row].type;
	attr.config = branch_rows[row].config;
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	if (branch_rows[row].period) {
		attr.freq = 0;
		attr.sample_period = branch_rows[row].period;
	}
	return attr;
}

/*
 * Returns the first row that this machine supports, or BRANCH_ROWS with the error of the first row.
 */
static size_t find_branches(int *error)
{
	for (size_t row = 0; row < BRANCH_ROWS; row++) {
		int rc = try_here(branches_of(row));

		if (!rc)
			return row;
		if (!row)
			*error = rc;
	}
	return BRANCH_ROWS;
}

static struct perf_event_attr event_of(const struct hardware *h)
{
	struct perf_event_attr attr = common();

	attr.type = h->event.type;
	attr.config = h->event.config;
	attr.config1 = h->event.config1;
	attr.config2 = h->event.config2;
	attr.precise_ip = (unsigned)h->precise & 3;
	if (h->event.source != PMU_HARDWARE) { /* rare enough to sample every event */
		attr.freq = 0;
		attr.sample_period = 1;
	}
	if (h->of_event == HARDWARE_SOURCE) {
		attr.sample_type |= PERF_SAMPLE_DATA_SRC;
		attr.exclude_kernel = 0; /* before 6.15 IBS cannot exclude the kernel */
	}
	return attr;
}

/*
 * Uses AMD's IBS, which reports for sampled operations whether they missed the cache. Its samples
 * are precise even if the cache-misses event is not.
 */
static bool find_ibs(struct hardware *h)
{
	struct pmu_event plain = h->event;

	if (strcmp(h->event.name, HARDWARE_MISSES) != 0 ||
	    pmu_event_parse(&h->event, "ibs_op/cnt_ctl=1/", NULL)) {
		h->event = plain;
		return false;
	}
	h->of_event = HARDWARE_SOURCE;
	h->precise = 0;
	h->event.source = PMU_HARDWARE;
	if (!try_here(event_of(h)))
		return true;
	h->event = plain;
	h->of_event = HARDWARE_NOTHING;
	return false;
}

static int find_event(struct hardware *h)
{
	int rc = -ENOENT;

	h->precise = h->event.source == PMU_HARDWARE ? (int)sysfs_max_precise() : 0;
	for (;; h->precise--) {
		rc = try_here(event_of(h));
		if (!rc || !h->precise)
			break;
	}
	h->has_event = !rc;
	if (!h->precise && find_ibs(h))
		h->has_event = true;
	return rc;
}

/* Whether a count of tasks is also a perf event, which can be sampled; changes e to this event. */
static bool task_event_is_sampled(struct pmu_event *e)
{
	static const uint64_t sampled[PMU_TASKS] = {
		[PMU_TASK_MINOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MIN,
		[PMU_TASK_MAJOR_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		[PMU_TASK_PAGE_FAULTS] = PERF_COUNT_SW_PAGE_FAULTS,
	};

	if (e->config >= PMU_TASKS || !sampled[e->config])
		return false;
	e->source = PMU_SOFTWARE;
	e->type = PERF_TYPE_SOFTWARE;
	e->config = sampled[e->config];
	return true;
}

int hardware_check(struct hardware *h, const char *event, struct err *err)
{
	char why[128];
	int rc, error = 0;

	*h = (struct hardware){ 0 };
	rc = pmu_event_parse(&h->event, event ? event : HARDWARE_MISSES, err);
	if (rc)
		return rc;
	if (h->event.source == PMU_TASK && !task_event_is_sampled(&h->event))
		return err_set(err, -EINVAL,
			       "%s is counted by task, not sampled; name an event of perf's, such "
			       "as cache-misses",
			       h->event.name);
	h->has_branches = find_branches(&error) < BRANCH_ROWS;
	if (!h->has_branches)
		snprintf(h->why_no_branches, sizeof(h->why_no_branches), "%s",
			 !strcmp(sysfs_core(why, sizeof(why)), "none")
				 ? "no hardware PMU here, as in most virtual machines"
			 : error == -EACCES || error == -EPERM
				 ? "not allowed: perf_event_paranoid, without CAP_PERFMON"
				 : "this PMU keeps no branch records that perf can read (LBR, "
				   "LbrExt, BRS, BRBE)");
	rc = find_event(h);
	if (!h->has_event)
		snprintf(h->why_no_event, sizeof(h->why_no_event), "%s",
			 perf_event_why(&h->event, rc, why, sizeof(why)));
	return 0;
}

/* ---- while it runs ---- */

int hardware_open(struct hardware *h, const struct cpus *cpus, pid_t pid, struct err *err)
{
	struct perf_event_attr attr;
	int rc = 0, error = 0;

	h->dsos = dso_cache_new();
	h->spaces = xcalloc(1, sizeof(*h->spaces));
	spaces_init(h->spaces, h->dsos);
	if (h->has_branches) {
		attr = branches_of(find_branches(&error));
		attr.mmap = attr.mmap2 = attr.task = 1;
		rc = rings_open_on(&h->branches, cpus, RING_BYTES, &attr, pid, err);
	}
	if (!rc && h->has_event) {
		attr = event_of(h);
		attr.mmap = attr.mmap2 = attr.task = !h->has_branches;
		rc = rings_open_on(&h->events, cpus, RING_BYTES, &attr, pid, err);
	}
	return rc;
}

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, file_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
};

static void learn_mapping(struct hardware *h, const struct mmap2_record *r)
{
	struct mapping m = {
		.start = r->address,
		.end = r->address + r->length,
		.file_offset = r->file_offset,
		.device = makedev(r->major, r->minor),
		.inode = r->inode,
		.path = (char *)(uintptr_t)r->path,
	};

	spaces_map(h->spaces, (pid_t)r->pid, &m);
}

static void add_sample(struct hardware *h, const struct perf_event_header *header,
		       enum hardware_behind behind)
{
	struct hardware_kept kept = { .first = h->addresses.n };

	if (!hardware_decode(header, behind, &kept.record)) {
		h->unread++;
		return;
	}
	if (behind == HARDWARE_SOURCE && !hardware_missed(kept.record.source))
		return;
	if (kept.record.n_branches > HARDWARE_TURNS)
		kept.record.n_branches = HARDWARE_TURNS;
	for (uint64_t i = 0; i < kept.record.n_branches; i++) {
		*vec_add(&h->addresses) = kept.record.branches[i].from;
		*vec_add(&h->addresses) = kept.record.branches[i].to;
	}
	kept.record.branches = NULL;
	*vec_add(&h->kept) = kept;
}

struct reading {
	struct hardware *h;
	enum hardware_behind behind;
};

static void on_record(void *ctx, const struct ring *ring, const struct perf_event_header *r)
{
	const struct task_record *task = (const void *)r;
	struct reading *reading = ctx;

	(void)ring;
	if (r->type == PERF_RECORD_SAMPLE)
		add_sample(reading->h, r, reading->behind);
	else if (r->type == PERF_RECORD_MMAP2)
		learn_mapping(reading->h, (const void *)r);
	else if (r->type == PERF_RECORD_FORK && task->pid != task->parent_pid)
		spaces_fork(reading->h->spaces, (pid_t)task->parent_pid, (pid_t)task->pid,
			    UINT64_MAX);
}

static bool find(struct hardware *h, uint32_t pid, uint64_t address, struct hardware_place *at)
{
	struct place place;

	if (!spaces_find(h->spaces, (pid_t)pid, address, &place))
		return false;
	*at = (struct hardware_place){ place.dso, place.path, place.address };
	return true;
}

static void show(struct hardware *h, const struct hardware_kept *kept,
		 void (*visit)(void *ctx, const struct hardware_sample *s), void *ctx)
{
	const struct hardware_record *r = &kept->record;
	struct hardware_turn turns[HARDWARE_TURNS];
	struct hardware_sample s = {
		.time_ns = r->time_ns, .period = r->period, .tid = r->tid, .turns = turns
	};
	const uint64_t *address = h->addresses.data + kept->first;

	/*
	 * Stops at the first address outside every file, because the turns on its two sides are not
	 * adjacent.
	 */
	for (uint64_t i = 0; i < r->n_branches; i++, address += 2)
		if (!find(h, r->pid, address[0], &turns[s.n_turns].from) ||
		    !find(h, r->pid, address[1], &turns[s.n_turns].to))
			break;
		else
			s.n_turns++;
	if (r->n_branches ? !s.n_turns : !find(h, r->pid, r->ip, &s.ip))
		h->unplaced++;
	else
		visit(ctx, &s);
}

static void drain(struct hardware *h, struct rings *rings, enum hardware_behind behind)
{
	struct reading reading = { h, behind };

	for (uint32_t i = 0; i < rings->n; i++)
		ring_drain(&rings->rings[i], on_record, &reading);
}

void hardware_read(struct hardware *h, void (*visit)(void *ctx, const struct hardware_sample *s),
		   void *ctx)
{
	drain(h, &h->branches, HARDWARE_BRANCHES);
	drain(h, &h->events, h->of_event);
	h->lost = h->unread + rings_lost(&h->branches) + rings_lost(&h->events);
	vec_for_each (&h->kept, const struct hardware_kept, kept)
		show(h, kept, visit, ctx);
	h->kept.n = h->addresses.n = 0;
}

void hardware_release(struct hardware *h)
{
	rings_release(&h->branches);
	rings_release(&h->events);
	if (h->dsos) {
		spaces_release(h->spaces);
		free(h->spaces);
		dso_cache_free(h->dsos);
	}
	vec_release(&h->kept);
	vec_release(&h->addresses);
	*h = (struct hardware){ 0 };
}
