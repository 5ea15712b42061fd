# A discard is no write of a block.
# in: add_pages()
# tests: stats.bats working sets
s/at.kind == POSITION_DISCARD) {/at.kind == POSITION_DISCARD \&\& !s->nr) {/
