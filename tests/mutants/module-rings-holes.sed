# Refused records are taken for holes among those that were stored.
# file: module/record/rings.c
# tests: category.py modes: the newest
s/^\tholes = lost - .*/\tholes = lost;/
