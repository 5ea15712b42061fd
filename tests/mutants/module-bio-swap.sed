# A page that is swapped in has no file.
# in: iot_bio_swaps()
# tests: layers.py swap: the pages of a swap file
s/return unlikely(folio_test_locked(folio)) && folio_test_swapbacked(folio) &&/return false \&\& folio_test_swapbacked(folio) \&\&/
