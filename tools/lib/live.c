// SPDX-License-Identifier: GPL-2.0
/* libiotracer: streams of the module. */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "lib/library.h"
#include "module/control.h"
#include "module/proc.h"
#include "module/target.h"
#include "trace/categories.h"

static int open_target(struct live *live, enum iotracer_code *code)
{
	const struct target *target;
	struct target_list list;
	int status = target_one(&list, live->name, &target);

	if (status == CLI_FAILED)
		*code = IOTRACER_NOT_FOUND;
	if (!status)
		live->target = xstrdup(target->name);
	target_list_free(&list);
	if (status || !live->target)
		return status ? status : CLI_FAILED;
	return stream_open(&live->stream, NULL, live->target, live->name);
}

int live_open(struct live *live, enum iotracer_code *code)
{
	const struct category *category = category_find(live->name, strlen(live->name));
	int status;

	status = category ? stream_open(&live->stream, category, NULL, live->name) : open_target(live, code);
	if (live->stream.foreign)
		*code = IOTRACER_FOREIGN;
	return status;
}

void live_close(struct live *live)
{
	stream_close(&live->stream);
	free(live->target);
	free(live->name);
}

int live_counts(const struct live *live, struct iotracer_counts *counts)
{
	const struct target_count *total;
	struct target_stats stats;
	char *text;
	int err;

	if (live->target) {
		err = target_stats_load(live->target, &stats);
		if (err)
			return proc_explain(live->name, live->target, "stats", err);
		total = target_stats_total(&stats);
		*counts = (struct iotracer_counts){
			total->seen, total->overwritten + total->lost, total->missed
		};
		return CLI_OK;
	}
	err = proc_read(live->name, "stats", &text);
	if (err)
		return control_explain(live->name, "stats", err);
	*counts = (struct iotracer_counts){
		control_number(text, "seen"),
		control_number(text, "overwritten") + control_number(text, "lost"),
		control_number(text, "missed"),
	};
	free(text);
	return CLI_OK;
}
