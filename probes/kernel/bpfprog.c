/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/kernel/bpfprog.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/version.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "probes/bpf/wire.h"
#include "probes/process/target.h"
#include "probes/select/syscalls.h"

extern const unsigned char ispot_bpf_record_start[], ispot_bpf_record_end[];

/* Used if the kernel cannot return a thread's user registers (before 5.15). */
#define KERNEL_STACK_BYTES 16384

/* The first one is attached only for sectors-written. */
static const char *const scheduler_programs[] = {
	"on_bio",     "on_irq_end", "on_softirq_end", "on_timer_end", "on_irq",
	"on_softirq", "on_timer",   "on_switch",      "on_waking",    "on_fork",
	"on_exit",    "on_rename",  "on_exec",
};
#define N_SCHEDULER (sizeof(scheduler_programs) / sizeof(*scheduler_programs))

struct bpfprog {
	struct bpf_object *object;
	struct bpf_link *links[N_SCHEDULER];
	volatile struct wire_control *control;
	int rings_fd, targets_fd, totals_fd, counts_fd, sampling_fd, stacks_fd, steps_fd,
		counters_fd;
	uint32_t n_cpus;
	bool sessions, counts_writes;
	struct pids living; /* the targets when control->births was living_at */
	uint64_t living_at;
};

#define UPROBE_SESSION 57 /* BPF_TRACE_UPROBE_SESSION of enum bpf_attach_type, kernel >= 6.13 */

#define NOT_LISTED UINT64_MAX

#define LOG_LINES 12 /* of a long message, the last lines, where the verifier gives its reason */

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text = NULL, *rest, *line;
	unsigned lines = 0;

	if (level == LIBBPF_DEBUG || log_get_level() < LOG_DETAIL)
		return 0;
	if (vasprintf(&text, fmt, args) < 0)
		return 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	rest = text;
	for (unsigned i = 0; (line = strsep(&rest, "\n")); i++)
		if (*line && (!i || i + LOG_LINES >= lines))
			log_detail("%s", line);
	free(text);
	return 0;
}

static int load_error(struct err *err, int code)
{
	if (code == -EPERM) /* EACCES comes from the verifier */
		return err_set(
			err, code,
			"the kernel refuses BPF programs (%s), which need CAP_BPF and CAP_PERFMON; run as root (sudo ispot …)",
			strerror(-code));
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return err_set(err, -ENOTSUP,
			       "this kernel describes no types (/sys/kernel/btf/vmlinux); "
			       "boot one built with CONFIG_DEBUG_INFO_BTF");
	return err_set(err, code,
		       "the kernel does not load ispot's BPF programs (%s); see -v for its words",
		       strerror(-code));
}

static struct bpf_program *program_by_name(const struct bpfprog *b, const char *name)
{
	return bpf_object__find_program_by_name(b->object, name);
}

static void *map_memory(const struct bpfprog *b, const char *name)
{
	size_t size;

	/* libbpf 1.1 returns a const pointer, 1.3 does not */
	return (void *)bpf_map__initial_value(bpf_object__find_map_by_name(b->object, name), &size);
}

/*
 * Maps the control block that the running programs read; the loader's own copy only has the initial
 * values.
 */
