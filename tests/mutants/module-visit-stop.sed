# Who is inside a read of a log is not waited for, nor named.
# in: iot_visits_stop()
# tests: hostile_unload.py a read of a category's log never ends
s/^\t\tif (list_empty_careful(&visits))/\t\tif (1 || list_empty_careful(\&visits))/
