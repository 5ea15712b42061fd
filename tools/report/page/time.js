// SPDX-License-Identifier: GPL-2.0
// The selection of a part of the time: a brush for the pointer, two sliders for the keyboard. Also how elements
// are made: texts are never taken for HTML.
'use strict';

// element('p', { class: 'x', onclick: f }, child, 'text'...)
function element(name, attributes = {}, ...children) {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(key, value === true ? '' : value);
	}
	made.append(...children.filter(child => child !== null && child !== undefined));
	return made;
}

// --- drawing ------------------------------------------------------------------------

const drawers = []; // functions that draw what depends on the selected time
const lazy = new Map(); // those of a box that are drawn when it is near the window: { draw, isNear, isOld }

function refresh(drawer) {
	drawer.isOld = false;
	drawer.draw();
}

const observer = new IntersectionObserver(
	entries => {
		for (const { target, isIntersecting } of entries) {
			const drawer = lazy.get(target);
			drawer.isNear = isIntersecting;
			if (isIntersecting && drawer.isOld) refresh(drawer);
		}
	},
	{ rootMargin: '600px' },
);

// Draws now, and each time that another part of the time is selected or the page gets another width.
function drawn(draw) {
	drawers.push(draw);
	draw();
}

// The same when the box is near the window, or is to be printed.
function drawnNear(box, draw) {
	lazy.set(box, { draw, isNear: false, isOld: true });
	observer.observe(box);
}

function drawAll() {
	for (const draw of drawers) draw();
	for (const drawer of lazy.values()) {
		drawer.isOld = true;
		if (drawer.isNear) refresh(drawer);
	}
}

window.addEventListener('beforeprint', () => {
	for (const drawer of lazy.values()) if (drawer.isOld) refresh(drawer);
});

// --- the selection ------------------------------------------------------------------

let isDue = false;

function select(first, last) {
	const end = report.grid.buckets - 1;
	const from = Math.min(Math.max(Math.min(first, last), 0), end);
	const to = Math.min(Math.max(first, last, from), end);
	if (from === selection.first && to === selection.last) return;
	Object.assign(selection, { first: from, last: to });
	if (isDue) return;
	isDue = true;
	requestAnimationFrame(() => {
		isDue = false;
		drawAll();
	});
}

function slider(label, get, set) {
	const input = element('input', {
		type: 'range',
		min: 0,
		max: report.grid.buckets - 1,
		step: 1,
		value: get(),
		onchange: () => set(Number(input.value)),
	});
	drawers.push(() => {
		input.value = get();
		input.setAttribute('aria-valuetext', formatAt(get() + (label === 'To')));
	});
	input.setAttribute('aria-valuetext', formatAt(get() + (label === 'To')));
	return element('label', {}, label, input);
}

function describeSelection() {
	if (isWhole())
		return `All of the time: ${formatTime(secondsOf(selection.first, selection.last) * 1e9)}`;
	return `From ${formatAt(selection.first)} to ${formatAt(selection.last + 1)}`;
}

// The overview: events a second of the first category with events, and where some were lost.
function drawOverview(box, category) {
	const height = 44;
	const width = Math.max(box.clientWidth, 200);
	const values = overTime(category.tables[0], category.tables[0].stats.rows.keys(), 1);
	const x = d3.scaleLinear([0, report.grid.buckets], [0, width]);
	const y = d3.scaleLinear([0, d3.max(values) || 1], [height, 2]);
	const area = d3
		.area()
		.curve(d3.curveStepAfter)
		.x((_, i) => x(i))
		.y0(height)
		.y1(d => y(d));
	const svg = d3
		.create('svg')
		.attr('viewBox', [0, 0, width, height])
		.attr('height', height)
		.attr('aria-hidden', true);
	svg.append('path')
		.attr('d', area([...values, values.at(-1)]))
		.attr('fill', 'var(--c1)')
		.attr('fill-opacity', 0.55);
	for (const part of report.categories)
		part.lost.forEach(
			(lost, i) =>
				lost &&
				svg
					.append('rect')
					.attr('class', 'lost')
					.attr('x', x(i))
					.attr('y', 0)
					.attr('width', Math.max(x(1), 2))
					.attr('height', 5)
					.attr('fill', 'var(--critical)'),
		);
	const brush = d3
		.brushX()
		.extent([
			[0, 0],
			[width, height],
		])
		.on('end', event => {
			if (!event.sourceEvent) return;
			if (!event.selection) select(0, report.grid.buckets - 1);
			else
				select(
					Math.floor(x.invert(event.selection[0])),
					Math.ceil(x.invert(event.selection[1])) - 1,
				);
		});
	const layer = svg.append('g').attr('class', 'brush').call(brush);
	if (!isWhole()) layer.call(brush.move, [x(selection.first), x(selection.last + 1)]);
	box.replaceChildren(svg.node());
}

function makeTime(box) {
	const busiest = report.categories.find(category => totalsOf(category).count);
	if (!busiest || report.grid.buckets < 2) {
		box.remove();
		return;
	}
	const overview = element('div', { class: 'overview', title: 'Drag to select a part of the time' });
	const said = element('output', { 'aria-live': 'polite' });
	const reset = element(
		'button',
		{
			type: 'button',
			onclick: () => select(0, report.grid.buckets - 1),
		},
		'Show all',
	);
	box.setAttribute('role', 'region');
	box.setAttribute('aria-label', 'Selected time');
	box.append(
		overview,
		element(
			'div',
			{ class: 'controls' },
			said,
			slider(
				'From',
				() => selection.first,
				n => select(n, Math.max(n, selection.last)),
			),
			slider(
				'To',
				() => selection.last,
				n => select(Math.min(n, selection.first), n),
			),
			reset,
		),
	);
	drawn(() => {
		drawOverview(overview, busiest);
		said.textContent = describeSelection();
		reset.disabled = isWhole();
	});
}