static volatile struct wire_control *map_control(int fd)
{
	void *memory =
		mmap(NULL, sizeof(struct wire_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * Kernels before 6.1 refuse perf event programs that use hash maps which allocate at run time, and
 * warn about others. The sampling map is the largest, and unused without a period.
 */
static int preallocate_maps(struct bpfprog *b, const struct bpfprog_options *o)
{
	struct bpf_map *map;
	int ret = 0;

	bpf_object__for_each_map(map,
				 b->object) if (!ret && bpf_map__map_flags(map) & BPF_F_NO_PREALLOC)
		ret = bpf_map__set_map_flags(map, bpf_map__map_flags(map) & ~BPF_F_NO_PREALLOC);
	if (!ret && o->period <= 1)
		ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(b->object, "sampling"),
					       1);
	return ret;
}

static int size_counters(struct bpfprog *b, struct wire_config *config,
			 const struct bpfprog_counters *c)
{
	int ret =
		bpf_map__set_max_entries(bpf_object__find_map_by_name(b->object, "counter_events"),
					 b->n_cpus * WIRE_COUNTERS_MAX);

	config->n_counters = c->n;
	config->n_perf_counters = c->n_perf;
	config->count_period = c->period;
	memcpy((void *)config->task_counters, c->task, sizeof(c->task));
	for (uint32_t i = c->n_perf; i < c->n; i++) {
		config->count_reads |= c->task[i] == WIRE_TASK_SECTORS_READ;
		config->count_writes |= c->task[i] == WIRE_TASK_SECTORS_WRITTEN;
	}
	b->counts_writes = config->count_writes;
	if (!ret && !c->n)
		ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(b->object, "counting"),
					       1);
	return ret;
}

static int size_cycles(struct bpfprog *b, struct wire_config *config, bool wanted)
{
	int ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(b->object, "cycle_events"),
					   wanted ? b->n_cpus : 1);

	config->stamp_cycles = wanted;
	return ret || !wanted
		       ? ret
		       : bpf_map__set_max_entries(
				 bpf_object__find_map_by_name(b->object, "cycle_bases"), b->n_cpus);
}

static int load(struct bpfprog *b, const struct bpfprog_options *o)
{
	struct wire_config *config = map_memory(b, ".rodata.config");
	struct bpf_program *session = program_by_name(b, "on_session");
	int ret;

	bpf_program__set_autoload(session, b->sessions);
	bpf_program__set_expected_attach_type(session, UPROBE_SESSION);

	config->follow_children = o->follow_children;
	config->period = o->period;
	config->block_stacks = o->block_stacks;
	config->wait_copies = o->wait_copies;
	config->stack_period = o->stack_period;
	config->stack_budget = o->stack_budget;
	config->slow_stack_ns = o->slow_stack_ns;
	config->copy_bytes = o->copy_bytes;
	config->wakeup_bytes = o->ring_bytes / 8;
	config->plain_loads = o->kernel_version >= KERNEL_VERSION(6, 2, 0);
	config->switch_has_state = o->kernel_version >= KERNEL_VERSION(5, 18, 0);
	config->bio_is_first = o->kernel_version >= KERNEL_VERSION(5, 11, 0);
	config->task_regs = o->kernel_version >= KERNEL_VERSION(5, 15, 0);
	config->stack_bytes = KERNEL_STACK_BYTES;
	syscalls_kinds(config->syscalls, WIRE_SYSCALLS_MAX);
	ret = bpf_map__set_max_entries(bpf_object__find_map_by_name(b->object, "rings"), b->n_cpus);
	if (!ret && !o->slow_stack_ns)
		ret = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(b->object, "open_calls"), 1);
	if (!ret)
		ret = size_counters(b, config, &o->counters);
	if (!ret)
		ret = size_cycles(b, config, o->stamp_cycles);
	if (!ret && o->kernel_version < KERNEL_VERSION(6, 1, 0))
		ret = preallocate_maps(b, o);
	if (ret)
		return ret;
	ret = bpf_object__load(b->object);
	if (ret)
		return ret;
	b->control = map_control(bpf_object__find_map_fd_by_name(b->object, ".data.control"));
	if (!b->control)
		return -errno;
	b->living_at = NOT_LISTED;
	b->rings_fd = bpf_object__find_map_fd_by_name(b->object, "rings");
	b->targets_fd = bpf_object__find_map_fd_by_name(b->object, "targets");
	b->counts_fd = bpf_object__find_map_fd_by_name(b->object, "counts");
	b->sampling_fd = bpf_object__find_map_fd_by_name(b->object, "sampling");
	b->stacks_fd = bpf_object__find_map_fd_by_name(b->object, "stacks");
	b->steps_fd = bpf_object__find_map_fd_by_name(b->object, "steps");
	b->counters_fd = bpf_object__find_map_fd_by_name(b->object, "counter_events");
	b->totals_fd = bpf_object__find_map_fd_by_name(b->object, "totals");
	return 0;
}

