// SPDX-License-Identifier: GPL-2.0
// Tables: plain ones below charts, and those that can be sorted and searched.
'use strict';

const FIRST_ROWS = 10;

// columns: { label, text: row => text, title: row => text, isText }
function plainTable(caption, columns, rows) {
	const table = element(
		'table',
		{},
		element('caption', {}, caption),
		element(
			'thead',
			{},
			element(
				'tr',
				{},
				...columns.map(column =>
					element(
						'th',
						{ scope: 'col', class: column.isText ? 'text' : null },
						column.label,
					),
				),
			),
		),
	);
	const body = element('tbody');
	for (const row of rows)
		body.append(
			element(
				'tr',
				{ class: row.others ? 'others' : null },
				...columns.map((column, i) =>
					element(
						i ? 'td' : 'th',
						{
							scope: i ? null : 'row',
							class: column.isText ? 'text' : null,
							title: column.title ? column.title(row) : null,
						},
						column.text(row),
					),
				),
			),
		);
	table.append(body);
	return table;
}

// What scrolls has to have the focus for the keyboard.
function scrolling(label, ...children) {
	return element(
		'div',
		{ class: 'scroll', role: 'region', tabindex: 0, 'aria-label': label },
		...children,
	);
}

// A table below a chart, which is made when it is opened. make: () => { columns, rows }
function tableBelow(caption, make) {
	const details = element('details', {}, element('summary', {}, 'Table'));
	const fill = () => {
		if (!details.open) return;
		const { columns, rows } = make();
		details.querySelector('.scroll')?.remove();
		const category = details.closest('main > section').querySelector('h2').textContent;
		details.append(scrolling(`${caption}: ${category}`, plainTable(caption, columns, rows)));
	};
	details.addEventListener('toggle', fill);
	drawnNear(details, fill);
	return details;
}

// --- tables by key ------------------------------------------------------------------

// value: what rows are sorted by
function columnsOf(table, category) {
	const whole = isWhole();
	const columns = [
		{
			id: 'name',
			label: tableNames[table.by][0],
			text: row => row.name,
			value: row => row.name.toLowerCase(),
		},
		{ id: 'count', label: 'Events', text: row => formatCount(row.count) },
		{ id: 'errors', label: 'Errors', text: row => formatCount(row.errors) },
		{
			id: 'bytes',
			label: 'Bytes',
			text: row => formatBytes(row.bytes),
			title: row => `${formatCount(row.bytes)} bytes`,
		},
	];
	if (!hasLatency(category)) return columns;
	if (category.category === 'block')
		columns.push({
			id: 'device',
			label: 'Device time',
			text: row => formatTime(row.device),
			title: row => `${formatCount(row.device)} ns`,
		});
	columns.push(
		{
			id: 'latency',
			label: 'Total time',
			text: row => formatTime(row.latency),
			title: row => `${formatCount(row.latency)} ns`,
		},
		{ id: 'mean', label: 'Mean', text: row => formatTime(row.mean) },
	);
	for (const part of whole || hasLatencies(table) ? ['p50', 'p99'] : [])
		columns.push({
			id: part,
			label: part,
			text: row => (whole ? '' : '≈ ') + formatTime(row[part]),
		});
	columns.push({
		id: 'most',
		label: 'Max',
		text: row => formatTime(row.most),
		title: row => `${formatCount(row.most)} ns`,
	});
	return columns;
}

function hasLatency(category) {
	return totalsOf(category).rows.some(row => row.latency_ns.max > 0);
}

// The row of others is the last one, however they are sorted.
function sortRows(rows, column, falls) {
	const value = column.value || (row => row[column.id] ?? -1);
	const sign = falls ? -1 : 1;
	return rows.sort(
		(a, b) => (a.others > 0) - (b.others > 0) || sign * d3.ascending(value(a), value(b)),
	);
}

function headCell(column, state, redraw) {
	const sorted = state.by === column.id;
	const button = element(
		'button',
		{
			type: 'button',
			onclick: () => {
				state.falls = sorted ? !state.falls : column.id !== 'name';
				state.by = column.id;
				redraw(column.id);
			},
		},
		column.label,
	);
	return element(
		'th',
		{
			scope: 'col',
			'data-column': column.id,
			'aria-sort': sorted ? (state.falls ? 'descending' : 'ascending') : 'none',
		},
		button,
	);
}

// What percentiles of a part of the time are worth.
function percentileNote(table, category) {
	if (isWhole() || !hasLatency(category)) return '';
	return hasLatencies(table)
		? `p50 and p99 of this part (≈) are at most ${100 * errorOf(table)} % too large.`
		: 'p50 and p99 of a part are left out: they would make the page too large.';
}

// A table by a key. Returns its section.
function keyTable(category, table) {
	const state = {
		by: category.category === 'block' ? 'device' : hasLatency(category) ? 'latency' : 'count',
		falls: true,
		all: false,
	};
	const title = tableNames[table.by][1];
	const id = `${category.category}-${table.by}`;
	const search = element('input', {
		type: 'search',
		id: `${id}-search`,
		'aria-label': `Search ${title.toLowerCase()} of ${titleOf(category)}`,
		placeholder: `Search ${title.toLowerCase()}`,
	});
	const said = element('span', { class: 'quiet', 'aria-live': 'polite' });
	const note = element('p', { class: 'quiet' });
	const more = element('button', { type: 'button', class: 'print-no' });
	const box = scrolling(`${title}: ${titleOf(category)}`);
	const redraw = focus => {
		const columns = columnsOf(table, category);
		const column = columns.find(c => c.id === state.by) || columns[1];
		const word = search.value.toLowerCase();
		const all = rowsOf(table);
		const found = sortRows(
			all.filter(row => row.name.toLowerCase().includes(word)),
			column,
			state.falls,
		);
		const shown = state.all || word ? found : found.slice(0, FIRST_ROWS);
		const made = plainTable(`${title} by ${column.label.toLowerCase()}`, columns, shown);
		made.tHead.rows[0].replaceChildren(...columns.map(c => headCell(c, state, redraw)));
		for (const cell of made.querySelectorAll('tbody th')) cell.classList.add('name');
		box.replaceChildren(made);
		note.textContent = percentileNote(table, category);
		said.textContent = word ? `${found.length} of ${all.length} rows` : '';
		more.hidden = found.length <= FIRST_ROWS || word !== '';
		more.textContent = state.all ? `Show ${FIRST_ROWS}` : `Show all ${found.length}`;
		if (focus) box.querySelector(`th[data-column="${focus}"] button`)?.focus();
	};
	search.addEventListener('input', () => redraw());
	more.addEventListener('click', () => {
		state.all = !state.all;
		redraw();
	});
	const section = element(
		'section',
		{ id, class: 'keys' },
		element('h3', {}, title),
		element('div', { class: 'tools' }, search, said),
		box,
		more,
		note,
	);
	drawn(() => redraw());
	return section;
}

// Shows the rows of a table that have a word.
function showRows(id, word) {
	const search = document.getElementById(`${id}-search`);
	if (!search) return;
	search.value = word;
	search.dispatchEvent(new Event('input'));
	document.getElementById(id).scrollIntoView();
	search.focus({ preventScroll: true });
}
