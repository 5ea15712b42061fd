# A bio that is a part of its call is where the call begins.
# in: is_whole_call()
# tests: guest_terms.bats a bio of direct I/O
s| \&\& call->requested == bio->requested||
