# A thread that has slept twice, in two calls, is taken for one that slept in one.
# in: waits()
# tests: waiting.py each call
s/after == before/after != before/
