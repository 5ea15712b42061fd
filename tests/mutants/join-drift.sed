# The span of a window is not made wider by the drift since the one before.
# in: join_span_at()
# tests: join.bats clocks
s|__s64 wider = drift_of(j, time - w->time);|__s64 wider = 0 * drift_of(j, time - w->time);|
