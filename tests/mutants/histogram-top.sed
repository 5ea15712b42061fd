# One key more than --top has its own histogram.
# in: rank()
# tests: histogram.bats sums stay whole
s/i >= h->top;/i > h->top;/
