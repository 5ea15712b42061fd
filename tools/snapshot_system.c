// SPDX-License-Identifier: GPL-2.0
/* The snapshot of the machine: what it is made of, as JSON. */
#include <stdio.h>

#include "cli.h"
#include "json.h"
#include "sheet.h"
#include "snapshot.h"
#include "system.h"

static json_t *describe(const struct system *s)
{
	json_t *document = json_object();

	json_put(document, "anonymized", json_boolean(s->anonymizer));
	json_put(document, "os", system_os(s));
	json_put(document, "machine", system_machine(s));
	json_put(document, "cpu", system_cpu());
	json_put(document, "memory", system_memory(s));
	json_put(document, "disks", system_disks(s));
	json_put(document, "filesystems", system_filesystems(s));
	json_put(document, "network", system_network(s));
	json_put(document, "gpus", system_gpus());
	json_put(document, "virtualisation", system_virtualisation(s));
	json_put(document, "location", system_location());
	return document;
}

int snapshot_system(const struct snapshot *s)
{
	struct sheet sheet = { .in = s->in, .where = s->where, .kind = "system", .dir = -1 };
	struct system system = { .anonymizer = s->anonymizer };
	int status = CLI_FAILED;

	mounts_read(&system.mounts);
	if (sheet_open(&sheet) && sheet_finish(&sheet, describe(&system)))
		status = CLI_OK;
	sheet_close(&sheet);
	mounts_free(&system.mounts);
	return status;
}
