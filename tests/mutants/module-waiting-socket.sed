# A read(2) of any file is a receive.
# in: note()
# tests: waiting.py each call
s/if (sk ? !is_traced(sk) : !(call->how \& CALL))/if (sk \&\& !is_traced(sk))/
