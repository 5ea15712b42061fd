# Flags that are shown again belong to another operation.
# in: value_of()
# tests: columns.bats
s|if (c->again == ROW_BY_OP_AND_VALUE)|if (0)|
