/* SPDX-License-Identifier: GPL-2.0 */
/* What a category keeps, for iotracer log: its stream's records, and their paths. */
#ifndef TOOL_BLOCKS_H
#define TOOL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

#include "category.h"
#include "names.h"
#include "stream.h"

struct blocks {
	const struct category *category;
	struct stream stream;	/* its descriptor, event and subject */
	int paths;		/* descriptor */
	struct names names;	/* the paths that were read */
	char *data;		/* room for one read, or a header */
	size_t left;		/* bytes that came with the header of the stream */
	char *text;		/* the same for paths */
	size_t text_left;
	bool begun;		/* records were read */
	__u64 before;		/* events that were gone when it was opened */
	__u64 gaps;		/* and since */
};

/* An exit code; what is wrong was said. Close it in either case. */
int blocks_open(struct blocks *b, const struct category *category);
void blocks_close(struct blocks *b);

/*
 * Appends what can be read until the end, or until there are about @most records, and
 * learns the paths that they name. 0 or a negative errno: -EIO says that the module was
 * unloaded.
 */
int blocks_read(struct blocks *b, struct records *r, size_t most);

/* In the order in which they ended, as the module's own log has them. */
void blocks_sort(const struct blocks *b, struct records *r);

/* How many events could not be read; exact if the category is quiet meanwhile. */
__u64 blocks_missing(const struct blocks *b, bool followed);

#endif /* TOOL_BLOCKS_H */
