# A byte that is no text is shown as it is.
# in: show_to()
# tests: tool.bats list
# tests: tool.bats log: 
s#size_t n = iot_printable(s, len);#size_t n = 1;#
