// SPDX-License-Identifier: GPL-2.0
// More charts of a category: sizes, queue depth, and which positions were accessed.
'use strict';

// --- sizes and depth ----------------------------------------------------------------

function sizeChart(table) {
	const groups = groupsOf(table, 2)
		.map(group => ({ ...group, lists: group.rows.map(i => table.sizes[i]) }))
		.filter(group => group.lists.some(list => list.length));
	const cells = () =>
		groups.flatMap(group =>
			[
				...d3.rollup(
					countsOf(group.lists),
					entries => d3.sum(entries, e => e[1]),
					([scale]) => scaleOctave(scale),
				),
			].map(([octave, count]) => ({ octave, count, group: group.name })),
		);
	const begin = octave => (octave ? scaleBegin(octave * 8) : 0);
	const draw = box => {
		const data = cells();
		const octaves = d3.range(
			d3.min(data, d => d.octave),
			(d3.max(data, d => d.octave) ?? -1) + 1,
		);
		if (data.length)
			plotOverTime(box, 'Sizes of the operations. The table below has the numbers.', {
				x: {
					type: 'band',
					domain: octaves,
					label: 'bytes, from',
					tickFormat: o =>
						formatBytes(begin(o)).replace(/\.0+ /, ' ').replace('iB', ''),
					ticks: octaves.filter(
						(_, i) =>
							i %
								Math.ceil(
									(octaves.length * 50) /
										box.clientWidth,
								) ===
							0,
					),
				},
				y: { label: 'operations', tickFormat: formatTick, ticks: 5 },
				marginBottom: 46,
				color: { domain: groups.map(g => g.name), range: groups.map(g => g.color) },
				marks: [
					grid(),
					Plot.barY(data, { x: 'octave', y: 'count', fill: 'group' }),
					Plot.ruleY([0]),
				],
			});
		return data.length;
	};
	const below = () => ({
		columns: [
			{ label: 'Bytes from', text: row => formatBytes(begin(row.octave)) },
			{ label: 'Operation', text: row => row.group, isText: true },
			{ label: 'Events', text: row => formatCount(row.count) },
		],
		rows: d3.sort(cells(), row => row.octave),
	});
	return chart(
		'Sizes',
		'Bytes that one operation moved: each bar is from its size to less than twice that.',
		draw,
		below,
		legend(
			groups.map(g => g.name),
			groups.map(g => g.color),
		),
	);
}

function depthChart(table) {
	const names = table.stats.rows.map(row => nameOf(table, row)).slice(0, COLORS.length);
	const values = names.map((_, i) => {
		const depth = new Array(report.grid.buckets).fill(0);
		for (let at = 0; at < table.inside[i].length; at += 2)
			depth[table.inside[i][at]] =
				table.inside[i][at + 1] /
				1e9 /
				secondsOf(table.inside[i][at], table.inside[i][at]);
		return depth;
	});
	const draw = box => {
		const data = selectedBuckets()
			.flatMap(bucket =>
				names.map((name, i) => ({
					x1: axis.at(bucket),
					x2: axis.at(bucket + 1),
					y: values[i][bucket],
					name,
				})),
			)
			.filter(d => d.y > 0);
		if (data.length)
			plotOverTime(box, 'Queue depth over time. The table below has the numbers.', {
				y: { label: 'requests', ticks: 5 },
				color: { domain: names, range: COLORS.slice(0, names.length) },
				marks: [
					grid(),
					Plot.rectY(data, { x1: 'x1', x2: 'x2', y: 'y', fill: 'name' }),
					Plot.ruleY([0]),
				],
			});
		return data.length;
	};
	const below = () => ({
		columns: [
			bucketColumn(),
			...names.map((name, i) => ({
				label: name,
				text: row => values[i][row.bucket].toFixed(2),
			})),
		],
		rows: selectedBuckets()
			.filter(bucket => values.some(v => v[bucket]))
			.map(bucket => ({ bucket })),
	});
	return chart(
		'Queue depth',
		'Requests in the driver and the device at a time, on average over each part of the time.',
		draw,
		below,
		legend(names, COLORS),
	);
}

// --- positions ----------------------------------------------------------------------

// Which parts of a file or disk were read and written over time: sequential accesses make a slope.
function positionFigure(name, file) {
	const cells = () =>
		d3
			.range(0, file.at.length, 4)
			.filter(at => isSelected(file.at[at]))
			.map(at => {
				const [bucket, range, read, written] = file.at.slice(at, at + 4);
				return {
					bucket,
					range,
					read,
					written,
					x1: axis.at(bucket),
					x2: axis.at(bucket + 1),
					y1: range * file.range_bytes,
					y2: (range + 1) * file.range_bytes,
					way: !written ? 'read' : !read ? 'written' : 'both',
				};
			});
	const end = d3.max(d3.range(1, file.at.length, 4), at => file.at[at] + 1) * file.range_bytes;
	const draw = box => {
		const data = cells();
		if (data.length)
			plotOverTime(
				box,
				`Positions in ${name} that were read and written over time. The table below has the numbers.`,
				{
					height: 140,
					marginTop: 10,
					y: {
						label: null,
						tickFormat: n => formatBytes(n).replace(/\.0+ /, ' '),
						ticks: [0, end / 2, end],
						domain: [0, end],
					},
					color: {
						domain: ['read', 'written', 'both'],
						range: ['var(--c1)', 'var(--c2)', 'var(--c4)'],
					},
					marks: [
						grid([0, end / 2, end]),
						Plot.rect(data, {
							x1: 'x1',
							x2: 'x2',
							y1: 'y1',
							y2: 'y2',
							fill: 'way',
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
			{ label: 'Position', text: row => formatBytes(row.y1) },
			{ label: 'Read', text: row => formatBytes(row.read) },
			{ label: 'Written', text: row => formatBytes(row.written) },
		],
		rows: cells(),
	});
	const box = element('div', { class: 'plot' });
	drawnNear(box, () => draw(box) || nothing(box, 'Nothing in this part of the time.'));
	return element(
		'section',
		{},
		element('figure', {}, element('figcaption', { class: 'name' }, name), box),
		tableBelow(`Positions in ${name}`, below),
	);
}

function positionCharts(table, title) {
	if (!table?.positions?.length) return null;
	return element(
		'section',
		{},
		element('h3', {}, title),
		element(
			'p',
			{ class: 'quiet' },
			`Which parts were accessed when, for the ${table.positions.length} with most accesses. A slope is sequential, a cloud is random.`,
		),
		legend(['read', 'written', 'both'], ['var(--c1)', 'var(--c2)', 'var(--c4)']),
		element('div', { class: 'pair' }, ...table.positions.map(file => positionFigure(nameOf(table, table.stats.rows[file.row]), file))),
	);
}
