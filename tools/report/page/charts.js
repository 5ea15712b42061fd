// SPDX-License-Identifier: GPL-2.0
// The charts of a category. Each is a figure with a caption, and a table of what it shows below it.
'use strict';

const COLORS = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)', 'var(--c6)'];
const REST = 'var(--c7)';
const FIXED = { READ: COLORS[0], WRITE: COLORS[1] }; // the same color in each chart

function colorsOf(names) {
	const free = COLORS.filter(color => !names.some(name => FIXED[name] === color));
	return names.map(name => FIXED[name] || free.shift() || REST);
}

function legend(names, colors) {
	return element(
		'ul',
		{ class: 'legend' },
		...names.map((name, i) => element('li', { style: `--swatch: ${colors[i]}` }, name)),
	);
}

// A chart whose x axis is the selected time.
function plotOverTime(box, label, options) {
	const svg = Plot.plot({
		width: Math.max(box.clientWidth, 240),
		height: 200,
		marginLeft: 62,
		marginRight: 18,
		marginTop: 22,
		marginBottom: 40,
		style: { background: 'none', color: 'currentColor', fontSize: '12px' },
		...options,
		x: {
			domain: [axis.at(selection.first), axis.at(selection.last + 1)],
			label: `time since the start (${axis.unit})`,
			ticks: Math.max(Math.floor(box.clientWidth / 110), 2),
			labelArrow: 'none',
			labelOffset: 36,
			...options.x,
		},
		y: { labelArrow: 'none', ...options.y },
	});
	// The picture has one text; its parts have none.
	for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
	svg.setAttribute('role', 'img');
	svg.setAttribute('aria-label', label);
	box.replaceChildren(svg);
}

function grid(ticks = 5) {
	return Plot.gridY({ ticks, stroke: 'var(--grid)', strokeOpacity: 1 });
}

function nothing(box, why) {
	box.replaceChildren(element('p', { class: 'nothing' }, why));
}

// draw(box) draws, and returns whether there was anything. table() makes the table below.
function chart(title, caption, draw, table, lines = null) {
	const box = element('div', { class: 'plot' });
	const figure = element('figure', {}, element('figcaption', {}, caption), lines, box);
	const section = element(
		'section',
		{ class: 'chart' },
		element('h3', {}, title),
		figure,
		tableBelow(title, table),
	);
	drawnNear(box, () => draw(box) || nothing(box, 'Nothing in this part of the time.'));
	return section;
}

function selectedBuckets() {
	return d3.range(selection.first, selection.last + 1);
}

function bucketColumn() {
	return { label: 'From', text: row => formatAt(row.bucket) };
}

// --- rates --------------------------------------------------------------------------

// The rows with most of something have a colour each; the others are one. Returns { name, rows, color }.
function groupsOf(table, member, most = COLORS.length) {
	const sums = table.cells
		.map((_, i) => ({ i, sum: d3.sum(overTime(table, [i], member)) }))
		.filter(row => row.sum)
		.sort((a, b) => b.sum - a.sum);
	const named = sums.filter(row => !table.stats.rows[row.i].others);
	const alone = named.slice(0, most);
	const rest = sums.filter(row => !alone.includes(row));
	const names = alone.map(({ i }) => nameOf(table, table.stats.rows[i]));
	const colors = colorsOf(names);
	const groups = alone.map(({ i }, n) => ({ name: names[n], rows: [i], color: colors[n] }));
	if (rest.length) groups.push({ name: 'others', rows: rest.map(row => row.i), color: REST });
	return groups;
}

// Bars, one on another, of a rate: the member of the cells by the seconds of the bucket.
function stackedChart(title, caption, table, member, { isBytes, format }) {
	const groups = groupsOf(table, member);
	const values = groups.map(group => overTime(table, group.rows, member));
	const rate = (g, bucket) => values[g][bucket] / (secondsOf(bucket, bucket) || Infinity);
	const total = bucket => d3.sum(groups, (_, g) => rate(g, bucket));
	const data = () =>
		selectedBuckets()
			.flatMap(bucket =>
				groups.map((group, g) => ({
					x1: axis.at(bucket),
					x2: axis.at(bucket + 1),
					y: rate(g, bucket),
					group: group.name,
				})),
			)
			.filter(d => d.y > 0);
	const draw = box => {
		const [unit, size] = isBytes ? unitOf(d3.max(selectedBuckets(), total)) : ['', 1];
		const rects = data().map(d => ({ ...d, y: d.y / size }));
		if (rects.length)
			plotOverTime(box, `${title} over time. The table below has its numbers.`, {
				y: {
					label: isBytes ? `${unit}/s` : 'per second',
					tickFormat: formatTick,
					ticks: 5,
				},
				color: { domain: groups.map(g => g.name), range: groups.map(g => g.color) },
				marks: [
					grid(),
					Plot.rectY(rects, { x1: 'x1', x2: 'x2', y: 'y', fill: 'group' }),
					Plot.ruleY([0]),
				],
			});
		return rects.length;
	};
	const table_ = () => ({
		columns: [
			bucketColumn(),
			...groups.map((group, g) => ({
				label: group.name,
				text: row => format(rate(g, row.bucket)),
				title: row => formatCount(values[g][row.bucket]),
			})),
		],
		rows: selectedBuckets()
			.map(bucket => ({ bucket }))
			.filter(({ bucket }) => values.some(v => v[bucket])),
	});
	return chart(
		title,
		caption,
		draw,
		table_,
		legend(
			groups.map(g => g.name),
			groups.map(g => g.color),
		),
	);
}

