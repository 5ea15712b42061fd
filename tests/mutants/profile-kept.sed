# A file does not go before a trace of that name.
# in: is_trace()
# tests: profile_trace.bats is known by its name
s/ || !access(word, F_OK)//
