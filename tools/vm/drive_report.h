/* SPDX-License-Identifier: GPL-2.0 */
/* The patterns of a VM's drives as text of 80 columns, as JSON or as CSV, on standard output. */
#ifndef TOOL_VM_DRIVE_REPORT_H
#define TOOL_VM_DRIVE_REPORT_H

#include <jansson.h>

#include "trace/basis.h"
#include "vm/drive_profile.h"

struct drive_report {
	const json_t *machine;		/* as metadata.json has it */
	const struct drive_profile *profile;
	struct basis basis;
};

void drive_report_text(const struct drive_report *r);
json_t *drive_report_json(const struct drive_report *r);

/* A row for each drive and kind; kinds that had no call are left out. */
void drive_report_csv(const struct drive_report *r);

#endif /* TOOL_VM_DRIVE_REPORT_H */
