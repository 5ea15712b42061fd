/* SPDX-License-Identifier: GPL-2.0 */
/* Asks a running QEMU for its drives, by its monitor (QMP). Nothing is changed there. */
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

/* Arrays, as query-block and query-named-block-nodes return them; NULL: not known. */
struct qmp_answer {
	json_t *blocks, *nodes;
};

/*
 * Takes a second at most for each monitor, until one answers: another program may hold its only
 * connection. The caller releases what is in @answer, which is another process's: it may be any JSON.
 */
enum qmp_result qmp_ask(struct qmp_answer *answer, const struct qmp_peer *peer);
void qmp_answer_free(struct qmp_answer *answer);

#endif /* TOOL_VM_QMP_H */
