/* SPDX-License-Identifier: GPL-2.0 */
/* Texts of an anonymous trace's metadata, hashed as its records are. The caller frees them. */
#ifndef TOOL_RECORD_HIDDEN_H
#define TOOL_RECORD_HIDDEN_H

#include "trace/anonymize.h"

/* The name of a thread, a path, and a port as a decimal number. */
char *hidden_comm(const struct anonymizer *a, const char *name);
char *hidden_path(const struct anonymizer *a, const char *path);
char *hidden_port(const struct anonymizer *a, const char *port);

/* An address. Of ADDRESS/BITS the whole address is hashed. */
char *hidden_addr(const struct anonymizer *a, const char *value);

/* A filter without names, addresses and ports that records do not show either. */
char *hidden_filter(const struct anonymizer *a, const char *filter);

#endif /* TOOL_RECORD_HIDDEN_H */
