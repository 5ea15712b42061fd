// SPDX-License-Identifier: GPL-2.0
/* The snapshot of the system: its hardware and configuration, as JSON. */
#include <stdio.h>

#include "base/cli.h"
#include "base/json.h"
#include "machine/snapshot.h"
#include "machine/system.h"
#include "trace/table_writer.h"

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
	struct table_writer sheet = { .in = s->in, .where = s->where, .kind = "system", .dir = -1 };
	struct system system = { .anonymizer = s->anonymizer };
	int status = CLI_FAILED;

	mounts_read(&system.mounts);
	if (table_writer_open(&sheet) && table_writer_finish(&sheet, describe(&system)))
		status = CLI_OK;
	table_writer_close(&sheet);
	mounts_free(&system.mounts);
	return status;
}
