# A datagram has the other end of its socket in the log, not that of the message.
# in: record_row()
# tests: process_network.py UDP: the other end
s/find_named(&named, fn->op, sock, f->msg, result)/false/
