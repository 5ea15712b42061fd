# The kind of a name is not hashed: a command gets the hash of an equal component of a path.
# in: anonymize_word()
# tests: export.bats anonymize: 
s|hmac_sha256_update(&context, strlen(what) + 1, (const __u8 \*)what);|(void)what;|
