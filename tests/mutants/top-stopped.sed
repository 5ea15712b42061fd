# A category that somebody else stopped is not reported.
# in: note_others()
# tests: top.bats somebody stops
s/if (!is_started(category))/if (false)/
