# A key may be given twice.
# file: module/record/filter_parse.c
# tests: category.py control: a line that is wrong
s/if (p->f->used & used & ~(/if (0 \& ~(/
