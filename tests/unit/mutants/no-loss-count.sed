# Loses records without counting them.
/atomic64_inc(&ring->lost/d
