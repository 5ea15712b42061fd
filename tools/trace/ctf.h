/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace in the Common Trace Format 1.8, a directory with
 *
 *	metadata	describes the other files, in the language TSDL
 *	fs ...		a stream for each category: packets of events
 *
 * An event has the time of day at which the record's event ended, because the events of a stream
 * are in that order. Its name is that of the category and the operation ("fs:READ"), its fields are
 * those of the record: numbers, the operation as an enumeration, and all else as the text that CSV
 * has, or a dash if that is empty. Events that are missing are counted by each packet as discarded.
 */
#ifndef TOOL_TRACE_CTF_H
#define TOOL_TRACE_CTF_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "trace/basis.h"
#include "trace/category.h"
#include "trace/row.h"

struct check;

struct ctf {
	/* set before ctf_begin(): */
	const char *directory;
	const struct check *check;
	const struct paths *paths;
	const struct anonymizer *anonymizer;	/* or NULL */

	int dir, fd;			/* fd: of the stream; -1: none is open */
	char *types, *environment;	/* of the metadata, as far as it is known */
	bool failed;			/* which was reported */

	/* of the present category: */
	const struct category *category;
	struct row_printer printer;
	struct basis basis;		/* what is counted of it */
	char *packet;			/* CTF_PACKET bytes of events, and one more */
	size_t used;
	__u64 first, last;		/* ns since 1970: of its events */
	__u64 discarded;		/* events that are missing so far; set by the caller */
};

/* Each returns false if it failed, which was reported. */
bool ctf_begin(struct ctf *c);
bool ctf_begin_category(struct ctf *c, const struct category *category);

/* Adds a record. @note: its command line, or NULL. Records come in the order in which they end. */
bool ctf_put(struct ctf *c, const void *record, const char *note, size_t length);

/* Before it, the caller adds what is missing to c->basis. */
bool ctf_end_category(struct ctf *c);

/* Writes the metadata, and frees all. Call it if ctf_begin() failed, too. */
bool ctf_end(struct ctf *c);

#endif /* TOOL_TRACE_CTF_H */
