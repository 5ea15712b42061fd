# A SYN-ACK is of the socket that listens: the request has no cookie.
# in: synack_resent()
# tests: drop.py of a SYN-ACK that is lost
/inet_rsk(request), &e.packet/{n;s/note_socket(&e, sk)/note_socket(\&e, req_to_sk((struct request_sock *)request))/}
