/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends a recording after a signal. The command gets the signal, too, and has a second to end; then
 * the recording ends without it. After that, ispot waits for the command, sends it SIGTERM once,
 * and in the end leaves it running. A second signal ends the waiting.
 */
#ifndef ISPOT_PROBES_PROCESS_ENDING_H
#define ISPOT_PROBES_PROCESS_ENDING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENDING_RESERVED_BYTES (16u << 20) /* memory for an orderly end if memory is exhausted */

struct launch;

struct ending {
	unsigned signals;
	uint64_t since_ns; /* when the first signal came, or the command got SIGTERM */
	bool told;	   /* the command has got SIGTERM */
};

/* Blocks the signals that end a recording, for sigtimedwait() or a signalfd. */
void ending_block_signals(sigset_t *ends);
/* Called with each signal and its si_code. The launch may have no command. */
void ending_signal(struct ending *e, const struct launch *l, int number, int code);
bool ending_is_due(const struct ending *e, bool has_command);
/* Returns why the recording is over if its command has ended: by itself, or after a signal. */
const char *ending_reason(const struct ending *e);
/*
 * Returns NULL while there is memory. Otherwise warns the user and returns why the recording ends.
 */
const char *ending_without_memory(void);
/* The conditions, other than signals, on which a recording ends. */
struct ending_facts {
	const pid_t *pids;
	size_t n_pids;	   /* 0: the launch has a command */
	uint64_t until_ns; /* 0: no time is set */
	int write_error;   /* the file's; 0: none */
};

/* Returns why a recording of whole processes stops now, or NULL if it goes on. */
const char *ending_reason_now(const struct ending *e, struct launch *l,
			      const struct ending_facts *facts);
/*
 * Waits until the command has ended or its time is over. tell: send it SIGTERM at once. wait: waits
 * a moment or for the next signal, which it passes to ending_signal().
 */
void ending_wait(struct ending *e, struct launch *l, bool tell, void (*wait)(void *ctx), void *ctx);

#endif
