/** Pictures that WebGL drew once, kept for machines that have none. `npm run heatmap:webgl -- --record` draws them anew. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawHeatmap } from '../../src/render/heatmap.ts';
import { createCellDrawer } from '../../src/render/heatmap-process.ts';
import { RECORDED } from './heatmap-scenes.ts';

const FOLDER = join(import.meta.dirname, 'webgl');
const SOURCE = join(import.meta.dirname, '../../src/render/heatmap-webgl.ts');

/** A picture of the recording, and the text that says of which program it is. */
export function readRecording(name: string): Uint8Array {
  return readFileSync(join(FOLDER, `${name}.png`));
}

/** Digest of the program that drew the recording. */
export function recordedProgram(): string {
  return readFileSync(join(FOLDER, 'program.sha256'), 'utf8').trim();
}

/** Digest of the program as it is now, without its comments and imports. */
export function presentProgram(): string {
  const code = readFileSync(SOURCE, 'utf8').replaceAll(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*|import .*)\n/gm, '');
  return createHash('sha256').update(code).digest('hex');
}

if (import.meta.main) {
  const draw = createCellDrawer();
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, picture] of Object.entries(RECORDED)) {
    const png = await drawHeatmap(picture, async (field) => {
      const { pixels, fault } = await draw(field);
      if (fault !== null) throw new Error(`WebGL did not draw: ${fault}`);
      return pixels;
    });
    writeFileSync(join(FOLDER, `${name}.png`), png);
    console.log(`${name}.png  ${png.length} bytes`);
  }
  writeFileSync(join(FOLDER, 'program.sha256'), `${presentProgram()}\n`);
}
