/**
 * A process that draws the cells of one heat map by WebGL: it reads the field from standard input and writes the pixels to
 * standard output. A driver that crashes ends only this process. Without WebGL it ends with status 3 and a line on standard
 * error.
 */
import { buffer } from 'node:stream/consumers';
import { readField, WEBGL_FAULTS } from '../src/render/heatmap-process.ts';
import { drawCellsByWebgl } from '../src/render/heatmap-webgl.ts';

/** Messages for codes of failed imports. */
const IMPORTS: Readonly<Record<string, string>> = {
  ERR_MODULE_NOT_FOUND: WEBGL_FAULTS.notInstalled,
  MODULE_NOT_FOUND: WEBGL_FAULTS.notBuilt,
};

async function run(): Promise<void> {
  const field = readField(await buffer(process.stdin));
  try {
    const { createCanvas } = await import('node-canvas-webgl');
    process.stdout.write(drawCellsByWebgl(field, createCanvas));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    process.stderr.write(`${IMPORTS[code] ?? message.split('\n')[0]}\n`);
    process.exitCode = 3;
  }
}

if (import.meta.main) void run();
