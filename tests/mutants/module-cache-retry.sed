# A request is counted again with each try.
# in: look_up_again()
# tests: cache.py a request that io_uring retries
s/l.silent = is_retry(iocb, l.mapping, l.end);/l.silent = is_retry(iocb, l.mapping, l.end) \&\& 0;/
