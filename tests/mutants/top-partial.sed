# The rows that do not fit are not counted.
# in: top_report_json()
# tests: top.bats fit
s/json_unsigned(r->list->nr - nr)/json_unsigned(0)/
