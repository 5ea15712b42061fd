// SPDX-License-Identifier: GPL-2.0
// The drives of a virtual machine, at the offsets that the guest uses.
'use strict';

const DRIVE_KINDS = ['read', 'write', 'flush'];

// A row for each drive and kind that had calls.
function driveRows() {
	return report.drives.drives.flatMap(drive =>
		DRIVE_KINDS.filter(kind => drive[kind].calls || drive[kind].failed).map(kind => ({
			drive: drive.drive,
			kind,
			...drive[kind],
		})),
	);
}

function driveTable() {
	const time = name => row => (row[name] === null ? '–' : formatTime(row[name]));
	const share = name => row =>
		row.accesses ? percent(row.accesses[name].count / row.accesses.count) : '–';
	const columns = [
		{ label: 'Drive', text: row => row.drive },
		{ label: 'Kind', text: row => row.kind, isText: true },
		{ label: 'Calls', text: row => formatCount(row.calls) },
		{ label: 'Failed', text: row => formatCount(row.failed) },
		{ label: 'Bytes', text: row => (row.accesses ? formatBytes(row.accesses.bytes) : '–') },
		{ label: 'Sequential', text: share('sequential') },
		{ label: 'Random', text: share('random') },
		{ label: 'Mean', text: time('latency_avg_ns') },
		{ label: 'p50', text: time('latency_p50_ns') },
		{ label: 'p99', text: time('latency_p99_ns') },
		{ label: 'Max', text: time('latency_max_ns') },
	];
	return scrolling('Drives', plainTable('Calls of the machine on its drives', columns, driveRows()));
}

// What the calls were on: the guest's data, or tables of the image.
function usesTable() {
	const rows = report.drives.drives.flatMap(drive => drive.uses.map(use => ({ drive: drive.drive, ...use })));
	if (!rows.length) return '';
	const columns = [
		{ label: 'Drive', text: row => row.drive },
		{ label: 'What', text: row => row.use, isText: true },
		{ label: 'Reads', text: row => formatCount(row.read.parts) },
		{ label: 'Bytes read', text: row => formatBytes(row.read.bytes) },
		{ label: 'Writes', text: row => formatCount(row.write.parts) },
		{ label: 'Bytes written', text: row => formatBytes(row.write.bytes) },
	];
	return scrolling('What calls were on', plainTable('What the calls were on: data of the guest, or tables of the image', columns, rows));
}

// NULL if no virtual machine was recorded.
function drivesSection() {
	const found = report.drives;
	if (!found) return null;
	const section = element('section', { id: 'drives' }, element('h2', {}, `Drives of ${found.vm}`));
	if (!found.drives.length) {
		section.append(
			element(
				'p',
				{ class: 'nothing' },
				'The trace has no maps of the machine’s disk images: were its files found when it was recorded? (iotracer vm)',
			),
		);
		return section;
	}
	const placed = found.drives.filter(drive => drive.positions.at.length);
	section.append(
		element(
			'p',
			{ class: 'quiet' },
			'Of all of the time, as iotracer profile --vm shows it. The processes and files of the guest are not in this trace: iotracer join shows them beside the calls of the host, if the guest was recorded, too.',
		),
		driveTable(),
		usesTable(),
	);
	if (placed.length)
		section.append(
			element('h3', {}, 'Positions on drives'),
			element('p', { class: 'quiet' }, 'Which parts of the guest’s disks were accessed when.'),
			legend(['read', 'written', 'both'], ['var(--c1)', 'var(--c2)', 'var(--c4)']),
			element(
				'div',
				{ class: 'pair' },
				...placed.map(drive => positionFigure(drive.drive, drive.positions)),
			),
		);
	return section;
}
