// SPDX-License-Identifier: GPL-2.0
// Puts the page together.
'use strict';

const byId = id => document.getElementById(id);

// --- what was traced ----------------------------------------------------------------

function facts(pairs) {
	return element(
		'dl',
		{ class: 'facts' },
		...pairs
			.filter(([, value]) => value)
			.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
	);
}

const MISSING = {
	lost: 'events were lost or overwritten before they were read',
	missed: 'calls were missed by the kernel’s hooks',
	unreadable: 'events are damaged or missing in the file',
};

function missingOf(stats) {
	return Object.keys(MISSING)
		.filter(key => stats[key])
		.map(key => `${formatCount(stats[key])} ${MISSING[key]}`);
}

function banners() {
	const found = [];
	for (const category of report.categories) {
		const stats = totalsOf(category);
		const missing = missingOf(stats);
		if (missing.length)
			found.push(
				element(
					'p',
					{ class: 'banner lost' },
					`${titleOf(category)}: ${missing.join('; ')}. All figures are of what is there.`,
				),
			);
		if (stats.sampled)
			found.push(
				element(
					'p',
					{ class: 'banner sampled' },
					`${titleOf(category)}: ${formatCount(stats.sampled)} of ${formatCount(stats.records)} records stand for several events each; counts, bytes and times are scaled to all of them.`,
				),
			);
	}
	if (report.recording.state !== 'COMPLETE' && report.recording.state !== 'LOSSY')
		found.push(
			element(
				'p',
				{ class: 'banner' },
				`The recording has no proper end (${report.recording.state}). ${report.recording.reason || ''}`,
			),
		);
	if (report.selected)
		found.push(
			element(
				'p',
				{ class: 'banner' },
				'The page is of selected categories or events, not of all of the trace.',
			),
		);
	return found;
}

function summaryTable() {
	const rows = report.categories.map(category => ({ title: titleOf(category), ...totalsOf(category) }));
	const columns = [
		{ label: 'Category', text: row => `${row.title} (${row.category})` },
		...['count', 'errors'].map(key => ({
			label: key === 'count' ? 'Events' : 'Errors',
			text: row => formatCount(row[key]),
		})),
		{
			label: 'Bytes',
			text: row => formatBytes(row.bytes),
			title: row => `${formatCount(row.bytes)} bytes`,
		},
		{
			label: 'Events/s',
			text: row => (row.duration_s ? formatRate(row.count / row.duration_s) : '–'),
		},
		...['lost', 'missed', 'unreadable'].map(key => ({
			label: key[0].toUpperCase() + key.slice(1),
			text: row => formatCount(row[key]),
		})),
	];
	return scrolling('Categories', plainTable('What was recorded', columns, rows));
}

function header() {
	const { recording } = report;
	const of =
		report.trace
			.split('/')
			.filter(part => part)
			.at(-1) || report.trace;
	const duration = report.categories.length ? totalsOf(report.categories[0]).duration_s * 1e9 : 0;
	const begin = report.grid.begin_ns;
	document.title = `${of} – iotracer report`;
	byId('header').append(
		element('h1', {}, `Trace ${of}`),
		facts([
			[
				'When',
				`${formatDate(begin)} to ${formatDate(begin + duration)}, ${formatTime(duration)}`,
			],
			[
				'Where',
				[
					recording.host,
					recording.kernel && `Linux ${recording.kernel}`,
					recording.machine,
					recording.cpus && `${recording.cpus} CPUs`,
				]
					.filter(x => x)
					.join(', '),
			],
			[
				'Command',
				recording.command.length
					? element('code', {}, recording.command.join(' '))
					: null,
			],
			['Label', recording.label],
			['Names', recording.anonymized ? 'hashed (--anonymize)' : null],
			['Merged', recording.sources ? `from ${recording.sources} traces` : null],
		]),
		...banners(),
		report.categories.length
			? summaryTable()
			: element('p', { class: 'nothing' }, 'The trace has no category.'),
	);
}

// --- findings -----------------------------------------------------------------------

function findingTable(finding) {
	const name = row => row.file ?? row.disk ?? row.connection ?? row.socket ?? '';
	const columns = [
		{ label: 'What', text: row => name(row) || row.process || '(no name)' },
		{ label: 'Process', text: row => row.process, isText: true },
		{ label: 'Events', text: row => formatCount(row.count) },
		{ label: 'of', text: row => formatCount(row.of) },
		{ label: 'Bytes', text: row => (row.bytes ? formatBytes(row.bytes) : '–') },
		{ label: 'Time', text: row => (row.time_ns ? formatTime(row.time_ns) : '–') },
		{ label: 'More', text: row => row.note, isText: true },
	];
	const table = plainTable(
		finding.subjects > finding.rows.length
			? `The first ${finding.rows.length} of ${finding.subjects}`
			: 'Proved by',
		columns,
		finding.rows,
	);
	finding.rows.forEach((row, i) => {
		const cell = table.tBodies[0].rows[i].cells[0];
		const [by, word] = row.file ? ['file', row.file] : ['process', pidOf(row.process)];
		const link = linkToRows(finding.category, by, word, cell.textContent);
		cell.classList.add('name');
		if (link) cell.replaceChildren(link);
	});
	return scrolling(`Rows of ${finding.id}`, table);
}