static int try_open(struct bpfprog **out, const struct bpfprog_options *o, bool sessions)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "ispot");
	struct bpfprog *b = xcalloc(1, sizeof(*b));
	int ret;

	b->sessions = sessions;
	b->n_cpus = libbpf_num_possible_cpus();
	b->object = bpf_object__open_mem(ispot_bpf_record_start,
					 ispot_bpf_record_end - ispot_bpf_record_start, &opts);
	ret = b->object ? load(b, o) : -errno;
	if (ret)
		bpfprog_free(b);
	else
		*out = b;
	return ret;
}

int bpfprog_open(struct bpfprog **out, const struct bpfprog_options *o, struct err *err)
{
	int ret = -ENOTSUP;

	libbpf_set_print(print_libbpf);
	if (o->sessions)
		ret = try_open(out, o, true);
	if (ret)
		ret = try_open(out, o, false);
	return ret ? load_error(err, ret) : 0;
}

int bpfprog_session(const struct bpfprog *b)
{
	return b->sessions ? bpf_program__fd(program_by_name(b, "on_session")) : -1;
}

int bpfprog_new_ring(size_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ispot_ring", 0, 0, bytes, NULL);

	return fd < 0 ? -errno : fd;
}

int bpfprog_set_ring(struct bpfprog *b, uint32_t cpu, int fd)
{
	return bpf_map_update_elem(b->rings_fd, &cpu, &fd, BPF_ANY) ? -errno : 0;
}

int bpfprog_set_counter(struct bpfprog *b, uint32_t cpu, uint32_t counter, int fd)
{
	uint32_t index = cpu * WIRE_COUNTERS_MAX + counter;

	return bpf_map_update_elem(b->counters_fd, &index, &fd, BPF_ANY) ? -errno : 0;
}

int bpfprog_set_cycles(struct bpfprog *b, uint32_t cpu, int fd, uint64_t base)
{
	int events = bpf_object__find_map_fd_by_name(b->object, "cycle_events");
	int bases = bpf_object__find_map_fd_by_name(b->object, "cycle_bases");

	if (bpf_map_update_elem(events, &cpu, &fd, BPF_ANY))
		return -errno;
	return bpf_map_update_elem(bases, &cpu, &base, BPF_ANY) ? -errno : 0;
}

int bpfprog_attach_scheduler(struct bpfprog *b, struct err *err)
{
	for (size_t i = b->counts_writes ? 0 : 1; i < N_SCHEDULER; i++) {
		b->links[i] = bpf_program__attach(program_by_name(b, scheduler_programs[i]));
		if (!b->links[i])
			return err_set(err, -errno,
				       "cannot watch the scheduler (%s: %s); the kernel needs "
				       "CONFIG_BPF_EVENTS",
				       scheduler_programs[i], strerror(errno));
	}
	return 0;
}

void bpfprog_detach_scheduler(struct bpfprog *b)
{
	for (size_t i = 0; b && i < N_SCHEDULER; i++) {
		bpf_link__destroy(b->links[i]);
		b->links[i] = NULL;
	}
}

static const char *program_of_class(enum point_class class)
{
	switch (class) {
	case POINT_CODE:
	case POINT_EXIT:
		return "on_point";
	case POINT_RETURN:
		return "on_return";
	case POINT_COUNT:
		return "on_count";
	}
	return NULL;
}

int bpfprog_attach_event(struct bpfprog *b, enum point_class class, int event_fd, struct err *err)
{
	int fd = bpf_program__fd(program_by_name(b, program_of_class(class)));

	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, fd))
		return err_set(err, -errno,
			       "the kernel takes no BPF program on a uprobe event (%s); "
			       "it needs CONFIG_BPF_EVENTS and CONFIG_UPROBE_EVENTS",
			       strerror(errno));
	return 0;
}

