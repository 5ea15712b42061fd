// SPDX-License-Identifier: GPL-2.0
// What a power cut would have taken.
'use strict';

// The bytes at risk at the end of parts of the time: { x1, x2, bytes }, in buckets of the grid.
function riskOverTime() {
	const flat = report.durability.over_time;
	const { begin_ns, width_ns, buckets } = report.grid;
	const points = [];
	let before = 0;
	for (let at = 0; at < flat.length; at += 2) {
		const until = Math.min((flat[at] - begin_ns) / width_ns, buckets);
		// times are doubles here: the end of a bucket is a whole number
		const x2 = Math.abs(until - Math.round(until)) < 0.01 ? Math.round(until) : until;
		if (x2 > before) points.push({ x1: before, x2, bytes: flat[at + 1] });
		before = Math.max(before, x2);
	}
	return points;
}

function riskChart() {
	const points = riskOverTime();
	const shown = () => points.filter(p => p.x2 > selection.first && p.x1 < selection.last + 1);
	const draw = box => {
		const [unit, size] = unitOf(d3.max(points, p => p.bytes) || 0);
		const data = shown().map(p => ({
			x1: axis.at(Math.max(p.x1, selection.first)),
			x2: axis.at(Math.min(p.x2, selection.last + 1)),
			y: p.bytes / size,
		}));
		if (data.some(d => d.y))
			plotOverTime(box, 'Bytes at risk over time. The table below has the numbers.', {
				y: { label: unit, tickFormat: formatTick, ticks: 5 },
				marks: [
					grid(),
					Plot.rectY(data, { x1: 'x1', x2: 'x2', y: 'y', fill: 'var(--c6)', inset: 0 }),
					Plot.ruleY([0]),
				],
			});
		return data.some(d => d.y);
	};
	const below = () => ({
		columns: [
			{ label: 'At', text: row => formatAt(row.x2) },
			{
				label: 'At risk',
				text: row => formatBytes(row.bytes),
				title: row => `${formatCount(row.bytes)} bytes`,
			},
		],
		rows: shown(),
	});
	return chart(
		'At risk over time',
		'Bytes that were written and not known to be on the disk, at the end of each part of the time: what a power cut then could have taken.',
		draw,
		below,
	);
}

function riskTable() {
	const { files, all_files: all } = report.durability;
	const states = ['memory', 'writeback', 'cache', 'unproven', 'unknown'];
	const columns = [
		{ label: 'File', text: row => row.file || '(no path)' },
		{
			label: 'At risk',
			text: row => formatBytes(row.at_risk_bytes),
			title: row =>
				states
					.filter(state => row[`${state}_bytes`])
					.map(state => `${state}: ${formatCount(row[`${state}_bytes`])} bytes`)
					.join(', ') || null,
		},
		{
			label: 'Longest exposure',
			text: row => formatTime(row.longest_exposure_ns),
			title: row => `${formatCount(row.longest_exposure_ns)} ns`,
		},
		{
			label: 'p99',
			text: row => (row.exposure_p99_ns === null ? '–' : formatTime(row.exposure_p99_ns)),
		},
		{
			label: 'Written',
			text: row => formatBytes(row.written_bytes),
			title: row => `${formatCount(row.written_bytes)} bytes`,
		},
		{ label: 'Fsyncs', text: row => formatCount(row.syncs) },
		{ label: 'Nothing to do', text: row => formatCount(row.idle_syncs) },
		{ label: 'Name', text: row => row.name, isText: true },
	];
	const table = plainTable(
		all.files > files.length
			? `The ${files.length} of ${formatCount(all.files)} files with most at risk at the end`
			: 'Files, those with most at risk at the end first',
		columns,
		files,
	);
	for (const cell of table.querySelectorAll('tbody th')) cell.classList.add('name');
	return scrolling('Files at risk', table);
}

// What the answer rests on.
function durabilityNotes() {
	const { categories, async_writes, failed_requests, not_followed } = report.durability;
	const has = name => categories.some(category => category.category === name);
	const missing = categories.some(c => c.lost || c.missed || c.unreadable || c.sampled);
	return [
		!has('block') && 'no category block: flushes and failed requests are not known',
		!has('cache') && 'no category cache: writeback is not known',
		'only calls prove that data is durable: iotracer durability --in-place lets flushes prove, too',
		async_writes && `${formatCount(async_writes)} asynchronous writes: their completion is not known`,
		failed_requests && `${formatCount(failed_requests)} requests failed: what was exposed then is unknown`,
		not_followed && `${formatCount(not_followed)} writes and syncs are of files beyond those that are followed`,
		missing && 'events are missing or sampled: nothing is called durable',
	].filter(note => note);
}

// NULL if the trace has no calls.
function durabilitySection() {
	const found = report.durability;
	if (!found) return null;
	const { all_files: all } = found;
	const section = element('section', { id: 'durability' }, element('h2', {}, 'Durability'));
	if (!all.files) {
		section.append(element('p', { class: 'nothing' }, 'No file was written or synced.'));
		return section;
	}
	const peak = d3.max(riskOverTime(), p => p.bytes) || 0;
	const never = found.files.filter(f => f.at_risk_bytes && !f.syncs).length;
	section.append(
		facts([
			[
				'At risk at the end',
				`${formatBytes(found.at_risk_bytes)} of ${formatBytes(all.written_bytes)} that were written`,
			],
			['Most at risk', `${formatBytes(peak)}, of what the chart shows`],
			['Longest exposure', formatTime(all.longest_exposure_ns)],
			[
				'Fsyncs',
				`${formatCount(all.syncs)}, of which ${formatCount(all.idle_syncs)} had nothing to do` +
					(all.failed_syncs ? `, and ${formatCount(all.failed_syncs)} that failed` : ''),
			],
			['Never synced', never ? `${formatCount(never)} of the files below that have bytes at risk` : null],
			['Removed files', found.removed_bytes ? `${formatBytes(found.removed_bytes)} more` : null],
		]),
		riskChart(),
		riskTable(),
		element(
			'p',
			{ class: 'quiet' },
			`As iotracer durability shows it, of all of the trace: what is at risk may be lost, and need not be. Notes: ${durabilityNotes().join('; ')}.`,
		),
	);
	return section;
}
