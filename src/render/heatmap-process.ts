/** Draws cells by WebGL in a process of its own if possible, else in plain pixels. The picture is the same. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { buffer, text } from 'node:stream/consumers';
import { type CellField, drawCells } from './heatmap-cells.ts';

/** Why WebGL is not available. */
export const WEBGL_FAULTS = {
  notInstalled: 'node-canvas-webgl is not installed',
  notBuilt: 'node-canvas-webgl is not built: npm run heatmap:webgl',
} as const;

const ENTRY = new URL('../../workers/heatmap.ts', import.meta.url);
const MODULES = new URL('../../node_modules/', import.meta.url);
const TIMEOUT_MS = 15_000;
/** After so many consecutive crashes or timeouts, no process is started any more. */
const MAX_FAULTS = 3;
/** Exit status of a process that finds no WebGL; none is started after it. */
const NO_WEBGL = 3;

/**
 * Creates a drawer that remembers whether WebGL works. It never rejects. `fault`: why WebGL did not draw the cells; null: it
 * did.
 */
export function createCellDrawer({ entry = ENTRY, timeoutMs = TIMEOUT_MS } = {}) {
  // Even a process that finds no WebGL takes some 40 MB.
  const missing = entry === ENTRY ? findMissingWebgl() : null;
  let faults = missing === null ? 0 : MAX_FAULTS;
  let last = missing ?? '';
  return async (
    field: CellField,
  ): Promise<{ readonly pixels: Uint8Array; readonly fault: string | null }> => {
    if (faults < MAX_FAULTS) {
      const drawn = await drawInProcess(field, entry, timeoutMs);
      if (drawn.pixels !== null) {
        faults = 0;
        return { pixels: drawn.pixels, fault: null };
      }
      faults = drawn.final ? MAX_FAULTS : faults + 1;
      last = drawn.fault;
    }
    return { pixels: drawCells(field), fault: last };
  };
}

export function writeField(field: CellField): string {
  return JSON.stringify({ ...field, cells: Buffer.from(field.cells).toString('base64') });
}

/** Parses a field of {@link writeField}. */
export function readField(bytes: Uint8Array): CellField {
  const read = JSON.parse(Buffer.from(bytes).toString()) as Omit<CellField, 'cells'> & { cells: string };
  return { ...read, cells: new Uint8Array(Buffer.from(read.cells, 'base64')) };
}

async function drawInProcess(field: CellField, entry: URL, timeoutMs: number) {
  const child = spawn(process.execPath, [...process.execArgv, decodeURIComponent(entry.pathname)], {
    stdio: 'pipe',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<string | number>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code ?? `it was ended by ${signal}`));
  });
  // A process that ends early closes its input; its exit status says why.
  child.stdin.on('error', () => {});
  child.stdin.end(writeField(field));
  const [pixels, said, end] = await Promise.all([buffer(child.stdout), text(child.stderr), ended]);
  const bytes = field.columns * field.cellWidth * field.rows * field.cellHeight * 4;
  if (end === 0 && pixels.length === bytes) return { pixels };
  const line = said.trim().split('\n').at(-1) ?? '';
  const fault = line === '' || typeof end === 'string' ? `the drawing process failed: ${end}` : line;
  return { pixels: null, fault, final: end === NO_WEBGL };
}

/** The package or build that WebGL lacks; null: none. */
export function findMissingWebgl(): string | null {
  if (!existsSync(new URL('node-canvas-webgl/', MODULES))) return WEBGL_FAULTS.notInstalled;
  return existsSync(new URL('gl/build/', MODULES)) ? null : WEBGL_FAULTS.notBuilt;
}
