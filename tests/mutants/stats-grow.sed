# Names are not found again after the table grew.
# in: grow()
# tests: stats.bats sums by each key
s/t->entries\[i\].hash & (t->nr_slots - 1)/i \& (t->nr_slots - 1)/
