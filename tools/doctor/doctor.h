/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The results of iotracer doctor: checks of the system, and the abilities of each category, which
 * follow from the checks, the kernel's symbols and the hooks of a loaded module.
 */
#ifndef TOOL_DOCTOR_DOCTOR_H
#define TOOL_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "machine/host.h"
#include "trace/category.h"

enum verdict { VERDICT_OK, VERDICT_PARTLY, VERDICT_MISSING, VERDICT_UNKNOWN };

#define NR_CHECKS 13

struct check {
	const char *name;
	enum verdict verdict;
	bool blocks;		/* no category works */
	char *found;
	char *remedy;		/* NULL: none is needed */
};

/* Whether a category works, and what it cannot record. */
struct ability {
	const char *name;
	enum verdict verdict;
	char **missing;		/* @nr sentences on events that are not recorded, with reasons */
	size_t nr;
};

struct doctor {
	struct host host;
	bool loaded;		/* the module is loaded */
	char *refused;		/* lines "symbol error": functions that the module could not hook */
	char *left_out;		/* lines "part why": parts that did not compile for this kernel */
	char *object;		/* the module's file for this kernel, NULL: not installed */
	enum host_option is_signed;	/* whether @object is signed */
	struct check checks[NR_CHECKS];
};

/* check.c: fills in @d except its host, which the caller has opened */
void doctor_look(struct doctor *d);
void doctor_close(struct doctor *d);

/* need.c: doctor_ability_free() frees @found */
void doctor_judge(const struct doctor *d, const struct category *category,
		  struct ability *found);
void doctor_ability_free(struct ability *found);

/* The needs of a category, each with its state: ok, missing, unknown, or none (not needed here). */
json_t *doctor_needs(const struct doctor *d, const struct category *category);

#endif /* TOOL_DOCTOR_DOCTOR_H */
