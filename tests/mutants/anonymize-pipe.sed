# Only the first piece of a key that arrives in pieces is used.
# in: read_whole()
# tests: export.bats anonymize: 
s|if (!n \|\| (n < 0 \&\& err != EINTR))|if (1)|
