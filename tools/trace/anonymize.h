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

#include <linux/types.h>
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

/*
 * Hashes the name of a UNIX socket in place: as a path, behind the @ of an abstract name. What then
 * does not fit is cut off. @size: at most SOCKPATH_MAX
 */
#define SOCKPATH_MAX 108
void anonymize_sockpath(const struct anonymizer *a, char *name, size_t size);

/* Hashes a whole name into ANONYMOUS_LENGTH bytes. @what is the kind of the name. */
void anonymize_word(const struct anonymizer *a, char *out, const char *what,
		    const char *name, size_t length);

/*
 * Replaces an address of IPv6, or of IPv4 mapped to one, by one of 100::/64 with 60 bits of hash: to
 * such addresses nothing is ever sent (RFC 6666). Loopback and :: and 0.0.0.0 stay.
 */
#define ANONYMOUS_ADDRESS 16
void anonymize_address(const struct anonymizer *a, char *address);

/* A port from 1024 on becomes another one of those, and never two the same. Others stay. */
__u16 anonymize_port(const struct anonymizer *a, __u16 port);

#endif /* TOOL_TRACE_ANONYMIZE_H */
