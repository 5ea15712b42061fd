/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What changed between two traces, A and B, beyond the noise within each.
 *
 * Each trace is cut into the same number of intervals. For each key there are series of the
 * intervals' values (series.h): events a second, bytes a second, the mean latency, and the share
 * of events that took longer than the P99 of A. The last one stands for P99: the P99 of few
 * events is their largest latency, which rises with their number, but the share does not depend
 * on it.
 *
 * As many keys are compared, some differ by accident: the chance of one is divided by the number of
 * comparisons (Bonferroni), so that @confidence is that of the whole report.
 */
#ifndef TOOL_TRACE_DIFF_H
#define TOOL_TRACE_DIFF_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/basis.h"
#include "trace/intern.h"
#include "trace/series.h"
#include "trace/stats.h"

enum diff_side { DIFF_A, DIFF_B, DIFF_SIDES };
enum diff_metric { DIFF_COUNT, DIFF_BYTES, DIFF_MEAN, DIFF_P99, DIFF_METRICS };

/* A metric of a key. */
struct diff_values {
	double value[DIFF_SIDES];	/* of the whole trace */
	struct series shown[DIFF_SIDES];	/* of the intervals, as they are shown */
	struct series tested[DIFF_SIDES];	/* the same, but for DIFF_P99 */
	bool known;			/* both traces have it: it is compared */
	double chance;			/* that it is noise */
	bool changed;
};

struct diff_key {
	__u64 count[DIFF_SIDES];
	__u64 threshold;		/* ns: P99 of A */
	struct diff_values at[DIFF_METRICS];
	double effect;			/* the largest of the metrics that changed: |ln(B / A)| */
	bool changed;
	char command[STATS_COMM];
};

/* One category. Set before diff_take(): all of the first part. */
struct diff {
	const char *category;
	struct stats_keys *keys;
	size_t intervals;
	double seconds[DIFF_SIDES];	/* duration */
	struct basis basis[DIFF_SIDES];

	bool with_command;
	struct intern names;		/* the texts of the keys, as in struct stats */
	struct diff_key *at;		/* by number of the name */
	size_t nr, room;
	__u32 *order;			/* from diff_judge() on: keys, as they are shown */
	size_t comparisons, nr_changed;
	size_t only[DIFF_SIDES];	/* keys of one trace only */
};

/* Takes over what was counted of a side, A first: with intervals, and not yet stats_finish(). */
void diff_take(struct diff *d, enum diff_side side, struct stats *s);

/* Compares each key, and returns how many comparisons that were. */
size_t diff_compare(struct diff *d);

/*
 * Which of them changed: by @least (0.05: 5 %) or more, with a chance of at most @chance that it
 * is noise.
 */
void diff_judge(struct diff *d, double chance, double least);
void diff_free(struct diff *d);

/* The text of the i-th key. */
const char *diff_key_text(const struct diff *d, __u32 key, size_t i);

/* 0.5: B is half more than A; infinite if A has none. */
double diff_change(const struct diff_values *v);

/* Keys that are reported: those that changed, or all; the first @top of them, 0: all. */
void diff_text(const struct diff *d, bool all, size_t top);
json_t *diff_json(const struct diff *d, bool all, size_t top);
void diff_csv_header(const struct diff *d);
void diff_csv(const struct diff *d, bool all, size_t top);

#endif /* TOOL_TRACE_DIFF_H */
