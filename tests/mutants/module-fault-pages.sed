# A fault maps one page only.
# in: pages_mapped()
# tests: fields.py page faults
s/return now > f->mapped ? now - f->mapped : 1;/return now > f->mapped ? 1 : 1;/
