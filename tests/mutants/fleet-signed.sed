# A number of DuckDB is signed.
# in: duckdb_type()
# tests: fleet.bats each value
s/UBIGINT/BIGINT/
