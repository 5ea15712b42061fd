#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0
//
// A small command line of DuckDB on its npm package, as Debian does not have DuckDB's own: the part of that
// which the tests and the tutorial use. Errors are a line on standard error, and the exit status is 1.
//
//   duckdb [-csv] [DATABASE [STATEMENTS]]	without STATEMENTS: those on standard input
import { readFileSync } from 'node:fs';
import { DuckDBInstance, StatementType } from '@duckdb/node-api';

const words = process.argv.slice(2).filter((word) => word !== '-csv');
const [database = ':memory:', statements = readFileSync(0, 'utf8')] = words;

function field(value) {
	const text = value === null ? '' : String(value);

	return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

try {
	const instance = await DuckDBInstance.create(database);
	const connection = await instance.connect();
	const extracted = await connection.extractStatements(statements);

	for (let i = 0; i < extracted.count; i++) {
		const prepared = await extracted.prepare(i);
		const reader = await prepared.runAndReadAll();

		if (prepared.statementType !== StatementType.SELECT)
			continue;
		const lines = [reader.columnNames(), ...reader.getRowsJson()];

		process.stdout.write(lines.map((line) => line.map(field).join() + '\n').join(''));
	}
} catch (error) {
	process.stderr.write(`duckdb: ${String(error.message).split('\n')[0]}\n`);
	process.exitCode = 1;
}
