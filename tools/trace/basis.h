/* SPDX-License-Identifier: GPL-2.0 */
/* What figures about a trace's category rest on: what was counted, and what is missing. */
#ifndef TOOL_TRACE_BASIS_H
#define TOOL_TRACE_BASIS_H

#include <jansson.h>
#include <linux/types.h>

struct basis {
	__u64 records;		/* counted */
	__u64 sampled;		/* of them those that stand for more than one event */
	__u64 events;		/* that they stand for: more than @records in a sampled trace */
	/* Of the whole category, whatever is selected: */
	__u64 lost;		/* events lost or overwritten before they were read */
	__u64 missed;		/* calls that the kernel's hooks missed */
	__u64 unreadable;	/* events that are damaged or missing in the file */
};

/* Counts a record that stands for @weight events. */
static inline void basis_add(struct basis *b, __u64 weight)
{
	b->records++;
	b->sampled += weight > 1;
	b->events += weight;
}

/* Events of the category that were not recorded, or cannot be read. */
static inline __u64 basis_missing(const struct basis *b)
{
	__u64 sum;

	return __builtin_add_overflow(b->lost, b->missed, &sum) ||
	       __builtin_add_overflow(sum, b->unreadable, &sum) ? ~0ULL : sum;
}

/* Adds the counts of another category. */
void basis_sum(struct basis *to, const struct basis *b);

/* Text on standard output: an empty line, and a line for each count that is not 0; else nothing. */
void basis_text(const struct basis *b);

/* "lost 5, missed 7" of the counts that are not 0, which the caller frees; NULL if all are. */
char *basis_line(const struct basis *b);

/* Members records, sampled, lost, missed and unreadable of @object. */
void basis_json(json_t *object, const struct basis *b);

/* As above, those of BASIS_CSV_HEADER: for json_csv_row(). */
void basis_json_row(json_t *row, const struct basis *b);

/* "lost,missed,unreadable,sampled" without a comma or an end of line around, and the numbers. */
#define BASIS_CSV_HEADER "lost,missed,unreadable,sampled"
void basis_csv(const struct basis *b);

#endif /* TOOL_TRACE_BASIS_H */
