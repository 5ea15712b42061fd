# A record of a sampled category is one operation.
# in: add_main()
# tests: top.bats sampled
s/row->count += m->weight;/row->count++;/
