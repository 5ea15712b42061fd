/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names as keyed hashes: HMAC-SHA-256, of which 12 characters (a-z, 2-7: 60 bits)
 * are kept. The same name gives the same hash under one key, and no other key's.
 *
 * The library is nettle: small, kept by those who keep GnuTLS, without state or
 * allocation of its own, and of a licence (LGPL) that goes with ours.
 */
#ifndef TOOL_ANONYMIZE_H
#define TOOL_ANONYMIZE_H

#include <nettle/hmac.h>
#include <stddef.h>

#define ANONYMOUS_LENGTH 12

struct anonymizer {
	struct hmac_sha256_ctx key;
};

/* With the bytes of @key_file, or a key that nobody knows where that is NULL. An exit code. */
int anonymizer_init(struct anonymizer *a, const char *key_file);

/* Overwrites the key. */
void anonymizer_forget(struct anonymizer *a);

/*
 * Component by component; "", "." and ".." stay, and so does an extension: after
 * the last dot a letter and up to 6 more letters or digits. ANONYMOUS_PATH(length)
 * bytes at @out do. Returns the length.
 */
#define ANONYMOUS_GROWTH 7	/* at most: "/a" becomes 13 bytes */
#define ANONYMOUS_PATH(length) (((length) + 2) * ANONYMOUS_GROWTH)
size_t anonymize_path(const struct anonymizer *a, char *out, const char *path,
		      size_t length);

/* A whole name, into ANONYMOUS_LENGTH bytes. @what sets apart kinds of names. */
void anonymize_word(const struct anonymizer *a, char *out, const char *what,
		    const char *name, size_t length);

#endif /* TOOL_ANONYMIZE_H */
