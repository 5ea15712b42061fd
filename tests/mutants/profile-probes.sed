# All short accesses with which a process begins are probes.
# in: mark_probes()
# tests: profile.bats
s#i < first + PROFILE_PROBES \&\& ##
