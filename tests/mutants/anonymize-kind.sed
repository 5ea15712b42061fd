# A command is hashed as a component of a path is.
# file: tools/anonymize.c
# tests: export.bats anonymize: 
s|hmac_sha256_update(&context, strlen(what) + 1, (const __u8 \*)what);|(void)what;|
