// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/shared/record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/temporary.h"
#include "import/import.h"
#include "import/perfdata.h"
#include "probes/process/ending.h"
#include "probes/process/target.h"
#include "probes/recording/options.h"
#include "probes/ring/ring.h"
#include "probes/shared/shared.h"

#define RING_BYTES 524288 /* what every user may lock per CPU: perf_event_mlock_kb */
#define TURN_NS	   20000000
#define SAMPLE                                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER)
#ifdef __x86_64__
#define SP_MASK (1ull << 7)
#else
#define SP_MASK (1ull << 31)
#endif

struct shared_ring {
	int fd; /* of the event that has the ring and reports mappings, names and switches */
	void *map;
	uint64_t samples; /* of probes, read so far */
	uint64_t told;	  /* lost records that the kernel has reported in what was read so far */
};

/* Event 0 has the rings, event i + 1 is that of probe i. */
struct recording {
	const struct session_options *o;
	struct shared_probes probes; /* the chosen ones; they borrow their strings */
	struct cpus cpus;
	struct shared_ring *rings;
	int *fds;   /* [event * cpus + cpu] */
	FILE *file; /* in the form that perf writes to a pipe */
	struct launch launch;
	struct launch_inherit inherit;
	uint64_t read_format; /* RING_READ_LOST if the kernel supports it */
	sigset_t ends;	      /* the signals that end a recording */
	uint64_t bytes;	      /* in the file so far */
	uint64_t start_ns;
	struct ending ending;
	const char *reason;
};

static struct perf_event_attr attr_of(const struct recording *r, size_t event)
{
	struct perf_event_attr a = { .size = PERF_ATTR_SIZE_VER5,
				     .type = PERF_TYPE_TRACEPOINT,
				     .sample_period = 1,
				     .sample_type = SAMPLE,
				     .read_format = r->read_format,
				     .sample_regs_user = SP_MASK,
				     .sample_id_all = 1,
				     .inherit = r->o->inherit,
				     .exclude_kernel = 1,
				     .exclude_hv = 1,
				     .disabled = 1,
				     .enable_on_exec = 1,
				     .use_clockid = 1,
				     .clockid = CLOCK_MONOTONIC };

	if (event) {
		a.config = r->probes.data[event - 1].perf_id;
		return a;
	}
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = a.context_switch = 1;
	return a;
}

static int open_event(struct recording *r, size_t event, uint32_t cpu, struct err *err)
{
	struct perf_event_attr a = attr_of(r, event);
	int *fd = &r->fds[event * r->cpus.n + cpu];

	*fd = (int)syscall(SYS_perf_event_open, &a, r->launch.pid, (int)r->cpus.online[cpu], -1,
			   PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0 && errno == EINVAL && r->read_format) {
		r->read_format = 0;
		return open_event(r, event, cpu, err);
	}
	if (*fd >= 0 || errno == ENXIO || errno == ENODEV)
		return 0;
	if (errno == EMFILE)
		return err_set(
			err, -EMFILE,
			"%zu probes on %u CPUs are more files than may be open; choose fewer "
			"functions with -F, or raise ulimit -n",
			r->probes.n, r->cpus.n);
	if (errno == EACCES || errno == EPERM)
		return err_set(
			err, -errno,
			"the kernel forbids users perf events; have kernel.perf_event_paranoid "
			"set to 2 or less, or run with sudo");
	return err_set(err, -errno,
		       "cannot open probe %s: %s; ispot probe list shows what there is",
		       event ? r->probes.data[event - 1].event : "(none)", strerror(errno));
}

/* Returns the ring's size in bytes: the wanted size, rounded down to a power of two of pages. */
static size_t ring_bytes(const struct recording *r)
{
	uint64_t wanted = r->o->ring_bytes ? r->o->ring_bytes : RING_BYTES;
	size_t n = (size_t)sysconf(_SC_PAGESIZE);

	while (n <= wanted / 2 && n < 1u << 30)
		n *= 2;
	return n;
}

