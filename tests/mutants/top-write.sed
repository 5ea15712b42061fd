# Bytes that are written are read.
# in: add_main()
# tests: top.bats worked
s/if (top_is_write(f->category->event_id, op))/if (op == 999)/
