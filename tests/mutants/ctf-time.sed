# The time of an event falls with its record's.
# in: ctf_put()
# tests: ctf.bats hostile
s/if (time > c->last \&\& time <= INT64_MAX)/if (true)/
