// SPDX-License-Identifier: GPL-2.0
// The document of the page, and what is computed from it: sums and percentiles of a part of the time.
'use strict';

const report = JSON.parse(document.getElementById('document').textContent);

const CELL = 7; // numbers of a cell: bucket, count, bytes, errors, latency, longest, device

const categoryTitles = {
	fs: 'File system calls',
	block: 'Requests to disks',
	cache: 'Page cache',
	fault: 'Page faults',
	uring: 'io_uring',
	net: 'Sockets',
	conn: 'Connections',
	epoll: 'Polling',
	sockopt: 'Socket options',
	drop: 'Packets dropped and sent again',
};

// What rows are: one, and several.
const tableNames = {
	op: ['Operation', 'Operations'],
	file: ['File', 'Files'],
	directory: ['Directory', 'Directories'],
	process: ['Process', 'Processes'],
	device: ['Device', 'Devices'],
	connection: ['Connection', 'Connections'],
	host: ['Host', 'Hosts'],
};

function titleOf(category) {
	return categoryTitles[category.category] || category.category;
}

function tableOf(category, by) {
	return category.tables.find(table => table.by === by);
}

function totalsOf(category) {
	return category.tables[0].stats;
}

// The part of the time that is shown: the first and the last bucket. All of them: isWhole().
const selection = { first: 0, last: report.grid.buckets - 1 };

function isWhole() {
	return selection.first === 0 && selection.last === report.grid.buckets - 1;
}

function isSelected(bucket) {
	return bucket >= selection.first && bucket <= selection.last;
}

// Seconds that the selected buckets have. The last bucket of the grid may be cut by the end.
function secondsOf(first, last) {
	const width = report.grid.width_ns / 1e9;
	const until = report.categories.length ? totalsOf(report.categories[0]).duration_s : 0;
	return Math.max(Math.min((last + 1) * width, until || Infinity) - first * width, 0);
}

// The name of a row; several keys of it are told by keysOf().
function nameOf(table, row) {
	if (row.others) return `${formatCount(row.others)} others`;
	if (table.by === 'process') return `${row.process} ${row.command || ''}`.trim();
	if (table.by === 'stack') return `${row.command || '(no name)'} ${row.file || '(no file)'} ${row.op}`;
	if (table.by === 'device' && table.disks.length)
		return `${row.device} ${table.disks[table.stats.rows.indexOf(row)]}`.trim();
	return row[table.by] || (table.by === 'file' || table.by === 'directory' ? '(no path)' : '(none)');
}

// What the i-th row of a table has in the selected time.
function sumsOf(table, i) {
	const sums = { count: 0, bytes: 0, errors: 0, latency: 0, most: 0, device: 0 };
	const cells = table.cells[i];
	for (let at = 0; at < cells.length; at += CELL) {
		if (!isSelected(cells[at])) continue;
		sums.count += cells[at + 1];
		sums.bytes += cells[at + 2];
		sums.errors += cells[at + 3];
		sums.latency += cells[at + 4];
		sums.most = Math.max(sums.most, cells[at + 5]);
		sums.device += cells[at + 6];
	}
	return sums;
}

const MIDDLE_AND_TAIL = { p50: 0.5, p99: 0.99 };

function hasLatencies(table) {
	return Boolean(table.latencies || table.packed);
}

// p50 and p99 of the selected time. No value is above the longest.
function tailOf(lists, most) {
	const found = percentilesOf(countsOf(lists), MIDDLE_AND_TAIL);
	for (const part of Object.keys(found)) found[part] = Math.min(found[part], most);
	return found;
}

// How much too large a percentile of a part of the time may be: 1/8 to 1.
function errorOf(table) {
	return 2 ** (table.pack || 0) / 8;
}

const unpacked = new Map(); // by the packed array

// The latencies of a row as triples. A packed scale becomes the last one of those that it has.
function latenciesOf(table, i) {
	if (table.latencies) return table.latencies[i];
	const flat = table.packed[i];
	if (!unpacked.has(flat)) {
		const triples = [];
		for (let at = 0; at < flat.length; ) {
			const [bucket, nr] = [flat[at++], flat[at++]];
			for (let n = 0, scale = 0; n < nr; n++) {
				scale += flat[at++];
				triples.push(bucket, (scale + 1) * 2 ** table.pack - 1, flat[at++]);
			}
		}
		unpacked.set(flat, triples);
	}
	return unpacked.get(flat);
}