int bpfprog_attach_sampler(struct bpfprog *b, int event_fd, struct err *err)
{
	int fd = bpf_program__fd(program_by_name(b, "on_sample"));

	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, fd))
		return err_set(
			err, -errno,
			"the kernel takes no filter on CPU samples: %s; name functions with -F",
			strerror(errno));
	return 0;
}

void bpfprog_sample(struct bpfprog *b, bool on)
{
	b->control->sampling = on;
}

void bpfprog_keep_samples(struct bpfprog *b, bool on)
{
	b->control->keep_samples = on;
}

void bpfprog_hold_children(struct bpfprog *b, bool on)
{
	b->control->hold_children = on;
}

void bpfprog_count_from(struct bpfprog *b, uint32_t first_id)
{
	uint64_t *zeros = xcalloc(b->n_cpus, sizeof(*zeros));

	for (uint32_t i = 0; i < WIRE_COUNTS_MAX; i++)
		bpf_map_update_elem(b->counts_fd, &i, zeros, BPF_ANY);
	free(zeros);
	b->control->count_first_id = first_id;
}

uint64_t bpfprog_count(const struct bpfprog *b, uint32_t id)
{
	uint64_t *all = xcalloc(b->n_cpus, sizeof(*all)), sum = 0;
	uint32_t index = id - b->control->count_first_id;

	if (!bpf_map_lookup_elem(b->counts_fd, &index, all))
		for (uint32_t i = 0; i < b->n_cpus; i++)
			sum += all[i];
	free(all);
	return sum;
}

int bpfprog_add_target(struct bpfprog *b, pid_t tgid, uint64_t ran_ns)
{
	uint32_t key = tgid;

	b->living_at = NOT_LISTED;
	return bpf_map_update_elem(b->targets_fd, &key, &ran_ns, BPF_ANY) ? -errno : 0;
}

void bpfprog_set_ran(struct bpfprog *b, pid_t tgid, uint64_t ran_ns)
{
	uint32_t key = tgid;

	bpf_map_update_elem(b->targets_fd, &key, &ran_ns, BPF_EXIST); /* unless it has ended */
}

bool bpfprog_is_target(const struct bpfprog *b, pid_t tgid)
{
	uint32_t key = tgid;
	uint64_t value;

	return bpf_map_lookup_elem(b->targets_fd, &key, &value) == 0;
}

/*
 * Listing makes the kernel go through all buckets of the map, which takes longer than everything
 * else that the recorder does in one round. So it is done only after births and ends of processes.
 */
static void list_targets(struct bpfprog *b)
{
	uint64_t births =
		b->control->births; /* read first, so that later changes are listed next time */
	uint32_t key, *previous = NULL;

	if (b->living_at == births)
		return;
	b->living.n = 0;
	while (!bpf_map_get_next_key(b->targets_fd, previous, &key)) {
		*vec_add(&b->living) = key;
		previous = &key;
	}
	b->living_at = births;
}

void bpfprog_targets(struct bpfprog *b, struct pids *tgids)
{
	list_targets(b);
	vec_for_each (&b->living, pid_t, pid)
		*vec_add(tgids) = *pid;
}

void bpfprog_record(struct bpfprog *b, bool on)
{
	b->control->launched_tgid = 0;
	b->control->since_ns = clock_now_ns();
	b->control->recording = on;
}

void bpfprog_mute(struct bpfprog *b, bool muted)
{
	b->control->muted = muted;
}

void bpfprog_count_switches(struct bpfprog *b)
{
	b->control->count_switches = true;
}

void bpfprog_leave_switches_out(struct bpfprog *b, bool out)
{
	b->control->switches_off = out;
}

void bpfprog_record_from_exec(struct bpfprog *b, pid_t tgid)
{
	b->control->launched_tgid = tgid;
}

