# Who may not see addresses of processes does not see those on a disk.
# in: iot_mask_record()
# tests: hostile_access.py addresses of other processes
s/^\tif (is_of_device(event, record))$/\tif (0 \&\& is_of_device(event, record))/