// The rows of a table in the selected time, with exact percentiles if that is all of it.
function rowsOf(table) {
	return table.stats.rows
		.map((row, i) => {
			const sums = sumsOf(table, i);
			const of = { name: nameOf(table, row), others: row.others || 0, ...sums };
			of.mean = sums.count ? sums.latency / sums.count : 0;
			if (isWhole()) for (const part of ['p50', 'p99']) of[part] = row.latency_ns[part];
			else if (hasLatencies(table))
				Object.assign(of, tailOf([latenciesOf(table, i)], sums.most));
			return of;
		})
		.filter(row => row.count);
}

// A value for each bucket of time: that of each cell of the rows, summed up.
function overTime(table, rows, member) {
	const values = new Array(report.grid.buckets).fill(0);
	for (const i of rows)
		for (let at = 0; at < table.cells[i].length; at += CELL)
			values[table.cells[i][at]] += table.cells[i][at + member];
	return values;
}

// --- histograms ---------------------------------------------------------------------

// The least value of a bucket of spread_scale().
function scaleBegin(scale) {
	return scale < 8 ? scale : (8 + (scale % 8)) * 2 ** (Math.floor(scale / 8) - 1);
}

function scaleOctave(scale) {
	return Math.floor(scale / 8);
}

// Counts by scale of flat triples [bucket, scale, count], in the selected time or in a bucket.
function countsOf(lists, bucket = null) {
	const counts = new Map();
	for (const list of lists)
		for (let at = 0; at < list.length; at += 3)
			if (bucket === null ? isSelected(list[at]) : list[at] === bucket)
				counts.set(list[at + 1], (counts.get(list[at + 1]) || 0) + list[at + 2]);
	return counts;
}

// Counts by bucket of time, each by scale.
function countsOverTime(lists) {
	const all = Array.from({ length: report.grid.buckets }, () => new Map());
	for (const list of lists)
		for (let at = 0; at < list.length; at += 3)
			all[list[at]].set(
				list[at + 1],
				(all[list[at]].get(list[at + 1]) || 0) + list[at + 2],
			);
	return all;
}

// By nearest rank. The value is the largest of its bucket, so it is an eighth too large at most.
function percentilesOf(counts, parts) {
	const scales = [...counts.keys()].sort((a, b) => a - b);
	const all = scales.reduce((sum, scale) => sum + counts.get(scale), 0);
	const found = {};
	for (const [name, part] of Object.entries(parts)) {
		const rank = Math.max(Math.ceil(part * all - 1e-9), 1);
		let seen = 0;
		for (const scale of scales) {
			seen += counts.get(scale);
			if (seen >= rank) {
				found[name] = scaleBegin(scale + 1) - 1;
				break;
			}
		}
	}
	return found;
}

// --- numbers ------------------------------------------------------------------------

function significant(n) {
	return n >= 100 || n === 0 ? n.toFixed(0) : n.toPrecision(3);
}

function scaled(n, step, units) {
	let i = 0;
	while (n >= step * 0.9995 && i < units.length - 1) {
		n /= step;
		i++;
	}
	return `${significant(n)} ${units[i]}`.trim();
}

const countFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

function formatCount(n) {
	return countFormat.format(n);
}

// As short as a number of an axis can be.
function formatTick(n) {
	const [number, unit = ''] = scaled(n, 1000, ['', 'k', 'M', 'G', 'T']).split(' ');
	return Number(number) + unit;
}

function formatRate(n) {
	return scaled(n, 1000, ['', 'k', 'M', 'G', 'T']);
}

// The unit of bytes that suits the largest of some, and its size.
function unitOf(most) {
	return (
		[
			['GiB', 2 ** 30],
			['MiB', 2 ** 20],
			['KiB', 2 ** 10],
		].find(([, size]) => most >= size) || ['B', 1]
	);
}

function formatBytes(n) {
	return n < 1024
		? `${Math.round(n)} B`
		: scaled(n / 1024, 1024, ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']);
}

function formatTime(ns) {
	if (ns >= 120e9)
		return ns >= 7200e9 ? `${significant(ns / 3600e9)} h` : `${significant(ns / 60e9)} min`;
	return ns ? scaled(ns, 1000, ['ns', 'µs', 'ms', 's']) : '0';
}

// Times of the axes: since the beginning, in the unit that suits the whole.
const axis = (() => {
	const all = report.grid.buckets * report.grid.width_ns;
	const [unit, size] = [
		['h', 3600e9, 4],
		['min', 60e9, 40],
		['s', 1e9, 2],
		['ms', 1e6, 2],
		['µs', 1e3, 0],
	].find(([, size, least]) => all > least * size);
	return { unit, size, at: bucket => (bucket * report.grid.width_ns) / size };
})();

function formatAt(bucket) {
	return `${Number(axis.at(bucket).toPrecision(5))} ${axis.unit}`;
}

function formatDate(ns) {
	return `${new Date(ns / 1e6).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}
