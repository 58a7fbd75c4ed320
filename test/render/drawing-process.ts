/** A process for tests that draws as it is told by the field's ground. */
import { buffer } from 'node:stream/consumers';
import { drawCells, readField } from '../../src/render/heatmap-process.ts';

const field = readField(await buffer(process.stdin));
switch (field.ground) {
  case 0: {
    // Other pixels than the plain ones, to tell who drew.
    process.stdout.write(drawCells(field).fill(7));
    break;
  }
  case 1:
    process.stderr.write('a line before\nWebGL finds no display\n');
    process.exitCode = 3;
    break;
  case 2:
    process.kill(process.pid, 'SIGSEGV');
    break;
  case 3:
    setInterval(() => {}, 60_000);
    break;
  default:
    process.stdout.write('too short');
}
