# An empty text of DuckDB is null.
# in: put_duckdb()
# tests: fleet.bats each value
s/nullstr = '\\\\N'/nullstr = ''/
