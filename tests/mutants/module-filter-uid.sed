# uid= is compared with the real user, not the effective one.
# in: iot_filter_rare()
# tests: category.py filters: by process
s/current_euid()/current_uid()/
