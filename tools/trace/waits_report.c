// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/cli.h"
#include "base/json.h"
#include "base/scaled.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "trace/findings.h"
#include "trace/waits.h"

#define FILE_WIDTH	60	/* columns in text */

static const char *const kind_names[WAITS_KINDS] = { "read", "write", "sync", "other" };

static const char *const what[WAITS_KINDS] = {
	"reads of", "writes to", "fsync of", "opening, changing and other calls on",
};

static const struct {
	const char *id, *advice;
} reasons[WAITS_REASONS] = {
	[WAITS_UNKNOWN] = { "unknown", "Record category block, too, without sampling." },
	[WAITS_SMALL] = { "small", "Move more with each call: through a buffer (stdio), or with readv(2) and writev(2)." },
	[WAITS_ELSEWHERE] = { "elsewhere", "iotracer slowest shows where the time of single calls went; record category cache, too." },
	[WAITS_NEIGHBOUR] = { "neighbour", "Limit that process with io.max or io.latency of its control group, or give one of the two a disk of its own." },
	[WAITS_FLUSH] = { "flush", "Make several changes durable with one fsync (group commit), or use a device with a protected write cache." },
	[WAITS_DEVICE] = { "device", "iotracer blame shows whose requests the disk had meanwhile; fewer and larger requests, or a faster disk, help." },
};

static double percent(__u64 part, __u64 all)
{
	return all ? 100.0 * part / all : 0;
}

static const char *mean(char *cell, const struct finding_tally *t)
{
	return scaled_time(cell, t->count ? t->time / t->count : 0);
}

/* Several threads may wait at a time. */
char *waits_sentence(const struct waits_row *row, size_t columns)
{
	char *file = columns ? text_shorten(row->file, columns) : xstrdup(row->file);
	char count[SCALED], each[SCALED];
	double share = percent(row->calls.time, row->duration);
	char *waited = share > 100 ?
		xasprintf("had %.1f threads at a time that waited", share / 100) :
		xasprintf("waited %.1f %% of the time", share);
	bool one = row->calls.count == 1;
	char *sentence = xasprintf("%s %s in %s %s: %s call%s took %s%s", row->process, waited, what[row->kind],
				   file, scaled_number(count, row->calls.count), one ? "" : "s",
				   mean(each, &row->calls), one ? "" : " each");

	free(waited);
	free(file);
	return sentence;
}

char *waits_reason(const struct waits_row *row)
{
	char count[SCALED], each[SCALED], size[SCALED];
	char *requests = xasprintf("Its %s requests to %s took %s each",
				   scaled_number(count, row->requests.count), row->disk ? row->disk : "disks",
				   mean(each, &row->requests)), *reason;

	switch (row->reason) {
	case WAITS_SMALL:
		reason = xasprintf("Each moved only %s, so that the calls themselves cost more than the data.",
				   scaled_size(size, (double)row->calls.bytes / row->calls.count));
		break;
	case WAITS_ELSEWHERE:
		reason = xasprintf("Its requests to disks add up to %.1f %% of that: it waited for something else.",
				   percent(row->requests.time, row->calls.time));
		break;
	case WAITS_NEIGHBOUR:
		reason = xasprintf("%s, and %.1f %% of that is due to %s, which %s %s.", requests,
				   percent(row->charged.time, row->requests.time), row->culprit,
				   row->writes ? "wrote" : "read", scaled_size(size, row->charged.bytes));
		break;
	case WAITS_FLUSH:
		reason = xasprintf("It waited for the flushes of %s: %s took %s each.", row->disk,
				   scaled_number(count, row->flushes.count), mean(each, &row->flushes));
		break;
	case WAITS_DEVICE:
		reason = xasprintf("It waited for the disk. %s.", requests);
		break;
	default:
		reason = xstrdup("Why is not known: the trace does not have all requests to disks.");
	}
	free(requests);
	return reason;
}

const char *waits_advice(const struct waits_row *row)
{
	return reasons[row->reason].advice;
}

void waits_text(const struct waits *w)
{
	size_t i;

	for (i = 0; i < w->nr; i++) {
		char *sentence = waits_sentence(&w->rows[i], FILE_WIDTH), *reason = waits_reason(&w->rows[i]);

		printf("%swait%s %s\n", CLI_BOLD, CLI_PLAIN, reasons[w->rows[i].reason].id);
		finding_put_wrapped(sentence, 2);
		finding_put_wrapped(reason, 2);
		finding_put_wrapped(waits_advice(&w->rows[i]), 2);
		putchar('\n');
		free(sentence);
		free(reason);
	}
}

static void put_tally(json_t *object, const char *name, const struct finding_tally *t)
{
	json_t *its = json_object();

	json_put(its, "count", json_unsigned(t->count));
	json_put(its, "bytes", json_unsigned(t->bytes));
	json_put(its, "time_ns", json_unsigned(t->time));
	json_put(object, name, its);
}

json_t *waits_json(const struct waits *w)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < w->nr; i++) {
		const struct waits_row *row = &w->rows[i];
		char *sentence = waits_sentence(row, 0), *reason = waits_reason(row);
		json_t *object = json_object();

		json_put(object, "process", json_string(row->process));
		json_put(object, "file", json_string(row->file));
		json_put(object, "kind", json_string(kind_names[row->kind]));
		json_put(object, "time_percent", json_real(percent(row->calls.time, row->duration)));
		put_tally(object, "calls", &row->calls);
		put_tally(object, "requests", &row->requests);
		put_tally(object, "flushes", &row->flushes);
		json_put(object, "disk", row->disk ? json_string(row->disk) : json_null());
		json_put(object, "reason", json_string(reasons[row->reason].id));
		json_put(object, "culprit", row->culprit ? json_string(row->culprit) : json_null());
		put_tally(object, "charged", &row->charged);
		json_put(object, "sentence", json_string(sentence));
		json_put(object, "why", json_string(reason));
		json_put(object, "advice", json_string(waits_advice(row)));
		json_add(array, object);
		free(sentence);
		free(reason);
	}
	return array;
}
