# Refused records are taken for holes among those that were stored.
# in: count_shard()
# tests: category.py modes: the newest
s/^\tholes = lost - .*/\tholes = lost;/
