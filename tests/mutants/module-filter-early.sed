# A send is rejected when it begins, though its socket is not bound yet.
# in: are_ports_rejected()
# tests: net.py filters: the port that a send binds
s/ && local && remote &&/ \&\&/
