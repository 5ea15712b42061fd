/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which records of a trace are wanted: those that meet all conditions "KEY=VALUE". The keys are those
 * of filters (iotracer(4)) but tree and rejected, and path: a path, with what is below it, or a
 * pattern (fnmatch(3), where * also stands for slashes). A list a,b,c is met by any of its values.
 *
 * A record without such a field, as of another category, is not wanted. The numbers of users and
 * devices are those of the machine that was traced, so names are not looked up on this one.
 */
#ifndef TOOL_TRACE_SELECT_H
#define TOOL_TRACE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/schema.h"

struct anonymizer;
struct paths;
struct select_condition;
struct trace_index;

struct select {
	struct select_condition *at;	/* NULL: every record is wanted */
	size_t nr;
};

/* Adds a condition. Returns NULL, or why it is none, which the caller frees. */
char *select_add(struct select *s, const char *condition);

/*
 * Prepares for the records of an event, whose paths are shown as in @paths: hashed, if @anonymizer is
 * not NULL. Paths may be added to these later. Returns NULL, or why that cannot be, which the caller
 * frees.
 */
char *select_event(struct select *s, const struct iot_schema_event *event, const struct paths *paths,
		   const struct anonymizer *anonymizer);

/* Makes @to, which is empty, have the same conditions: for another event that is read at the same time. */
void select_copy(struct select *to, const struct select *from);

bool select_wants(struct select *s, const void *record);

/* Whether a frame may have such a record. */
bool select_may_want(const struct select *s, const struct trace_index *index);

void select_free(struct select *s);

/* The i-th condition, as it was given, and whether the module's filters have its key. */
const char *select_given(const struct select *s, size_t i);
bool select_is_known_to_module(const struct select *s, size_t i);

/* The name of the n-th key, NULL after the last. */
const char *select_key(unsigned int n);

/*
 * Whether a list op= has a name that none of these events has. Returns NULL, or a message with the
 * nearest name, which the caller frees.
 */
char *select_unknown_op(const struct select *s, const struct iot_schema_event *const *events, size_t nr);

#endif /* TOOL_TRACE_SELECT_H */
