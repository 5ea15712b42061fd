// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <linux/types.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/cli.h"
#include "trace/anonymize.h"

#define KEY_LEAST 16	/* bytes */
#define KEY_MOST 4096
#define EXTENSION_MAX 7	/* characters */

/* Reads to the end, since a pipe may deliver the key in pieces. Returns 0 or a positive errno. */
static int read_whole(const char *file, unsigned char *key, size_t *length)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd;
	int err = errno;

	*length = 0;
	while (fd >= 0 && *length <= KEY_MOST) {
		n = read(fd, key + *length, KEY_MOST + 1 - *length);
		err = errno;
		if (!n || (n < 0 && err != EINTR))
			break;
		if (n > 0)
			*length += n;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? err : 0;
}

static int read_key(const char *file, unsigned char *key, size_t *length)
{
	int err = read_whole(file, key, length);

	if (err) {
		cli_say_of(file, "cannot read the key: %s", strerror(err));
		return CLI_FAILED;
	}
	if (*length < KEY_LEAST || *length > KEY_MOST) {
		cli_say_of(file, "a key has %d to %d bytes, this file has %s (make one: head -c 32 /dev/urandom > FILE)",
			   KEY_LEAST, KEY_MOST, *length < KEY_LEAST ? "fewer" : "more");
		return CLI_FAILED;
	}
	return CLI_OK;
}

static int random_key(unsigned char *key, size_t *length)
{
	*length = 32;
	if (getrandom(key, *length, 0) == (ssize_t)*length)
		return CLI_OK;
	cli_say("cannot make a random key: %s", strerror(errno));
	return CLI_FAILED;
}

int anonymizer_init(struct anonymizer *a, const char *key_file)
{
	unsigned char key[KEY_MOST + 1];
	size_t length = 0;
	int status = key_file ? read_key(key_file, key, &length) : random_key(key, &length);

	if (!status)
		hmac_sha256_set_key(&a->key, length, key);
	explicit_bzero(key, sizeof(key));
	return status;
}

void anonymizer_forget(struct anonymizer *a)
{
	explicit_bzero(a, sizeof(*a));
}

static __u64 hash(const struct anonymizer *a, const char *what, const void *name, size_t length)
{
	struct hmac_sha256_ctx context = a->key;
	__u64 bits = 0;
	__u8 digest[8];
	int i;

	/* @what is hashed with its NUL, so that names of two kinds are never the same input. */
	hmac_sha256_update(&context, strlen(what) + 1, (const __u8 *)what);
	hmac_sha256_update(&context, length, name);
	hmac_sha256_digest(&context, sizeof(digest), digest);
	for (i = 0; i < 8; i++)
		bits = bits << 8 | digest[i];
	return bits;
}

void anonymize_word(const struct anonymizer *a, char *out, const char *what,
		    const char *name, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	__u64 bits = hash(a, what, name, length);
	int i;

	for (i = 0; i < ANONYMOUS_LENGTH; i++, bits >>= 5)
		out[i] = letters[bits & 31];
}

static bool is_kept(const __u8 *address)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const __u8 none[16];

	if (!memcmp(address, none, 15))
		return address[15] <= 1; /* :: and ::1 */
	return !memcmp(address, mapped, 12) &&
	       (address[12] == 127 || !memcmp(address + 12, none, 4));
}

void anonymize_address(const struct anonymizer *a, char *address)
{
	__u64 bits;
	int i;

	if (is_kept((const __u8 *)address))
		return;
	bits = hash(a, "address", address, ANONYMOUS_ADDRESS) >> 4;
	memset(address, 0, ANONYMOUS_ADDRESS);
	address[0] = 1;
	for (i = 0; i < 8; i++)
		address[15 - i] = bits >> (8 * i);
}

#define PORTS_KEPT 1024

/*
 * A Feistel network maps 16 bits to 16 bits, one to one. It is repeated until the result is no port
 * that is kept, which stays one to one.
 */
__u16 anonymize_port(const struct anonymizer *a, __u16 port)
{
	__u8 left, right, half[2];
	int round;

	if (port < PORTS_KEPT)
		return port;
	do {
		left = port >> 8;
		right = port & 0xff;
		for (round = 0; round < 4; round++) {
			half[0] = round;
			half[1] = right;
			right = left ^ (__u8)hash(a, "port", half, sizeof(half));
			left = half[1];
		}
		port = left << 8 | right;
	} while (port < PORTS_KEPT);
	return port;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of the extension with its dot, 0 for none. */
static size_t extension(const char *name, size_t length)
{
	size_t n;

	for (n = 1; n <= EXTENSION_MAX + 1 && n < length; n++) {
		char c = name[length - n];

		if (c == '.')
			return n > 1 && is_letter(name[length - n + 1]) ? n : 0;
		if (!is_letter(c) && !(c >= '0' && c <= '9'))
			return 0;
	}
	return 0;
}

static size_t component(const struct anonymizer *a, char *out, const char *name,
			size_t length)
{
	size_t kept = extension(name, length);

	if (!length || (length <= 2 && !memcmp(name, "..", length))) {
		memcpy(out, name, length);
		return length;
	}
	anonymize_word(a, out, "component", name, length);
	memcpy(out + ANONYMOUS_LENGTH, name + length - kept, kept);
	return ANONYMOUS_LENGTH + kept;
}

size_t anonymize_path(const struct anonymizer *a, char *out, const char *path,
		      size_t length)
{
	const char *end = path + length;
	char *at = out;

	for (;;) {
		const char *slash = memchr(path, '/', end - path);

		at += component(a, at, path, (slash ? slash : end) - path);
		if (!slash)
			return at - out;
		*at++ = '/';
		path = slash + 1;
	}
}

void anonymize_sockpath(const struct anonymizer *a, char *name, size_t size)
{
	size_t length = strnlen(name, size), kept = length && *name == '@';
	char hidden[ANONYMOUS_PATH(SOCKPATH_MAX)];

	if (!length)
		return;
	length = anonymize_path(a, hidden, name + kept, length - kept);
	if (length > size - kept)
		length = size - kept;
	memset(name + kept, 0, size - kept);
	memcpy(name + kept, hidden, length);
}
