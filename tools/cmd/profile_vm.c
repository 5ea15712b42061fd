// SPDX-License-Identifier: GPL-2.0
#include "base/cli.h"
#include "base/json.h"
#include "cmd/profile_vm.h"
#include "trace/categories.h"
#include "vm/drive_report.h"
#include "vm/guest_sheet.h"
#include "vm/vm_object.h"

/* The VM that was recorded, NULL after a message. */
static const json_t *machine_of(const struct pass *pass, const char *name)
{
	const json_t *machine = json_object_get(pass->check.metadata.document, "vm");
	const char *other = json_string_value(json_object_get(machine, "name"));

	if (!json_is_object(machine)) {
		cli_say_of(pass->trace, "is not of a virtual machine: record one with iotracer record --vm=%s", name);
		return NULL;
	}
	if (!vm_is(machine, name)) {
		cli_say_of(pass->trace, "is of the virtual machine %s, PID %d, not of %s", other ? other : "-",
			   vm_pid(machine), name);
		return NULL;
	}
	return machine;
}

static int load_images(struct pass *pass, struct guest_images *images)
{
	if (!guest_sheets_load(images, pass->trace))
		pass->check.damaged = true;
	if (images->nr)
		return CLI_OK;
	cli_say_of(pass->trace, "has no maps of the machine's disk images: were its files found when it was recorded? (iotracer vm)");
	return CLI_FAILED;
}

static void print(const struct drive_report *report, enum cli_format format, const char *trace)
{
	json_t *document;

	switch (format) {
	case FORMAT_JSON:
		document = drive_report_json(report);
		json_put(document, "trace", json_shown(trace));
		json_print(document);
		break;
	case FORMAT_CSV:
		drive_report_csv(report);
		break;
	default:
		drive_report_text(report);
	}
}

int profile_vm_read(struct pass *pass, bool again, struct drive_profile *profile, struct basis *basis)
{
	size_t i = pass_find(pass, &category_fs);
	struct pass_reader reader;
	const void *record;
	int status;

	if (i == pass->nr) {
		cli_say_of(pass->trace, "has no category fs, whose calls a profile of drives is made from");
		return CLI_FAILED;
	}
	status = again ? pass_reader_open_again(&reader, pass, i) : pass_reader_open(&reader, pass, i);
	while (!status && (record = pass_next(&reader)))
		drive_profile_add(profile, &pass->names, record, &reader.measure);
	pass_reader_close(&reader);
	*basis = reader.basis;
	drive_profile_finish(profile);
	return status;
}

static int profile_machine(struct pass *pass, const char *name, enum cli_format format, __u64 memory)
{
	struct drive_report report = { .machine = machine_of(pass, name) };
	struct guest_images images = { .nr = 0 };
	struct drive_profile profile;
	int status;

	if (!report.machine)
		return CLI_FAILED;
	status = load_images(pass, &images);
	if (status)
		return status;
	drive_profile_open(&profile, &images, memory);
	report.profile = &profile;
	status = profile_vm_read(pass, false, &profile, &report.basis);
	if (!status) {
		print(&report, format, pass->trace);
		guest_images_report(&profile.images, true);
	}
	drive_profile_free(&profile);
	return status;
}

int profile_vm(struct pass *pass, const struct cli_words *words, const char *name, enum cli_format format,
	       __u64 memory)
{
	int status;

	pass->live.vm = name;
	status = pass_open(pass, words);
	if (!status)
		status = profile_machine(pass, name, format, memory);
	return pass_close(pass, status);
}
