# CPUs that lost nothing are in the metadata.
# in: json_lost()
# tests: export.bats gaps are counted
s#if (!f->lost_by_cpu\[n\])#if (0)#