static int map_ring(struct recording *r, uint32_t cpu, struct err *err)
{
	struct shared_ring *ring = &r->rings[cpu];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	ring->fd = r->fds[cpu];
	if (ring->fd < 0)
		return 0;
	ring->map =
		mmap(NULL, page + ring_bytes(r), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (ring->map != MAP_FAILED)
		return 0;
	ring->map = NULL;
	return err_set(err, -errno,
		       "cannot map the buffer of CPU %u: %s; end other recordings of yours, give a "
		       "smaller -m, or raise kernel.perf_event_mlock_kb",
		       r->cpus.online[cpu], strerror(errno));
}

static int open_all(struct recording *r, struct err *err)
{
	int ret = 0;

	for (size_t event = 0; !ret && event <= r->probes.n; event++)
		for (uint32_t cpu = 0; !ret && cpu < r->cpus.n; cpu++) {
			int *fd = &r->fds[event * r->cpus.n + cpu];

			ret = open_event(r, event, cpu, err);
			if (!ret && !event)
				ret = map_ring(r, cpu, err);
			else if (!ret && *fd >= 0 &&
				 ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, r->fds[cpu]))
				ret = err_set(err, -errno,
					      "cannot join two perf events: %s; run with sudo",
					      strerror(errno));
		}
	return ret;
}

/* ---- the file ---- */

static void write_bytes(struct recording *r, const void *data, size_t n)
{
	fwrite(data, 1, n, r->file); /* ferror() at the end */
	r->bytes += n;
}

static void write_header(struct recording *r, uint32_t type, size_t n)
{
	struct perf_event_header h = { .type = type, .size = (uint16_t)(sizeof(h) + n) };

	write_bytes(r, &h, sizeof(h));
}

/* Describes an event: attribute and ids, then its name. */
static void describe(struct recording *r, size_t event)
{
	struct perf_event_attr a = attr_of(r, event);
	char name[128] = "dummy";
	uint64_t ids[1024], update[2] = { 2 /* PERF_EVENT_UPDATE__NAME */ };
	size_t n = 0;

	for (uint32_t cpu = 0; cpu < r->cpus.n && n < 1024; cpu++) {
		int fd = r->fds[event * r->cpus.n + cpu];

		if (fd >= 0 && !ioctl(fd, PERF_EVENT_IOC_ID, &ids[n]))
			n++;
	}
	if (!n)
		return;
	write_header(r, PERFDATA_ATTR, PERF_ATTR_SIZE_VER5 + n * sizeof(*ids));
	write_bytes(r, &a, PERF_ATTR_SIZE_VER5);
	write_bytes(r, ids, n * sizeof(*ids));
	if (event)
		snprintf(name, sizeof(name), SHARED_GROUP ":%s", r->probes.data[event - 1].event);
	update[1] = ids[0];
	write_header(r, PERFDATA_UPDATE, sizeof(update) + sizeof(name));
	write_bytes(r, update, sizeof(update));
	write_bytes(r, name, sizeof(name));
}

/* Counts the records in the ring from tail on: probes' samples, and reported losses. */
static void count(struct shared_ring *ring, const char *data, size_t room, uint64_t tail,
		  uint64_t head)
{
	while (tail < head) {
		const struct perf_event_header *h = (const void *)(data + tail % room);

		ring->samples += h->type == PERF_RECORD_SAMPLE;
		if (h->type == PERF_RECORD_LOST) /* id, how many; only a header never wraps */
			ring->told += *(const uint64_t *)(data + (tail + 16) % room);
		if (!h->size)
			break;
		tail += h->size;
	}
}

