# A write goes on with a run of reads.
# in: histogram_access()
# tests: histogram.bats runs of reads
s/a->owner.writes = .*/a->owner.writes = 0;/
