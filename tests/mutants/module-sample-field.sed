# The record does not have N of sampling.
# in: event.h
# tests: category.py sampling: one event
s/^\t(e)->sample = READ_ONCE((c)->sample);/\t(e)->sample = 1 + 0 * (c)->sample;/
