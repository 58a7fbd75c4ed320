/** Heat maps by WebGL and by plain pixels are the same picture, within a tolerance. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Bitmap } from 'pureimage';
import t from 'tap';
import { drawHeatmapPixels, heatmapField } from '../../src/render/heatmap.ts';
import { drawCells, writeField } from '../../src/render/heatmap-process.ts';
import { decodePng } from './decode-png.ts';
import { RECORDED } from './heatmap-scenes.ts';
import { presentProgram, readRecording, recordedProgram } from './webgl-recording.ts';

/** A channel may differ by this much, for a driver may round otherwise, ... */
const CHANNEL_TOLERANCE = 2;
/** ... and this share of the pixels by more, where an edge falls between two of them. */
const PIXEL_TOLERANCE = 0.001;

const ROOT = join(import.meta.dirname, '../..');
const isBuilt = ['canvas/build/Release/canvas.node', 'gl/build/Release/webgl.node'].every((file) =>
  existsSync(join(ROOT, 'node_modules', file)),
);
const hasDisplay = process.env.DISPLAY !== undefined;
const hasVirtual = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'xvfb-run')));

t.test('it draws by plain pixels what WebGL drew', async (t) => {
  for (const [name, picture] of Object.entries(RECORDED)) {
    const recorded = await decodePng(readRecording(name));
    const drawn = await drawHeatmapPixels(picture);
    t.same([drawn.width, drawn.height], [recorded.width, recorded.height], name);
    t.ok(shareOfOthers(drawn.data, recorded.data) <= PIXEL_TOLERANCE, `${name}: pixels that differ`);
  }
});

t.test('it notices a picture that differs', async (t) => {
  const picture = RECORDED['named-light'];
  if (picture === undefined) return t.fail('there is no such scene');
  const recorded: Bitmap = await decodePng(readRecording('named-light'));
  const cells = picture.cells.map((level) => (level === 6 ? 5 : level));
  const other = await drawHeatmapPixels({ ...picture, cells });
  return t.ok(shareOfOthers(other.data, recorded.data) > PIXEL_TOLERANCE);
});

t.test('it has a recording of the program for WebGL as it is now', (t) => {
  t.equal(
    recordedProgram(),
    presentProgram(),
    'heatmap-webgl.ts has changed: npm run heatmap:webgl -- --record draws the pictures anew',
  );
  t.end();
});

if (isBuilt && (hasDisplay || hasVirtual)) {
  t.test('it draws by WebGL what it draws by plain pixels', (t) => {
    const entry = [process.execPath, join(ROOT, 'workers/heatmap.ts')];
    const [program = '', ...args] = hasDisplay
      ? entry
      : ['xvfb-run', '-a', '-s', '-screen 0 1280x1024x24', ...entry];
    for (const [name, picture] of Object.entries(RECORDED)) {
      const field = heatmapField(picture);
      const { status, stdout, stderr } = spawnSync(program, args, {
        input: writeField(field),
        maxBuffer: 64 * 1024 * 1024,
      });
      t.equal(status, 0, stderr.toString());
      t.ok(shareOfOthers(drawCells(field), stdout) <= PIXEL_TOLERANCE, `${name}: pixels that differ`);
    }
    t.end();
  });
} else {
  t.comment(
    'WebGL itself was not asked, its recorded pictures stand in: npm run heatmap:webgl builds node-canvas-webgl',
  );
}

/** Share of the pixels of which a channel differs by more than the tolerance. */
function shareOfOthers(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return 1;
  let others = 0;
  for (let at = 0; at < a.length; at += 4) {
    for (let channel = 0; channel < 4; channel++) {
      if (Math.abs((a[at + channel] ?? 0) - (b[at + channel] ?? 0)) <= CHANNEL_TOLERANCE) continue;
      others++;
      break;
    }
  }
  return others / (a.length / 4);
}