// Who is concerned, in a line: "postgres (7) and others: /srv/db/log".
function whoOf(finding) {
	const [row] = finding.rows;
	const name = row && (row.file ?? row.disk ?? row.connection ?? row.socket);
	const who = [row?.process, name].filter(text => text).join(': ');
	return who && element('p', { class: 'who' }, finding.subjects > 1 ? `Most of it: ${who}` : who);
}

// A link to the rows of a table that have a word; NULL if there is no such table.
function linkToRows(category, by, word, text) {
	const found = report.categories.find(c => c.category === category);
	if (!word || !found || !tableOf(found, by)) return null;
	const id = `${category}-${by}`;
	return element(
		'a',
		{
			href: `#${id}`,
			onclick: event => {
				event.preventDefault();
				showRows(id, word);
			},
		},
		text,
	);
}

const pidOf = process => (process?.match(/\((\d+)\)/) || [])[1];

// Which process waited for what, and why.
function waitArticle(wait) {
	const links = [
		linkToRows('fs', 'file', wait.file, wait.file),
		linkToRows('fs', 'process', pidOf(wait.process), `calls of ${wait.process}`),
		linkToRows('block', 'process', pidOf(wait.culprit), `requests of ${wait.culprit}`),
	].filter(link => link);
	return element(
		'article',
		{ class: 'finding warning wait' },
		element('span', { class: 'tag' }, `wait · ${wait.reason}`),
		element('h3', {}, `${wait.sentence}.`),
		element('p', {}, wait.why),
		element('p', {}, wait.advice),
		element('p', { class: 'links' }, 'Look at: ', ...links.flatMap((link, i) => (i ? [', ', link] : [link]))),
	);
}

function findings() {
	const { waits, findings: found, categories_not_checked: unchecked } = report.findings;
	const section = element('section', { id: 'findings' }, element('h2', {}, 'Findings'));
	section.append(...waits.map(waitArticle));
	for (const finding of found)
		section.append(
			element(
				'article',
				{ class: `finding ${finding.severity}` },
				element(
					'span',
					{ class: 'tag' },
					`${finding.severity} · ${finding.id} · ${finding.category}`,
				),
				element('h3', {}, finding.sentence),
				whoOf(finding) || '',
				element('p', {}, finding.advice),
				findingTable(finding),
			),
		);
	if (!found.length && !waits.length)
		section.append(
			element('p', { class: 'nothing' }, 'None of the known causes of slow I/O was found.'),
		);
	if (unchecked.length)
		section.append(
			element(
				'p',
				{ class: 'quiet' },
				`Not looked for, as the trace has no events of it: ${unchecked.join(', ')}.`,
			),
		);
	return section;
}

// --- categories ---------------------------------------------------------------------

// What the page cache served: pages of hits and misses, as iotracer stats counts them.
function cacheFacts(category) {
	const bytes = op => totalsOf(category).rows.find(row => row.op === op)?.bytes || 0;
	const [hits, misses, ahead] = ['HIT', 'MISS', 'READAHEAD'].map(bytes);
	if (category.category !== 'cache' || !(hits + misses)) return null;
	return facts([
		[
			'Hits',
			`${formatCount(hits / 4096)} pages, ${((100 * hits) / (hits + misses)).toFixed(1)} % of hits and misses`,
		],
		['Misses', `${formatCount(misses / 4096)} pages`],
		['Read ahead', `${formatCount(ahead / 4096)} pages`],
	]);
}

function tile(name, value, title = null) {
	return element('div', { class: 'tile', title }, element('dt', {}, name), element('dd', {}, value));
}

// The selected time in a few numbers: all operations together.
function tiles(category, op) {
	const box = element('dl', { class: 'tiles', 'aria-label': `${titleOf(category)}: the selected time` });
	drawn(() => {
		const rows = rowsOf(op);
		const sum = member => d3.sum(rows, row => row[member]);
		const seconds = secondsOf(selection.first, selection.last) || Infinity;
		const most = d3.max(rows, row => row.most) || 0;
		const parts = tailOf(op.latencies, most);
		const made = [
			tile('Events', formatCount(sum('count'))),
			tile('Events/s', formatRate(sum('count') / seconds)),
			sum('bytes') ? tile('Bytes/s', `${formatBytes(sum('bytes') / seconds)}/s`, `${formatCount(sum('bytes'))} bytes`) : null,
			tile('Errors', formatCount(sum('errors'))),
		];
		if (hasLatency(category) && rows.length)
			made.push(
				...Object.keys(parts).map(part =>
					tile(part, `≈ ${formatTime(parts[part])}`, 'of all operations together, at most 12.5 % too large'),
				),
				tile('Max', formatTime(most)),
			);
		box.replaceChildren(...made.filter(made => made));
	});
	return box;
}

