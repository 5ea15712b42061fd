/* SPDX-License-Identifier: GPL-2.0 */
/* The pass over a trace that looks for findings, and what it found as JSON. */
#ifndef TOOL_CMD_FINDINGS_PASS_H
#define TOOL_CMD_FINDINGS_PASS_H

#include <jansson.h>
#include <stdbool.h>

#include "cmd/pass.h"
#include "trace/findings.h"
#include "trace/waits.h"

/* Set before findings_pass_read(): which rules and rows are wanted. */
struct findings_pass {
	struct findings findings;
	struct waits waits;		/* none if rules are named */
	bool again;	/* all categories were read before: what is wrong with them was reported */
	struct basis basis[PASS_CATEGORIES];	/* of the categories that were read */
	bool checked[PASS_CATEGORIES];
};

/* The pass is open. Returns an exit code. Call findings_pass_free() in either case. */
int findings_pass_read(struct findings_pass *f, struct pass *p);
void findings_pass_free(struct findings_pass *f);

/* Whether rules of the watch are wanted, and the trace does not have their category. */
bool findings_pass_lacks(const struct findings_pass *f, const struct pass *p, const struct finding_watch *watch);

/* The document of iotracer findings. */
json_t *findings_pass_json(const struct findings_pass *f, const struct pass *p);

#endif /* TOOL_CMD_FINDINGS_PASS_H */
