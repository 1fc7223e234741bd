// SPDX-License-Identifier: GPL-3.0-or-later
/* Any bytes as a trace: opened, read twice, printed. With codec_raw.c chunks are fuzzed directly.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "trace/fixture/fixture.h"
#include "trace/fixture/print.h"
#include "trace/meta/meta.h"
#include "trace/read/reader.h"
#include "trace/record.h"

#define PRINTED_MAX 2000 /* lines: printing is slower than reading and tests nothing new after */

static void print_meta_line(void *out, const char *line, size_t n)
{
	fixture_print_meta_line(line, n, out);
}

static uint64_t use_values(const struct record *r)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->n_values || i < RECORD_VALUES_MIN; i++)
		sum += r->values[i];
	for (uint32_t i = 0; i < r->n_bytes; i++)
		sum += (unsigned char)r->bytes[i];
	return sum;
}

static uint64_t read_all(struct trace_reader *reader, struct fixture_names *names, struct text *out)
{
	const struct record *records;
	uint64_t n_all = 0, sum = 0;
	size_t n;

	while ((n = trace_reader_batch(reader, &records))) {
		for (size_t i = 0; i < n; i++) {
			sum += use_values(&records[i]);
			if (n_all + i < PRINTED_MAX)
				fixture_print_record(names, &records[i], out);
		}
		n_all += n;
	}
	*(volatile uint64_t *)&sum = sum;
	return n_all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_reader *reader;
	struct fixture_names *names;
	struct text out = { 0 };
	struct record r;
	uint64_t n;

	if (trace_reader_open_memory(&reader, data, size, NULL))
		return 0;
	names = fixture_names_new(trace_reader_meta(reader));
	trace_reader_each_meta_line(reader, print_meta_line, &out);
	n = read_all(reader, names, &out);
	trace_reader_damage(reader);
	trace_reader_rewind(reader);
	while (trace_reader_next(reader, &r))
		n--;
	if (n != 0)
		abort(); /* the second reading differs from the first */
	text_release(&out);
	fixture_names_free(names);
	trace_reader_free(reader);
	return 0;
}
