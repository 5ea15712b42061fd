-- SPDX-License-Identifier: GPL-2.0
-- Ten questions to a trace of categories fs, block and cache, for iotracer sql TRACE <queries.sql
-- or for a database made by iotracer export --format=sqlite.

-- 1. What do the answers rest on? Other figures lack what was lost, missed or cannot be read.
SELECT category, records, sampled, lost, missed, unreadable FROM _trace;

-- 2. Which files cost their programs the most time?
SELECT path, count(*) AS calls, round(sum(latency_ns) / 1e6, 3) AS total_ms
FROM fs WHERE path <> '' GROUP BY path ORDER BY total_ms DESC, path LIMIT 10;

-- 3. What is the median latency of each operation, and what do 99 % not exceed?
WITH ranked AS (
    SELECT op, latency_ns, row_number() OVER (PARTITION BY op ORDER BY latency_ns) AS rank,
           count(*) OVER (PARTITION BY op) AS calls FROM fs)
SELECT op, calls, min(latency_ns) FILTER (WHERE rank * 100 >= calls * 50) AS p50_ns,
       min(latency_ns) FILTER (WHERE rank * 100 >= calls * 99) AS p99_ns
FROM ranked GROUP BY op ORDER BY op;

-- 4. Which calls failed, how, and how often?
SELECT op, -result AS errno, path, count(*) AS calls
FROM fs WHERE result < 0 GROUP BY op, result, path ORDER BY calls DESC, op, path;

-- 5. Who reads and writes how much?
SELECT comm, pid, sum(CASE WHEN op IN ('READ', 'DIO_READ') THEN result ELSE 0 END) AS read_bytes,
       sum(CASE WHEN op IN ('WRITE', 'DIO_WRITE') THEN result ELSE 0 END) AS written_bytes
FROM fs WHERE result > 0 GROUP BY comm, pid HAVING read_bytes + written_bytes > 0
ORDER BY read_bytes + written_bytes DESC, pid;

-- 6. How long do programs wait until a file is on the disk?
SELECT path, count(*) AS syncs, round(avg(latency_ns) / 1e6, 3) AS mean_ms,
       round(max(latency_ns) / 1e6, 3) AS longest_ms
FROM fs WHERE op IN ('FSYNC', 'FDATASYNC') GROUP BY path ORDER BY sum(latency_ns) DESC, path;

-- 7. How busy was the disk in each second since the beginning of the trace?
SELECT (block.begin_ns - start.begin_ns) / 1000000000 AS second, disk, count(*) AS requests,
       sum(requested_bytes) AS bytes
FROM (SELECT min(begin_ns) AS begin_ns FROM _trace) AS start, block
GROUP BY second, disk ORDER BY second, disk;

-- 8. Are requests sequential? One is if it begins where the one before it on its disk ended.
WITH ordered AS (
    SELECT disk, sector, requested_bytes,
           lag(sector + requested_bytes / 512) OVER (PARTITION BY disk ORDER BY begin_ns, seq) AS expected
    FROM block WHERE op IN ('READ', 'WRITE'))
SELECT disk, count(*) AS requests, sum(sector = expected) AS sequential
FROM ordered GROUP BY disk ORDER BY disk;

-- 9. What does the disk write for each file that is written? A category that is joined is read into a
-- table of its own first, as a category has no index.
WITH calls AS MATERIALIZED (
    SELECT path, sum(result) AS bytes FROM fs
    WHERE op IN ('WRITE', 'DIO_WRITE') AND result > 0 GROUP BY path),
requests AS MATERIALIZED (
    SELECT path, sum(requested_bytes) AS bytes FROM block WHERE op = 'WRITE' GROUP BY path)
SELECT calls.path, calls.bytes AS written_bytes, coalesce(requests.bytes, 0) AS disk_bytes
FROM calls LEFT JOIN requests ON requests.path = calls.path ORDER BY written_bytes DESC, calls.path;

-- 10. How often did a read find its page in memory?
SELECT path, sum(op = 'HIT') AS hits, sum(op = 'MISS') AS misses,
       round(100.0 * sum(op = 'HIT') / count(*), 2) AS hit_percent
FROM cache WHERE op IN ('HIT', 'MISS') GROUP BY path ORDER BY misses DESC, path;
