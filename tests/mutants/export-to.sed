# --to includes the time that it names.
# in: selection_has_time()
# tests: export.bats export --from, --to
s/time < s->end/time <= s->end/
