/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names as keyed hashes: HMAC-SHA-256, cut to 12 characters (a-z, 2-7: 60 bits).
 * With one key a name always has the same hash; with another key it has another hash.
 *
 * The library is nettle: it is small, maintained together with GnuTLS, has no state
 * and no allocations of its own, and its licence (LGPL) is compatible with ours.
 */
#ifndef TOOL_TRACE_ANONYMIZE_H
#define TOOL_TRACE_ANONYMIZE_H

#include <nettle/hmac.h>
#include <stddef.h>

#define ANONYMOUS_LENGTH 12

struct anonymizer {
	struct hmac_sha256_ctx key;
};

/* The key is the content of @key_file, or random if that is NULL. Returns an exit code. */
int anonymizer_init(struct anonymizer *a, const char *key_file);

/* Overwrites the key. */
void anonymizer_forget(struct anonymizer *a);

/*
 * Hashes a path component by component. "", "." and ".." stay, and so does an
 * extension: a letter and up to 6 more letters or digits after the last dot. @out
 * needs ANONYMOUS_PATH(length) bytes. Returns the length of the result.
 */
#define ANONYMOUS_GROWTH 7	/* the largest factor by which a path grows: "/a" becomes 13 bytes */
#define ANONYMOUS_PATH(length) (((length) + 2) * ANONYMOUS_GROWTH)
size_t anonymize_path(const struct anonymizer *a, char *out, const char *path,
		      size_t length);

/* Hashes a whole name into ANONYMOUS_LENGTH bytes. @what is the kind of the name. */
void anonymize_word(const struct anonymizer *a, char *out, const char *what,
		    const char *name, size_t length);

#endif /* TOOL_TRACE_ANONYMIZE_H */
