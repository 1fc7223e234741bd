// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * What a record costs the traced program on its way to the recorder, for `make bench` (part ring)
 *and whoever doubts that BPF ring buffers were the right choice:
 *
 *	ring_speed [RECORDS]
 *
 * A BPF program writes records of 40 bytes, as an entry has, into a BPF ring buffer and into
 *a perf ring, both mapped here and read between batches that fit them. The kernel times the batches
 * (BPF_PROG_TEST_RUN); what an empty program takes is taken out. Prints, one "name value" a line:
 *the least ns a record of all batches by either way, and how many records arrived.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES 40
#define BATCH	     4000
#define RING_BYTES   (1u << 20)
#define RING_PAGES   256
#define PACKET_BYTES 64

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (int)(i) })
#define MOV(d, s)     INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i) INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ZERO(offset)  INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, offset, 0)
#define MAP(d, fd)    INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define CALL(f)	      INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT	      MOV_IMM(BPF_REG_0, 0), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define RECORD	      ZERO(-40), ZERO(-32), ZERO(-24), ZERO(-16), ZERO(-8)

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int load(const struct bpf_insn *insns, size_t n)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "ring_speed", "GPL", insns, n, NULL);

	if (fd < 0)
		die("a BPF program");
	return fd;
}

static int empty_program(void)
{
	const struct bpf_insn insns[] = { RECORD, EXIT };

	return load(insns, sizeof(insns) / sizeof(insns[0]));
}

static int ring_program(int map)
{
	const struct bpf_insn insns[] = {
		RECORD,
		MAP(BPF_REG_1, map),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -RECORD_BYTES),
		MOV_IMM(BPF_REG_3, RECORD_BYTES),
		MOV_IMM(BPF_REG_4, BPF_RB_NO_WAKEUP),
		CALL(BPF_FUNC_ringbuf_output),
		EXIT,
	};

	return load(insns, sizeof(insns) / sizeof(insns[0]));
}

static int perf_program(int map)
{
	const struct bpf_insn insns[] = {
		MOV(BPF_REG_6, BPF_REG_1),
		RECORD,
		MOV(BPF_REG_1, BPF_REG_6),
		MAP(BPF_REG_2, map),
		INSN(BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1), /* BPF_F_CURRENT_CPU */
		MOV(BPF_REG_4, BPF_REG_10),
		ADD_IMM(BPF_REG_4, -RECORD_BYTES),
		MOV_IMM(BPF_REG_5, RECORD_BYTES),
		CALL(BPF_FUNC_perf_event_output),
		EXIT,
	};

	return load(insns, sizeof(insns) / sizeof(insns[0]));
}

static double batch_ns(int program)
{
	char packet[PACKET_BYTES] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = BATCH);

	if (bpf_prog_test_run_opts(program, &o))
		die("BPF_PROG_TEST_RUN");
	return o.duration;
}

static uint64_t arrived;

static int on_ring(void *ctx, void *data, size_t n)
{
	(void)ctx, (void)data;
	arrived += n == RECORD_BYTES;
	return 0;
}

static enum bpf_perf_event_ret on_perf(void *ctx, int cpu, struct perf_event_header *event)
{
	(void)ctx, (void)cpu;
	arrived += event->type == PERF_RECORD_SAMPLE;
	return LIBBPF_PERF_EVENT_CONT;
}

/* Wakes nobody up while a batch is written, as the ring buffer does not. */
static struct perf_buffer *perf_rings(int map)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 2 * BATCH,
	};

	return perf_buffer__new_raw(map, RING_PAGES, &attr, on_perf, NULL, NULL);
}

static void print(const char *name, double ns, double empty_ns, uint64_t made)
{
	printf("%s_ns %.0f\n%s_arrived %llu of %llu\n", name, ns - empty_ns, name,
	       (unsigned long long)arrived, (unsigned long long)made);
	arrived = 0;
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000000;
	int ring_map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, RING_BYTES, NULL);
	int perf_map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "perf", 4, 4,
				      (uint32_t)libbpf_num_possible_cpus(), NULL);
	uint64_t rounds = records / BATCH + !(records >= BATCH);
	double empty_ns = 1e9, ring_ns = 1e9, perf_ns = 1e9;
	struct perf_buffer *perf;
	struct ring_buffer *ring;
	int empty, into_ring, into_perf;

	if (ring_map < 0 || perf_map < 0)
		die("BPF maps (as root?)");
	ring = ring_buffer__new(ring_map, on_ring, NULL, NULL);
	perf = perf_rings(perf_map);
	if (!ring || !perf)
		die("mapping the rings");
	empty = empty_program();
	into_ring = ring_program(ring_map);
	into_perf = perf_program(perf_map);
	for (uint64_t i = 0; i < rounds; i++) {
		double ns = batch_ns(empty);

		empty_ns = ns < empty_ns ? ns : empty_ns;
		ns = batch_ns(into_ring);
		ring_ns = ns < ring_ns ? ns : ring_ns;
		ring_buffer__consume(ring);
	}
	print("ring", ring_ns, empty_ns, rounds * BATCH);
	for (uint64_t i = 0; i < rounds; i++) {
		double ns = batch_ns(into_perf);

		perf_ns = ns < perf_ns ? ns : perf_ns;
		perf_buffer__consume(perf);
	}
	print("perf", perf_ns, empty_ns, rounds * BATCH);
	ring_buffer__free(ring);
	perf_buffer__free(perf);
	return 0;
}
