# A key may be given twice.
# file: module/record/filter_parse.c
# tests: category.bats control: a line that is wrong
s/if (p->f->used & used & ~(/if (0 \& ~(/
