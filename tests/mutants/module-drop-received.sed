# A reset that is received comes from the other end.
# in: reset_received()
# tests: drop.py those received what programs see
/ends_of(sk, &e.packet);/{n;s/turn_round(&e.packet);//}
