// SPDX-License-Identifier: GPL-2.0
// What report.bats does with a page in a browser: report.cjs PAGE STEP. Prints a line of JSON: what was seen. It
// fails if the page has an error, or asks for anything but itself.
'use strict';

const path = require('node:path');
const axe = require('axe-core');
const { chromium } = require('playwright-core');

const [file, step] = process.argv.slice(2);
const url = `file://${path.resolve(file)}`;
const WAIT = 60000;

const names = rows => rows.map(row => row[0]);

// The texts of a table's cells, without its head.
function rowsOf(page, id) {
	return page.$$eval(`#${id} tbody tr`, rows =>
		rows.map(row => [...row.cells].map(cell => cell.textContent)),
	);
}

// The rows of each table in these elements.
function tablesOf(page, selector) {
	return page.$$eval(selector, all =>
		all.map(e => [...e.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))),
	);
}

const eventsOf = async (page, id) => (await rowsOf(page, id)).map(row => [row[0], row[1]]);

const steps = {
	// All that can be read, and all that can be opened.
	async look(page) {
		for (const summary of await page.$$('details summary')) await summary.press('Enter');
		await page.waitForFunction(() =>
			[...document.querySelectorAll('details')].every(d => d.querySelector('table')),
		);
		return {
			text: await page.textContent('main'),
			header: await page.textContent('header'),
			title: await page.title(),
			charts: await page.$$eval('section.chart h3', all => all.map(h => h.textContent)),
			images: await page.$$eval('svg[role=img]', all =>
				all.map(svg => svg.getAttribute('aria-label')),
			),
			hacked: await page.evaluate(() => window.hacked ?? null),
			findings: await page.$$eval('.finding', all =>
				all.map(a => [...a.querySelectorAll('h3, p')].map(e => e.textContent)),
			),
			curves: await tablesOf(page, '#cache-sim details'),
			risk: (await tablesOf(page, '#durability details'))[0],
			drives: await tablesOf(page, '#drives > .scroll'),
			legends: await page.$$eval('.legend li', all => all.map(e => e.textContent)),
			marks: await page.$$eval('.time rect.lost', all => all.length),
			width: await page.evaluate(
				() => document.documentElement.scrollWidth - window.innerWidth,
			),
		};
	},

	// Each violation of the rules of axe-core: light and dark, all tables open.
	async axe(page) {
		const found = {};
		for (const colorScheme of ['light', 'dark']) {
			await page.emulateMedia({ colorScheme });
			for (const summary of await page.$$('details:not([open]) summary'))
				await summary.press('Enter');
			await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
			const { violations, passes } = await page.evaluate(() =>
				window.axe.run(document, { resultTypes: ['violations'] }),
			);
			found[colorScheme] = violations.map(v => [
				v.id,
				v.nodes.length,
				v.nodes[0].html.slice(0, 200),
				v.nodes[0].failureSummary,
			]);
			found[`${colorScheme} passes`] = passes.length;
		}
		return found;
	},

	// Selects the last half of the time with the pointer, and all of it again.
	async brush(page) {
		const before = await eventsOf(page, 'fs-file');
		const box = await (await page.$('.overview svg')).boundingBox();
		const drag = async (from, to) => {
			await page.mouse.move(box.x + box.width * from, box.y + 20);
			await page.mouse.down();
			await page.mouse.move(box.x + box.width * to, box.y + 20, { steps: 4 });
			await page.mouse.up();
		};
		await drag(0.5, 0.999);
		await page.waitForFunction(() => !document.querySelector('.time button').disabled);
		const said = await page.textContent('.time output');
		const after = await eventsOf(page, 'fs-file');
		const rows = await rowsOf(page, 'fs-file');
		const tiles = await page.$$eval('#fs .tile > *', all => all.map(e => e.textContent));
		const summary = await page.$('#durability summary');
		if (summary) await summary.press('Enter');
		const risk = (await tablesOf(page, '#durability details'))[0]?.[0];
		await page.click('.time button');
		await page.waitForFunction(() => document.querySelector('.time button').disabled);
		return { before, said, after, rows, tiles, risk, again: await eventsOf(page, 'fs-file') };
	},

	// The same with the keyboard: the slider "From", by its steps.
	async keys(page) {
		await page.focus('.time input[type=range]');
		for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight');
		// what was selected last is drawn in the next frame
		await page.evaluate(
			() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))),
		);
		return {
			said: await page.textContent('.time output'),
			after: await eventsOf(page, 'fs-file'),
		};
	},

	// Sorts by events, by them rising, and by name; and searches.
	async table(page) {
		const seen = { first: names(await rowsOf(page, 'fs-file')) };
		const click = async id => {
			await page.click(`#fs-file th[data-column=${id}] button`);
			return [
				names(await rowsOf(page, 'fs-file')),
				await page.getAttribute(`#fs-file th[data-column=${id}]`, 'aria-sort'),
			];
		};
		seen.count = await click('count');
		seen.rising = await click('count');
		seen.name = await click('name');
		await page.fill('#fs-file-search', 'LOG');
		seen.found = names(await rowsOf(page, 'fs-file'));
		await page.fill('#fs-file-search', '');
		await page.click('.finding a');
		seen.linked = names(await rowsOf(page, 'fs-file'));
		return seen;
	},

	// What the key Tab comes to, until it comes to the first again or leaves the page.
	async tab(page) {
		const seen = [];
		for (let i = 0; i < 500; i++) {
			await page.keyboard.press('Tab');
			const [what, again] = await page.evaluate(() => {
				const at = document.activeElement;
				const before = at.hasAttribute('data-seen');
				at.setAttribute('data-seen', '');
				return [
					`${at.tagName} ${at.id || at.getAttribute('aria-label') || at.textContent}`.slice(
						0,
						60,
					),
					before,
				];
			});
			if (again || what.startsWith('BODY')) break;
			seen.push(what);
		}
		const all = await page.$$eval('a[href], button, input, summary, [tabindex="0"]', found =>
			found
				.filter(
					e =>
						!e.disabled &&
						e.checkVisibility() &&
						!e.hasAttribute('data-seen'),
				)
				.map(e => e.outerHTML.slice(0, 200)),
		);
		return { seen, missed: all };
	},

	// A script that is put into the page does not run, and no request is made.
	async inject(page) {
		return page.evaluate(async () => {
			const script = document.createElement('script');
			script.textContent = 'window.hacked = 1';
			document.body.append(script);
			const box = document.createElement('div');
			box.innerHTML = '<img src=x onerror="window.hacked = 2">';
			document.body.append(box);
			const answer = await fetch('data:text/plain,x').then(
				() => 'answered',
				() => 'refused',
			);
			return { hacked: window.hacked ?? null, answer };
		});
	},
};

(async () => {
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
		args: ['--no-sandbox'],
	});
	const wrong = [];
	try {
		const page = await browser.newPage({
			viewport: { width: Number(process.env.WIDTH || 1440), height: 900 },
		});
		page.setDefaultTimeout(WAIT);
		page.on('pageerror', error => wrong.push(`error: ${error.message}`));
		page.on('console', message => step === 'inject' || wrong.push(`console: ${message.text()}`));
		// One that the policy refuses is an error of the console, too.
		page.on(
			'requestfinished',
			request =>
				request.url() === url ||
				request.url().startsWith('data:') ||
				wrong.push(`request: ${request.url()}`),
		);
		if (step === 'axe') await page.addInitScript({ content: axe.source });
		await page.goto(url);
		await page.waitForSelector('html[data-ready]', { state: 'attached' });
		// What is drawn only near the window moves what is below it, away from a pointer: draw all now.
		await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
		process.stdout.write(`${JSON.stringify(await steps[step](page))}\n`);
	} finally {
		await browser.close();
	}
	if (wrong.length) throw new Error(wrong.join('\n'));
})().catch(error => {
	process.stderr.write(`report.cjs: ${step}: ${error.stack}\n`);
	process.exitCode = 1;
});
