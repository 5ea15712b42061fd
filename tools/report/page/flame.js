// SPDX-License-Identifier: GPL-2.0
// Where the time went, as a flame graph from the top: originator, directories, file, operation.
'use strict';

const FLAME_ROW = 20; // pixels

// The time of a stack in the selected part.
function stackTime(table, i) {
	let sum = 0;
	for (let at = 0; at < table.times[i].length; at += 2)
		if (isSelected(table.times[i][at])) sum += table.times[i][at + 1];
	return sum;
}

function framesOf(row) {
	if (row.others) return [`${formatCount(row.others)} others`];
	const file = row.file ? row.file.split('/').filter(part => part) : ['(no path)'];
	return [row.command || '(no name)', ...file, row.op];
}

// A tree of Maps, then of { name, value, children }. Directories with one entry are one frame with it.
function treeOf(table) {
	const root = { name: 'all', children: new Map(), value: 0 };
	table.stats.rows.forEach((row, i) => {
		const value = stackTime(table, i);
		let at = root;
		for (const frame of value ? framesOf(row) : []) {
			if (!at.children.has(frame))
				at.children.set(frame, { name: frame, children: new Map(), value: 0 });
			at = at.children.get(frame);
		}
		at.value += value;
	});
	return plainTree(root, 0);
}

function plainTree(node, depth) {
	const children = [...node.children.values()];
	const child = children[0];
	if (depth > 1 && children.length === 1 && !node.value && child.children.size)
		return plainTree({ ...child, name: `${node.name}/${child.name}` }, depth);
	return { name: node.name, value: node.value, children: children.map(c => plainTree(c, depth + 1)) };
}

function shorten(text, pixels) {
	const most = Math.floor(pixels / 6.6);
	return most < 3 ? '' : text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function drawFlame(box, tree, zoom) {
	const width = Math.max(box.clientWidth, 240);
	const root = d3
		.hierarchy(tree)
		.sum(d => d.value)
		.sort(
			(a, b) =>
				/^[\d,]+ others$/.test(a.data.name) - /^[\d,]+ others$/.test(b.data.name) ||
				b.value - a.value,
		);
	d3.partition()(root);
	const path =
		zoom.path.reduce(
			(node, name) => node && node.children?.find(c => c.data.name === name),
			root,
		) || root;
	const x = d3.scaleLinear([path.x0, path.x1], [0, width]);
	const shown = root
		.descendants()
		.filter(d => d.x1 > path.x0 && d.x0 < path.x1 && x(d.x1) - x(d.x0) >= 0.5);
	const height = (d3.max(shown, d => d.depth) + 1) * FLAME_ROW;
	const svg = d3
		.create('svg')
		.attr('viewBox', [0, 0, width, height])
		.attr('height', height)
		.attr('class', 'flame')
		.attr('role', 'img')
		.attr('aria-label', 'Flame graph of the time. The table below has its numbers.');
	const frame = svg
		.selectAll('g')
		.data(shown)
		.join('g')
		.attr('transform', d => `translate(${Math.max(x(d.x0), 0)},${d.depth * FLAME_ROW})`);
	const wide = d => Math.min(x(d.x1), width) - Math.max(x(d.x0), 0);
	frame.append('rect')
		.attr('width', wide)
		.attr('height', FLAME_ROW)
		.attr('fill', d => COLORS[d.depth % COLORS.length])
		.attr('fill-opacity', 0.3)
		.style('cursor', 'pointer')
		.on('click', (_, d) => {
			zoom.path = d
				.ancestors()
				.reverse()
				.slice(1)
				.map(a => a.data.name);
			drawFlame(box, tree, zoom);
		});
	frame.append('title').text(
		d => `${d.data.name}: ${formatTime(d.value)}, ${((100 * d.value) / root.value).toFixed(1)} %`,
	);
	frame.append('text')
		.attr('x', 4)
		.attr('y', 14)
		.text(d => shorten(d.data.name, wide(d) - 6));
	box.replaceChildren(svg.node());
}

function flameChart(category, table) {
	const zoom = { path: [] };
	const isBlock = category.category === 'block';
	const draw = box => {
		const tree = treeOf(table);
		if (!tree.children.length) return false;
		drawFlame(box, tree, zoom);
		return true;
	};
	const below = () => ({
		columns: [
			{ label: 'Stack', text: row => row.name },
			{ label: isBlock ? 'Device time' : 'Total time', text: row => formatTime(row.time) },
		],
		rows: d3.sort(
			table.stats.rows
				.map((row, i) => ({
					name: framesOf(row).join(' › '),
					time: stackTime(table, i),
				}))
				.filter(row => row.time),
			(a, b) => b.time - a.time,
		),
	});
	return chart(
		isBlock ? 'Where the device time went' : 'Where the time went',
		`From the top: ${isBlock ? 'who made the data dirty or read it' : 'the command'}, directories, file, operation. The width is the ${isBlock ? 'time in the driver and device' : 'latency'}. Click a frame to enlarge it, the top one for all.`,
		draw,
		below,
	);
}
