# Keys without a row of their own are nowhere over time.
# in: find_rows()
# tests: report.bats sums up
s/others = s->nr - 1/others = NO_ROW/
