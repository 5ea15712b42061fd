// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/cli.h"
#include "base/json.h"
#include "cmd/findings_pass.h"
#include "trace/categories.h"

static bool is_rule_wanted(const struct findings_pass *f, const struct finding_watch *watch)
{
	size_t i;

	for (i = 0; i < watch->nr_rules; i++)
		if (finding_is_wanted(&f->findings, &watch->rules[i]))
			return true;
	return false;
}

/* Events that the rules do not see. */
static __u64 missing_of(const struct pass *p, const struct basis *b)
{
	if (b->sampled || p->selection.select.nr)
		return FINDING_UNKNOWN;
	return b->lost + b->missed + b->unreadable;
}

static int look_at(struct findings_pass *f, struct pass *p, const struct finding_watch *watch, size_t i)
{
	bool has_waits = p->at[i].category == &category_fs && !f->findings.nr_wanted;
	struct finding_context c = { .duration = 0 };
	struct pass_reader reader;
	const void *record;
	__u64 begin, end;
	int status = f->again ? pass_reader_open_again(&reader, p, i) : pass_reader_open(&reader, p, i);

	if (status) {
		pass_reader_close(&reader);
		return status;
	}
	findings_begin(&f->findings, watch, reader.event);
	while ((record = pass_next(&reader))) {
		f->findings.events.source = reader.source;
		findings_add(&f->findings, record, &reader.measure);
		if (has_waits)
			waits_add(&f->waits, record, &reader.measure, reader.source);
	}
	pass_reader_close(&reader);
	pass_times(p, reader.last, &begin, &end);
	c.duration = end > begin ? end - begin : 0;
	c.missing = missing_of(p, &reader.basis);
	findings_end(&f->findings, &c);
	if (has_waits)
		waits_choose(&f->waits, c.duration);
	f->basis[i] = reader.basis;
	f->checked[i] = true;
	return CLI_OK;
}

/* Requests come first if they end with a call. */
static const struct category *const waits_needs[] = { &category_block, &category_fs, NULL };

static void add_to_waits(struct findings_pass *f, struct pass_reader *r, const void *record)
{
	struct io_event e = { .category = r->category };

	if (r->category == &category_fs && !pass_wants(r, record))
		return;
	io_event_read(&e, r->category, 0, r->source, record);
	if (r->category == &category_fs)
		waits_call(&f->waits, &e);
	else
		waits_request(&f->waits, &e);
}

/* Why processes waited. All requests are read, as those that are not selected can be the reason. */
static int explain_waits(struct findings_pass *f, struct pass *p)
{
	struct pass_all all = { .nr = 0 };
	struct pass_reader *reader;
	const void *record;
	int status = CLI_OK;

	f->waits.has_requests = pass_find(p, &category_block) != p->nr;
	if (f->waits.nr && f->waits.has_requests) {
		p->needs = waits_needs;
		status = pass_all_open_again(&all, p);
		while (!status && (record = pass_all_next(&all, &reader)))
			add_to_waits(f, reader, record);
		pass_all_close(&all);
		f->waits.sampled = all.readers[0].basis.sampled;
		pass_all_free(&all);
	}
	waits_finish(&f->waits);
	return status;
}

int findings_pass_read(struct findings_pass *f, struct pass *p)
{
	int status = CLI_OK;
	size_t i;

	f->findings.merged = p->sources.nr;
	f->waits.names = &p->names;
	for (i = 0; !status && i < p->nr; i++) {
		const struct finding_watch *watch = finding_watch_find(p->at[i].category->name);

		if (watch && is_rule_wanted(f, watch))
			status = look_at(f, p, watch, i);
	}
	findings_sort(&f->findings);
	return status ? status : explain_waits(f, p);
}

void findings_pass_free(struct findings_pass *f)
{
	findings_free(&f->findings);
	waits_free(&f->waits);
}

static bool was_checked(const struct findings_pass *f, const struct pass *p, const struct finding_watch *watch)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		if (f->checked[i] && !strcmp(p->at[i].category->name, watch->category))
			return true;
	return false;
}

bool findings_pass_lacks(const struct findings_pass *f, const struct pass *p, const struct finding_watch *watch)
{
	return is_rule_wanted(f, watch) && !was_checked(f, p, watch);
}

json_t *findings_pass_json(const struct findings_pass *f, const struct pass *p)
{
	json_t *document = json_object(), *findings = json_array(), *bases = json_array();
	json_t *unchecked = json_array(), *basis;
	size_t i;

	for (i = 0; i < f->findings.nr; i++)
		json_add(findings, finding_json(&f->findings.at[i]));
	for (i = 0; i < p->nr; i++) {
		if (!f->checked[i])
			continue;
		basis = json_object();
		json_put(basis, "category", json_string(p->at[i].category->name));
		json_put(basis, "count", json_integer(f->basis[i].events));
		basis_json(basis, &f->basis[i]);
		json_add(bases, basis);
	}
	for (i = 0; i < nr_finding_watches; i++)
		if (findings_pass_lacks(f, p, finding_watches[i]))
			json_add(unchecked, json_string(finding_watches[i]->category));
	json_put(document, "trace", json_shown(p->trace));
	json_put(document, "waits", waits_json(&f->waits));
	json_put(document, "findings", findings);
	json_put(document, "categories", bases);
	json_put(document, "categories_not_checked", unchecked);
	json_put(document, "dropped", json_integer(f->findings.dropped));
	return document;
}