function rateCharts(category, table) {
	const made = [];
	if (totalsOf(category).bytes)
		made.push(
			stackedChart(
				'Throughput',
				'Bytes that operations moved, by when they began.',
				table,
				2,
				{ isBytes: true, format: n => `${formatBytes(n)}/s` },
			),
		);
	made.push(
		stackedChart(
			category.category === 'cache' ? 'Events' : 'IOPS',
			'Operations that began in a second.',
			table,
			1,
			{ isBytes: false, format: n => formatRate(n) },
		),
	);
	return element('div', { class: 'pair' }, ...made);
}

function hasPaths(category) {
	const table = tableOf(category, 'file');
	return !table || table.stats.rows.some(row => row.file || row.others);
}

function categorySection(category) {
	const section = element('section', { id: category.category }, element('h2', {}, titleOf(category)));
	const op = tableOf(category, 'op');
	if (!totalsOf(category).count) {
		section.append(
			element(
				'p',
				{ class: 'nothing' },
				`The trace has no events of category ${category.category}.`,
			),
		);
		return section;
	}
	section.append(tiles(category, op), cacheFacts(category) || '', rateCharts(category, op));
	if (hasLatency(category))
		section.append(element('div', { class: 'pair' }, percentileChart(op), heatChart(op)));
	const sizes = totalsOf(category).bytes && category.category !== 'cache' ? sizeChart(op) : null;
	const device = tableOf(category, 'device');
	section.append(element('div', { class: 'pair' }, sizes || '', device ? depthChart(device) : ''));
	const stack = tableOf(category, 'stack');
	if (stack && hasLatency(category)) section.append(flameChart(category, stack));
	section.append(
		positionCharts(device, 'Positions on devices') || '',
		(hasPaths(category) && positionCharts(tableOf(category, 'file'), 'Positions in files')) || '',
	);
	if (!hasPaths(category))
		section.append(
			element(
				'p',
				{ class: 'nothing' },
				'The events have no paths: nothing is known of files and directories.',
			),
		);
	for (const table of category.tables)
		if (tableNames[table.by] && (hasPaths(category) || !['file', 'directory'].includes(table.by)))
			section.append(keyTable(category, table));
	return section;
}

const ABOUT = {
	fs: 'file system calls',
	block: 'requests to disks and device time',
	cache: 'hits and misses of the page cache',
	fault: 'page faults',
	net: 'sockets',
};

function absent() {
	const names = Object.keys(ABOUT).filter(name => !report.categories.some(c => c.category === name));
	const missing = names.map(name => `${ABOUT[name]} (${name})`);
	if (!report.drives) missing.push('drives of a virtual machine (--vm)');
	if (!missing.length) return null;
	return element(
		'p',
		{ class: 'quiet absent' },
		`Not in the trace: ${missing.join(', ')}. iotracer record -c and --vm name what is recorded.`,
	);
}

function contents() {
	const links = [
		['findings', `Findings (${report.findings.waits.length + report.findings.findings.length})`],
		...report.categories.map(c => [c.category, titleOf(c)]),
		...sections.map(section => [section.id, section.querySelector('h2').textContent]),
	];
	return element(
		'nav',
		{ 'aria-label': 'Contents' },
		element(
			'ul',
			{},
			...links.map(([id, title]) =>
				element('li', {}, element('a', { href: `#${id}` }, title)),
			),
		),
	);
}

// What other commands compute: each is there if the trace has what it is made from.
const sections = [cacheSection(), durabilitySection(), drivesSection()].filter(section => section);

header();
byId('header').append(contents());
byId('main').append(findings());
for (const category of report.categories) byId('main').append(categorySection(category));
for (const section of sections) byId('main').append(section);
byId('main').append(absent() || '');
byId('footer').append(
	element(
		'p',
		{ class: 'quiet' },
		`Made by iotracer report. The time is in ${report.grid.buckets} parts of ${formatTime(report.grid.width_ns)}; an event counts in the part in which it began. Figures of all of the time are those of iotracer stats. Of a selected part, sums are exact; percentiles (≈) are at most 12.5 % too large, or what a table says below it.`,
	),
);
makeTime(byId('time'));

let width = window.innerWidth;
let redraw = 0;
window.addEventListener('resize', () => {
	if (window.innerWidth === width) return;
	width = window.innerWidth;
	clearTimeout(redraw);
	redraw = setTimeout(drawAll, 150);
});
document.documentElement.setAttribute('data-ready', '');
