# All short accesses with which a process begins are probes.
# file: tools/profile.c
# tests: profile.bats
s#i < first + PROFILE_PROBES \&\& ##
