/* SPDX-License-Identifier: GPL-2.0 */
/* Asks a running QEMU for its drives, through its monitor (QMP). Changes nothing there. */
#ifndef TOOL_VM_QMP_H
#define TOOL_VM_QMP_H

#include <jansson.h>
#include <sys/types.h>

#include "vm/qemu_args.h"

struct qmp_peer {
	pid_t pid;
	int root;			/* its "/", or IMAGE_OWN_ROOT */
	const char *cwd;		/* NULL: not known */
	const struct qemu_args *args;
	const char *name;		/* the domain of libvirt, or NULL */
};

enum qmp_result { QMP_NO_MONITOR, QMP_NO_ANSWER, QMP_ANSWERED };

/* The arrays that query-block and query-named-block-nodes return; NULL: not known. */
struct qmp_answer {
	json_t *blocks, *nodes;
};

/*
 * Tries the monitors in turn, a second each at most, as another program may hold the only connection.
 * The caller frees @answer. It comes from another process, so it may be any JSON.
 */
enum qmp_result qmp_ask(struct qmp_answer *answer, const struct qmp_peer *peer);
void qmp_answer_free(struct qmp_answer *answer);

#endif /* TOOL_VM_QMP_H */