// --- latencies ----------------------------------------------------------------------

const PARTS = { p50: 0.5, p90: 0.9, p99: 0.99 };
const PART_COLORS = { p50: 'var(--c1)', p90: 'var(--c3)', p99: 'var(--c2)', max: 'var(--c7)' };

// Powers of ten in a range of ns, or all of 1, 2, 5 if there are few.
function timeTicks(least, most) {
	const tens = d3
		.range(0, 20)
		.map(n => 10 ** n)
		.filter(n => n >= least && n <= most);
	return tens.length > 1 ? tens : d3.ticks(least, most, 4);
}

function timeAxis(least, most) {
	return {
		type: 'log',
		label: 'latency',
		domain: [least, Math.max(most, least * 2)],
		ticks: timeTicks(least, most),
		tickFormat: ns => formatTime(ns).replace(/\.0+ /, ' '),
	};
}

function percentileChart(table) {
	const counts = countsOverTime(table.latencies);
	const longest = table.cells.reduce((all, cells) => {
		for (let at = 0; at < cells.length; at += CELL)
			all[cells[at]] = Math.max(all[cells[at]], cells[at + 5]);
		return all;
	}, new Array(report.grid.buckets).fill(0));
	const all = counts.map((bucket, i) =>
		bucket.size ? { ...percentilesOf(bucket, PARTS), max: longest[i] } : null,
	);
	const names = [...Object.keys(PARTS), 'max'];
	const draw = box => {
		const data = selectedBuckets()
			.filter(bucket => all[bucket])
			.flatMap(bucket =>
				names.map(name => ({
					x1: axis.at(bucket),
					x2: axis.at(bucket + 1),
					y: Math.max(Math.min(all[bucket][name], all[bucket].max), 1),
					name,
				})),
			);
		if (data.length)
			plotOverTime(
				box,
				'Percentiles of the latency over time. The table below has their numbers.',
				{
					y: timeAxis(...d3.extent(data, d => d.y)),
					color: { domain: names, range: names.map(name => PART_COLORS[name]) },
					marks: [
						grid(timeTicks(...d3.extent(data, d => d.y))),
						Plot.ruleY(data, {
							x1: 'x1',
							x2: 'x2',
							y: 'y',
							stroke: 'name',
							strokeWidth: 2,
						}),
					],
				},
			);
		return data.length;
	};
	const below = () => ({
		columns: [
			bucketColumn(),
			...names.map(name => ({
				label: name,
				text: row =>
					(name === 'max' ? '' : '≈ ') +
					formatTime(Math.min(row[name], row.max)),
			})),
		],
		rows: selectedBuckets()
			.filter(bucket => all[bucket])
			.map(bucket => ({ bucket, ...all[bucket] })),
	});
	return chart(
		'Latency percentiles',
		'Of each part of the time, from its histogram: at most an eighth too large. The longest is exact.',
		draw,
		below,
		legend(
			names,
			names.map(name => PART_COLORS[name]),
		),
	);
}

// Two ranges of latency for each power of two.
function heatChart(table) {
	const HALF = 4;
	const counts = countsOverTime(table.latencies).map(bucket =>
		d3.rollup(
			bucket,
			entries => d3.sum(entries, e => e[1]),
			([scale]) => Math.floor(scale / HALF),
		),
	);
	const cells = () =>
		selectedBuckets().flatMap(bucket =>
			[...counts[bucket]].map(([range, count]) => ({
				bucket,
				range,
				count,
				x1: axis.at(bucket),
				x2: axis.at(bucket + 1),
				y1: Math.max(scaleBegin(range * HALF), 1),
				y2: Math.max(scaleBegin((range + 1) * HALF), 2),
			})),
		);
	const draw = box => {
		const data = cells();
		if (data.length)
			plotOverTime(
				box,
				'Heat map: how many operations had which latency over time. The table below has the numbers.',
				{
					height: 240,
					y: timeAxis(
						d3.min(data, d => d.y1),
						d3.max(data, d => d.y2),
					),
					opacity: {
						type: 'log',
						range: [0.15, 1],
						domain: [
							1,
							Math.max(
								d3.max(data, d => d.count),
								2,
							),
						],
					},
					marks: [
						grid(
							timeTicks(
								d3.min(data, d => d.y1),
								d3.max(data, d => d.y2),
							),
						),
						Plot.rect(data, {
							x1: 'x1',
							x2: 'x2',
							y1: 'y1',
							y2: 'y2',
							fill: 'var(--heat)',
							fillOpacity: 'count',
							inset: 0,
						}),
					],
				},
			);
		return data.length;
	};
	const below = () => ({
		columns: [
			bucketColumn(),
			{ label: 'Latency from', text: row => formatTime(row.y1) },
			{ label: 'to', text: row => formatTime(row.y2) },
			{ label: 'Events', text: row => formatCount(row.count) },
		],
		rows: d3.sort(
			cells(),
			row => row.bucket,
			row => row.range,
		),
	});
	return chart(
		'Latency heat map',
		'The darker (on a dark page, the brighter), the more operations began then and took so long.',
		draw,
		below,
	);
}
