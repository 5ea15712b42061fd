// SPDX-License-Identifier: GPL-2.0
// The hit ratio that caches of several sizes and policies would have had.
'use strict';

const POLICIES = {
	LRU: ['var(--c1)', 'least recently used'],
	FIFO: ['var(--c4)', 'first in, first out'],
	ARC: ['var(--c3)', 'recent and frequent'],
	MIN: ['var(--c2)', 'knows the future: the most hits that are possible'],
};

const percent = ratio => `${(100 * ratio).toFixed(1)} %`;

// The hit ratio of the page cache, 0 to 1; null if it is not known. ways: reads, writes, faults
function kernelRatio(ways) {
	const lookups = report.cache_sim.page_cache?.lookups;
	const of = ways.map(way => lookups?.[way] || { hits: 0, misses: 0 });
	const hits = d3.sum(of, way => way.hits);
	const all = hits + d3.sum(of, way => way.misses);
	return all ? hits / all : null;
}

// Lines of one member of the policies of each size: hit_ratio or read_hit_ratio.
function drawCurve(box, simulation, member, kernel, label) {
	const names = Object.keys(POLICIES);
	const data = simulation.sizes.flatMap(size =>
		names
			.filter(name => size[name])
			.map(name => ({
				bytes: size.cache_bytes,
				ratio: 100 * size[name][member],
				error: 100 * (size[name][`${member}_error`] ?? 0),
				name,
			})),
	);
	const sizes = simulation.sizes.map(size => size.cache_bytes);
	const step = Math.ceil((sizes.length * 62) / Math.max(box.clientWidth, 240));
	if (data.length)
		plotOverTime(box, label, {
			height: 260,
			marginRight: 26,
			x: {
				type: 'log',
				base: 2,
				domain: [sizes[0], Math.max(sizes.at(-1), 2 * sizes[0])],
				label: 'size of the cache',
				ticks: sizes.filter((_, i) => (sizes.length - 1 - i) % step === 0),
				tickFormat: n => formatBytes(n).replace(/\.0+ /, ' '),
			},
			y: { label: 'hits, %', domain: [0, 100], ticks: 5 },
			color: { domain: names, range: names.map(name => POLICIES[name][0]) },
			marks: [
				grid(),
				Plot.ruleX(
					data.filter(d => d.error),
					{
						x: 'bytes',
						y1: d => Math.max(d.ratio - d.error, 0),
						y2: d => Math.min(d.ratio + d.error, 100),
						stroke: 'name',
						strokeOpacity: 0.5,
						strokeWidth: 4,
					},
				),
				Plot.line(data, { x: 'bytes', y: 'ratio', stroke: 'name', strokeWidth: 2 }),
				Plot.dot(data, { x: 'bytes', y: 'ratio', fill: 'name', r: 2.5 }),
				Plot.ruleY(kernel === null ? [] : [100 * kernel], {
					stroke: 'var(--text)',
					strokeDasharray: '5 4',
				}),
				Plot.ruleY([0]),
			],
		});
	return data.length;
}

function curveTable(simulation, ways) {
	return {
		columns: [
			{ label: 'Cache', text: row => formatBytes(row.cache_bytes) },
			...ways.flatMap(([member, title]) =>
				Object.keys(POLICIES).map(name => ({
					label: `${name}${title}`,
					text: row =>
						row[name]
							? percent(row[name][member]) +
								(row[name][`${member}_error`]
									? ` ± ${(100 * row[name][`${member}_error`]).toFixed(1)}`
									: '')
							: '–',
				})),
			),
		],
		rows: simulation.sizes,
	};
}

function curveChart(simulation, member, title, caption, kernel) {
	const names = Object.keys(POLICIES);
	const colors = names.map(name => POLICIES[name][0]);
	const marks = kernel === null ? [] : [`page cache: ${percent(kernel)}`];
	return chart(
		title,
		caption,
		box =>
			drawCurve(
				box,
				simulation,
				member,
				kernel,
				`${title}: lines of LRU, FIFO, ARC and MIN. The table below has the numbers.`,
			),
		() => curveTable(simulation, [[member, '']]),
		legend([...names, ...marks], [...colors, ...marks.map(() => 'var(--text)')]),
	);
}

// What a sample is worth: the largest error of LRU.
function sampleNote(simulation) {
	if (simulation.sample_rate >= 1) return '';
	const errors = simulation.sizes.map(size => size.LRU?.hit_ratio_error ?? 0);
	return ` Estimated from ${(100 * simulation.sample_rate).toPrecision(3)} % of the pages: with 95 % probability, LRU’s ratios are within ${(100 * d3.max(errors)).toPrecision(2)} percentage points, which its bars show.`;
}

function simulationParts(simulation) {
	const what = simulation.category === 'fs' ? 'reads and writes of files' : 'reads and writes of disks';
	if (!simulation.accesses)
		return [element('p', { class: 'nothing' }, `The trace has no ${what} with bytes.`)];
	const both = simulation.reads && simulation.reads < simulation.accesses;
	const made = [
		facts([
			[
				'Accesses',
				`${formatCount(simulation.accesses)} to pages of 4 KiB, ${formatCount(simulation.reads)} of them reads`,
			],
			['Working set', formatBytes(simulation.working_set_bytes)],
			['If all fits', `${percent(simulation.hit_ratio_limit)} are hits: the others are first accesses to a page`],
		]),
		element('p', { class: 'quiet' }, Object.entries(POLICIES).map(([name, [, means]]) => `${name}: ${means}`).join('; ') + '.'),
		curveChart(
			simulation,
			'hit_ratio',
			both ? 'Hit ratio by size of the cache: reads and writes' : 'Hit ratio by size of the cache',
			`Share of the ${what} that a cache of that size would have served.${sampleNote(simulation)}`,
			kernelRatio(['reads', 'writes', 'faults']),
		),
	];
	if (both)
		made.push(
			curveChart(
				simulation,
				'read_hit_ratio',
				'Hit ratio by size of the cache: reads',
				'The same of reads alone, for which programs wait. Writes still bring their pages into the cache.',
				kernelRatio(['reads']),
			),
		);
	const [texts, charts] = [made.slice(0, 2), made.slice(2)];
	return [...texts, element('div', { class: 'pair' }, ...charts)];
}

function kernelNote() {
	const cache = report.cache_sim.page_cache;
	if (!cache)
		return 'What the page cache of the kernel did is not in the trace: record category cache, too.';
	return `The dashed line is what the page cache of the kernel did with the memory that it had, which the trace does not tell. Of the ${formatCount(cache.ahead_pages)} pages that it read ahead, ${formatCount(cache.ahead_used_pages)} were used and ${formatCount(cache.ahead_removed_pages)} were removed unused.`;
}

// NULL if the trace has no accesses to simulate.
function cacheSection() {
	const { simulations } = report.cache_sim;
	if (!simulations?.length) return null;
	return element(
		'section',
		{ id: 'cache-sim' },
		element('h2', {}, 'Cache sizes'),
		element(
			'p',
			{ class: 'quiet' },
			`Of all of the time, whatever part is selected; as iotracer cache-sim shows it. ${kernelNote()}`,
		),
		...simulations.flatMap(simulationParts),
	);
}
