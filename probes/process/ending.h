/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a recording ends that a signal asks to end: its command gets the signal too, and has a second
 * for it; then the recording ends without it. A command that lives on is waited for, told SIGTERM
 * once, and in the end left alone; a second signal does not wait.
 */
#ifndef ISPOT_PROBES_PROCESS_ENDING_H
#define ISPOT_PROBES_PROCESS_ENDING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENDING_RESERVED_BYTES (16u << 20) /* memory to end in order, where it runs out */

struct launch;

struct ending {
	unsigned signals;
	uint64_t since_ns; /* when the first of them came, or the command was told */
	bool told;	   /* SIGTERM */
};

/* Blocks the signals that end a recording, for sigtimedwait() or a signalfd. */
void ending_block_signals(sigset_t *ends);
/* A signal that came, with its si_code. The launch may be of no command. */
void ending_signal(struct ending *e, const struct launch *l, int number, int code);
bool ending_is_due(const struct ending *e, bool has_command);
/* Returns why a recording is over whose command has ended: by itself, or as a signal asked for it.
 */
const char *ending_reason(const struct ending *e);
/*
 * Returns why a recording ends whose recorder has no memory left, and warns the user, or NULL if
 * there is some.
 */
const char *ending_without_memory(void);
/* Besides a signal, what can end a recording of a command or of the processes given by -p. */
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
 * Until the command has ended or had its time. tell: it is told SIGTERM at once. wait: for a moment
 * or the next signal, which it hands to ending_signal().
 */
void ending_wait(struct ending *e, struct launch *l, bool tell, void (*wait)(void *ctx), void *ctx);

#endif
