/* SPDX-License-Identifier: GPL-2.0 */
/* jansson with the tool's policy: a failure ends the program with a message. */
#ifndef TOOL_BASE_JSON_H
#define TOOL_BASE_JSON_H

#include <jansson.h>
#include <linux/types.h>

/* Bytes as a string, escaped by text_show(). */
json_t *json_shown(const char *bytes);

/* A number that is not negative. One of 64 bits becomes the largest of 63, which is all that there is. */
json_t *json_unsigned(__u64 n);

/* Both take ownership of @value; NULL ends the program. */
void json_put(json_t *object, const char *key, json_t *value);
void json_add(json_t *array, json_t *value);

/* Prints the document on stdout and frees it. */
void json_print(json_t *value);

/*
 * A flat object as a row of CSV: its keys; its values. Strings are escaped by text_show() already, and a
 * real has three decimals.
 */
void json_csv_header(json_t *object);
void json_csv_row(json_t *object);

#endif /* TOOL_BASE_JSON_H */
