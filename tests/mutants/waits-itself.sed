# A process is its own neighbour.
# in: find_culprit()
# tests: waits.bats another process
s/(owner->pid == row->pid \&\& key.source == row->source)/false/
