# A category that somebody else stopped is not reported.
# in: note_others()
# tests: top.bats somebody stops
s/if (!control_started(category->name))/if (false)/
