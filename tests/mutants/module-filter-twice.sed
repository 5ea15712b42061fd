# A key may be given twice.
# in: parse_condition()
# tests: category.py control: a line that is wrong
s/if (p->f->used & used & ~(/if (0 \& ~(/
