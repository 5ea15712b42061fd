// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "core/names.h"
#include "trace/anonymize.h"
#include "trace/exporter.h"

static __u32 sample_of(const struct exporter *x, const void *record)
{
	if (x->event == IOT_EVENT_ID_FS)
		return ((const struct iot_fs *)record)->sample;
	return ((const struct iot_block *)record)->sample;
}

void exporter_open(struct exporter *x)
{
	x->format->open(x);
}

bool exporter_take(struct exporter *x, const void *record)
{
	x->sampled += sample_of(x, record) > 1;
	return x->format->take(x, record);
}

bool exporter_finish(struct exporter *x)
{
	return x->format->finish(x);
}

bool exporter_leave(struct exporter *x, enum export_left why)
{
	x->left[why]++;
	return true;
}

bool exporter_leave_op(struct exporter *x, unsigned int op)
{
	x->ops[op % IOT_OPS_MAX]++;
	return true;
}

/* "GETATTR 12, READDIR 3", allocated; NULL for none. */
static char *list_ops(const struct exporter *x)
{
	char *all = NULL, *one;
	size_t op;

	for (op = 0; op < IOT_OPS_MAX; op++) {
		const char *name = iot_names_op_name(x->event, op);

		if (!x->ops[op])
			continue;
		one = xasprintf("%s %llu", name ?: "unknown", (unsigned long long)x->ops[op]);
		all = text_append(all, ", ", one);
		free(one);
	}
	return all;
}

void exporter_report(const struct exporter *x)
{
	static const char *const why[NR_EXPORT_LEFT] = {
		[LEFT_FAILED] = "failed, or moved no data",
		[LEFT_PATH] = "have a path that is not known",
		[LEFT_KIND] = "are not of a regular file",
		[LEFT_RANGE] = "have a range that is too large",
		[LEFT_EARLY] = "began before the trace",
	};
	char *ops = list_ops(x);
	size_t i;

	if (ops)
		cli_say_of(x->trace, "operations that --format=%s does not have are left out: %s",
			   x->format->name, ops);
	for (i = 0; i < NR_EXPORT_LEFT; i++)
		if (x->left[i])
			cli_say_of(x->trace, "%llu events are left out: they %s", (unsigned long long)x->left[i], why[i]);
	if (x->sampled && !x->format->scales)
		cli_say_of(x->trace, "%llu events stand for several each, as the trace is sampled: --format=%s counts each as one",
			   (unsigned long long)x->sampled, x->format->name);
	free(ops);
}

void exporter_close(struct exporter *x)
{
	x->format->close(x);
}

size_t exporter_comm(const struct exporter *x, char *out, const char *comm, size_t size)
{
	size_t length = strnlen(comm, size);

	if (!x->anonymizer || !length)
		return text_show_to(out, comm, length);
	anonymize_word(x->anonymizer, out, "comm", comm, length);
	return ANONYMOUS_LENGTH;
}
