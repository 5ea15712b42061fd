// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include "cmd/timeline.h"
#include "trace/record.h"

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

static bool miss(struct timeline *t, const void *record, unsigned int cpu, __u64 missing)
{
	if (!is_ctf(t))
		return perfetto_miss(&t->perfetto, record, cpu, missing);
	t->ctf.discarded += missing;
	return true;
}

bool timeline_put(struct timeline *t, struct cpu_merge *m, const void *record, bool wanted)
{
	unsigned int cpu = merge_cpu_of(m);
	__u64 missing = gaps_before(&t->gaps, cpu, record_scalar(record, m->seq, sizeof(__u64)));
	size_t length = 0;
	const char *note;

	if (missing && !miss(t, record, cpu, missing))
		return false;
	if (!wanted)
		return true;
	note = cpu_merge_note(m, record, &length);
	return is_ctf(t) ? ctf_put(&t->ctf, record, note, length) :
			   perfetto_put(&t->perfetto, record, note, length);
}

bool timeline_end(struct timeline *t, const struct check_file *checked, const struct cpu_merge *m)
{
	struct basis *basis = is_ctf(t) ? &t->ctf.basis : &t->perfetto.basis;

	gaps_free(&t->gaps);
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
	gaps_free(&t->gaps);
	if (!t->begun)
		return true;
	return is_ctf(t) ? ctf_end(&t->ctf) : perfetto_end(&t->perfetto);
}
