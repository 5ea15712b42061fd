// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "cmd/timeline.h"

int timeline_open(struct timeline *t)
{
	if (t->sources->nr) {
		cli_say_of(t->check->trace, "is a merged trace, whose hosts have the same process ids: export each trace that it was made of");
		return CLI_FAILED;
	}
	if (!t->directory && isatty(STDOUT_FILENO)) {
		cli_say("this format is not for a terminal: redirect it to a file, or say where to (-o DIRECTORY)");
		return CLI_USAGE;
	}
	t->perfetto = (struct perfetto){
		.output = {
			.directory = t->directory, .category = "perfetto", .suffix = "pftrace",
			.gzip = t->gzip,
		},
		.check = t->check, .paths = t->paths, .anonymizer = t->anonymizer,
	};
	t->ctf = (struct ctf){
		.directory = t->directory, .check = t->check, .paths = t->paths, .anonymizer = t->anonymizer,
	};
	return CLI_OK;
}

static bool is_ctf(const struct timeline *t)
{
	return t->format == FORMAT_CTF;
}

static bool begin(struct timeline *t)
{
	if (!t->begun) {
		t->begun = true;
		t->failed = !(is_ctf(t) ? ctf_begin(&t->ctf) : perfetto_begin(&t->perfetto));
	}
	return !t->failed;
}

bool timeline_begin(struct timeline *t, const struct category *category)
{
	if (!begin(t))
		return false;
	return is_ctf(t) ? ctf_begin_category(&t->ctf, category) :
			   perfetto_begin_category(&t->perfetto, category);
}

bool timeline_put(struct timeline *t, struct cpu_merge *m, const void *record)
{
	unsigned int cpu = merge_cpu_of(m);
	size_t length = 0;
	const char *note = cpu_merge_note(m, record, &length);

	return is_ctf(t) ? ctf_put(&t->ctf, record, cpu, note, length) :
			   perfetto_put(&t->perfetto, record, cpu, note, length);
}

bool timeline_end(struct timeline *t, const struct check_file *checked, const struct cpu_merge *m)
{
	struct basis *basis = is_ctf(t) ? &t->ctf.basis : &t->perfetto.basis;

	basis->lost = m->lost;
	if (checked->known) {
		basis->missed = checked->expected.missed;
		if (checked->expected.events > m->events)
			basis->unreadable = checked->expected.events - m->events;
	}
	return is_ctf(t) ? ctf_end_category(&t->ctf) : perfetto_end_category(&t->perfetto);
}

bool timeline_close(struct timeline *t)
{
	if (!t->begun)
		return true;
	return is_ctf(t) ? ctf_end(&t->ctf) : perfetto_end(&t->perfetto);
}