static void drain_ring(struct recording *r, struct shared_ring *ring)
{
	struct perf_event_mmap_page *control = ring->map;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = ring_bytes(r);
	const char *data = (const char *)ring->map + page;
	uint64_t head, tail;

	if (!control)
		return;
	head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	count(ring, data, room, control->data_tail, head);
	for (tail = control->data_tail; tail < head;) {
		size_t at = tail % room;
		size_t n = head - tail < room - at ? head - tail : room - at;

		write_bytes(r, data + at, n);
		tail += n;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
}

static void drain(struct recording *r)
{
	for (uint32_t cpu = 0; cpu < r->cpus.n; cpu++)
		drain_ring(r, &r->rings[cpu]);
	write_header(r, PERFDATA_ROUND, 0);
}

/*
 * Returns how many records of the CPU were lost. The rings do not tell: the kernel reports a loss
 * with the next record that it can write, and there is none after the last record (design fact 10).
 * Kernels before 6.0 do not count losses; there the result is how often the probes were hit, less
 * the samples that were read.
 */
static uint64_t lost_on(const struct recording *r, uint32_t cpu)
{
	uint64_t made = 0, lost = 0, samples = r->rings[cpu].samples;

	for (size_t event = 0; event <= r->probes.n; event++) {
		uint64_t values[2] = { 0 }; /* hits of the event, lost records of it */
		int fd = r->fds[event * r->cpus.n + cpu];

		if (fd < 0 || read(fd, values, sizeof(values)) < (ssize_t)sizeof(*values))
			continue;
		made += event ? values[0] : 0;
		lost += values[1];
	}
	if (r->read_format)
		return lost;
	return made > samples ? made - samples : 0;
}

/* Writes the losses that no record reports, in the form in which the kernel reports others. */
static void write_last_losses(struct recording *r)
{
	for (uint32_t cpu = 0; cpu < r->cpus.n; cpu++) {
		struct {
			uint64_t id, lost;
			uint32_t pid, tid;
			uint64_t time_ns;
			uint32_t cpu, reserved;
			uint64_t identifier;
		} loss = { .pid = (uint32_t)r->launch.pid,
			   .tid = (uint32_t)r->launch.pid,
			   .time_ns = clock_now_ns(),
			   .cpu = r->cpus.online[cpu] };
		uint64_t lost = lost_on(r, cpu);

		if (lost <= r->rings[cpu].told || ioctl(r->fds[cpu], PERF_EVENT_IOC_ID, &loss.id))
			continue;
		loss.identifier = loss.id;
		loss.lost = lost - r->rings[cpu].told;
		write_header(r, PERF_RECORD_LOST, sizeof(loss));
		write_bytes(r, &loss, sizeof(loss));
	}
}

static FILE *temporary(struct err *err)
{
	int fd = temporary_file(TEMPORARY_LARGE, err);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");

	if (fd >= 0 && !f) {
		err_set(err, -errno, "cannot keep records: %s; free some memory", strerror(errno));
		close(fd);
	}
	return f;
}

/* ---- the recording ---- */

static void wait_turn(void *recording)
{
	struct recording *r = recording;
	const struct timespec turn = { .tv_nsec = TURN_NS };
	siginfo_t info;
	int number = sigtimedwait(&r->ends, &info, &turn);

	if (number > 0)
		ending_signal(&r->ending, &r->launch, number, info.si_code);
}

/* Returns why to stop now, or NULL if the recording goes on. */
static const char *reason_to_stop(struct recording *r)
{
	uint64_t now = clock_now_ns();

	if (launch_poll(&r->launch))
		return ending_reason(&r->ending);
	if (ending_is_due(&r->ending, true))
		return "interrupted";
	if (r->o->duration_ns && now - r->start_ns >= r->o->duration_ns)
		return "duration";
	if (r->o->max_bytes && r->bytes >= r->o->max_bytes)
		return "the records have reached --max-size";
	return NULL;
}

static void run(struct recording *r)
{
	r->start_ns = clock_now_ns();
	while (!(r->reason = reason_to_stop(r))) {
		wait_turn(r);
		drain(r);
	}
	for (size_t i = 0; i < (r->probes.n + 1) * r->cpus.n; i++)
		if (r->fds[i] >= 0)
			ioctl(r->fds[i], PERF_EVENT_IOC_DISABLE, 0);
	drain(r);
	write_last_losses(r);
}

static const char *const limits =
	"recorded without privilege, through probes that were registered before (ispot probe): their "
	"cost is not measured, so noise floors are n/a, and waiting is the only cause that ispot can "
	"identify; every thread and child of the command makes its own copies of the events, which "
	"costs more than a recording as root";

static int convert(struct recording *r, struct session_result *result, struct err *err)
{
	const struct session_options *o = r->o;
	struct import_result made;
	struct import_facts facts = { .command = o->command,
				      .options = o->options,
				      .version = o->version,
				      .producer = "perf",
				      .pid = (uint64_t)r->launch.pid,
				      .target_cpu_ns = r->launch.cpu_ns,
				      .notice = limits };
	int ret;

	result->exit_status = r->launch.ended ? launch_exit_status(&r->launch) : 0;
	result->reason = r->reason;
	facts.exit_status = result->exit_status;
	facts.reason = result->reason;
	if (fflush(r->file) || ferror(r->file))
		return err_set(err, -EIO,
			       "cannot keep the records in a temporary file; set TMPDIR "
			       "to where there is room");
	ret = import_file(fileno(r->file), o->output, o->output, &facts, &made, err);
	result->calls = made.entries;
	result->lost_records = made.lost;
	result->functions = made.functions;
	return ret;
}

static int choose(struct recording *r, const struct shared_probes *all, struct err *err)
{
	bool *wanted = xcalloc(all->n + 1, sizeof(*wanted));
	char *none = NULL;
	int ret = shared_select(all, r->o->patterns, r->o->n_patterns, wanted, &none, err);

	for (size_t i = 0; !ret && i < all->n; i++)
		if (wanted[i])
			*vec_add(&r->probes) = all->data[i];
	if (!ret && !all->n)
		ret = err_set(
			err, -EACCES,
			"recording takes root; run with sudo, or have an administrator "
			"register probes for everybody: sudo ispot probe add -F FUNCTION CMD");
	else if (!ret && (none || !r->probes.n))
		ret = err_set(err, -ENOENT,
			      "no registered probe matches -F %s; see ispot probe list, or run "
			      "with sudo",
			      none ? none : "!");
	free(none);
	free(wanted);
	if (ret)
		return ret;
	return cpus_read(&r->cpus)
		       ? err_set(err, -EIO, "cannot read which CPUs there are; mount /sys")
		       : 0;
}

static int record(struct recording *r, struct session_result *result, struct err *err)
{
	int ret;

	launch_inherit_save(&r->inherit);
	r->inherit.output_is_ours = !strcmp(r->o->output, "-");
	ending_block_signals(&r->ends);
	r->file = temporary(err);
	ret = r->file ? launch_start(&r->launch, r->o->argv, &r->inherit, err) : err->code;
	if (!ret)
		ret = open_all(r, err);
	if (ret)
		return ret;
	write_bytes(r, "PERFILE2\20\0\0\0\0\0\0\0", 16);
	for (size_t event = 0; event <= r->probes.n; event++)
		describe(r, event);
	ret = launch_exec(&r->launch, r->o->argv, err);
	if (ret)
		return ret;
	run(r);
	ending_wait(&r->ending, &r->launch, !strcmp(r->reason, "duration"), wait_turn, r);
	return convert(r, result, err);
}

int shared_record(const struct session_options *o, struct session_result *result, struct err *err)
{
	struct recording r = { .o = o,
			       .read_format = RING_READ_LOST,
			       .launch = { .go_fd = -1, .status_fd = -1 } };
	size_t n, page = (size_t)sysconf(_SC_PAGESIZE);
	struct shared_probes all;
	int ret = shared_read(&all, err);

	*result = (struct session_result){ 0 };
	if (!ret)
		ret = choose(&r, &all, err);
	n = (r.probes.n + 1) * r.cpus.n;
	r.fds = xcalloc(n + 1, sizeof(*r.fds));
	r.rings = xcalloc(r.cpus.n + 1, sizeof(*r.rings));
	memset(r.fds, 0xff, n * sizeof(*r.fds));
	if (!ret)
		ret = record(&r, result, err);
	for (uint32_t cpu = 0; cpu < r.cpus.n; cpu++)
		if (r.rings[cpu].map)
			munmap(r.rings[cpu].map, page + ring_bytes(&r));
	for (size_t i = 0; i < n; i++)
		if (r.fds[i] >= 0)
			close(r.fds[i]);
	if (r.file)
		fclose(r.file);
	launch_release(&r.launch);
	free(r.fds);
	free(r.rings);
	vec_release(&r.probes);
	shared_release(&all);
	return ret;
}