struct wire_totals *bpfprog_totals_each(const struct bpfprog *b, uint32_t *n)
{
	struct wire_totals *all = xcalloc(b->n_cpus, sizeof(*all));
	uint32_t zero = 0;

	*n = b->n_cpus;
	if (bpf_map_lookup_elem(b->totals_fd, &zero, all))
		memset(all, 0, b->n_cpus * sizeof(*all));
	return all;
}

void bpfprog_totals(const struct bpfprog *b, struct wire_totals *sum)
{
	uint32_t n;
	struct wire_totals *all = bpfprog_totals_each(b, &n);

	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < n; i++) {
		sum->calls += all[i].calls;
		sum->scheduling_ns += all[i].scheduling_ns;
		sum->switches += all[i].switches;
		sum->births += all[i].births;
		sum->ended_ns += all[i].ended_ns;
		sum->samples += all[i].samples;
		sum->unrecorded += all[i].unrecorded;
		sum->unrecorded_wakings += all[i].unrecorded_wakings;
	}
	free(all);
}

int bpfprog_operands(struct bpfprog *b, const struct wire_operands *rows, size_t n, struct err *err)
{
	int fd = bpf_object__find_map_fd_by_name(b->object, "operands");

	for (uint32_t row = 1; row < n; row++)
		if (bpf_map_update_elem(fd, &row, &rows[row], BPF_ANY))
			return err_set(
				err, -errno,
				"the arguments of markers cannot be read: %s; leave the markers out (-F '!marker:*')",
				strerror(errno));
	return 0;
}

void bpfprog_sampled(const struct bpfprog *b,
		     void (*visit)(void *ctx, uint32_t tid, uint32_t id,
				   const struct wire_sampling *row),
		     void *ctx)
{
	struct wire_sampling_key key, *previous = NULL;
	struct wire_sampling row;

	while (!bpf_map_get_next_key(b->sampling_fd, previous, &key)) {
		if (!bpf_map_lookup_elem(b->sampling_fd, &key, &row))
			visit(ctx, key.tid, key.id, &row);
		previous = &key;
	}
}

void bpfprog_forget_sampled(struct bpfprog *b)
{
	struct wire_sampling_key key;

	while (!bpf_map_get_next_key(b->sampling_fd, NULL, &key))
		if (bpf_map_delete_elem(b->sampling_fd, &key))
			return;
}

/* A path that goes on is kept if another stack ends inside it: of that stack less was copied. */
void bpfprog_know_stack(struct bpfprog *b, const struct bpfprog_known_stack *k)
{
	uint64_t key = k->tgid;

	for (uint32_t i = 0; i < k->n; i++) {
		bool ends = i + 1 == k->n;
		struct wire_step step = { .next = ends ? WIRE_STEP_END : k->steps[i + 1],
					  .stack = k->stack };

		key = wire_step_key(key, k->frames[i]);
		if (bpf_map_update_elem(b->steps_fd, &key, &step, ends ? BPF_NOEXIST : BPF_ANY)) {
			b->control->steps_full |= errno == E2BIG;
			return;
		}
	}
}

uint32_t bpfprog_stack(const struct bpfprog *b, uint32_t stack, uint64_t *frames, uint32_t room)
{
	uint64_t all[WIRE_FRAMES_MAX];
	uint32_t n = 0;

	if (bpf_map_lookup_elem(b->stacks_fd, &stack, all))
		return 0;
	/* In a sample's stack, a mark (PERF_CONTEXT_USER) precedes the frames of the program. */
	for (uint32_t i = 0; n < room && i < WIRE_FRAMES_MAX && all[i]; i++)
		if (all[i] < PERF_CONTEXT_MAX)
			frames[n++] = all[i];
	return n;
}

void bpfprog_free(struct bpfprog *b)
{
	if (!b)
		return;
	bpfprog_detach_scheduler(b);
	if (b->control)
		munmap((void *)b->control, sizeof(*b->control));
	bpf_object__close(b->object);
	vec_release(&b->living);
	free(b);
}
