# The events of a sampled trace are its records.
# in: fleet_trace_row()
# tests: fleet.bats _trace says
s/t->basis.events/t->basis.records/
