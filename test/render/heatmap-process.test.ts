/** WebGL in a process of its own: whatever becomes of it, there is a picture. */
import fc from 'fast-check';
import t from 'tap';
import {
  type CellField,
  createCellDrawer,
  drawCells,
  readField,
  writeField,
} from '../../src/render/heatmap-process.ts';

const entry = new URL('./drawing-process.ts', import.meta.url);
const told = (ground: number): CellField => ({
  columns: 2,
  rows: 1,
  cellWidth: 3,
  cellHeight: 3,
  gap: 1,
  cells: Uint8Array.of(0, 1),
  ground,
  fills: [1, 2],
  inks: [1, 2],
  marks: [0, 0],
});
/** A busy machine is not a fault. */
const PATIENCE_MS = 100_000;
const GOOD = 0;
const NO_DISPLAY = 1;
const CRASH = 2;
const HANG = 3;
const SHORT = 4;

t.test('it takes the pixels of the process', async (t) => {
  const draw = createCellDrawer({ entry, timeoutMs: PATIENCE_MS });
  t.same(await draw(told(GOOD)), { pixels: Buffer.alloc(6 * 3 * 4, 7), fault: null });
});

t.test('it draws by itself where there is no WebGL, and does not ask again', async (t) => {
  const draw = createCellDrawer({ entry, timeoutMs: PATIENCE_MS });
  for (const ground of [NO_DISPLAY, GOOD]) {
    const { pixels, fault } = await draw(told(ground));
    t.same([Buffer.from(pixels), fault], [Buffer.from(drawCells(told(ground))), 'WebGL finds no display']);
  }
});

t.test('it draws by itself after a crash or bad pixels, and gives up after three in a row', async (t) => {
  const draw = createCellDrawer({ entry, timeoutMs: PATIENCE_MS });
  const faults: (string | null)[] = [];
  for (const ground of [CRASH, SHORT, GOOD, CRASH, SHORT, CRASH, GOOD]) {
    const { pixels, fault } = await draw(told(ground));
    faults.push(fault);
    if (fault !== null) t.same(Buffer.from(pixels), Buffer.from(drawCells(told(ground))));
  }
  const crash = 'the drawing process failed: it was ended by SIGSEGV';
  const short = 'the drawing process failed: 0';
  t.same(faults, [crash, short, null, crash, short, crash, crash]);
});

t.test('it ends a process that hangs', async (t) => {
  const draw = createCellDrawer({ entry, timeoutMs: 500 });
  const { fault } = await draw(told(HANG));
  t.equal(fault, 'the drawing process failed: it was ended by SIGKILL');
});

t.test('it says what is missing where nothing is built', async (t) => {
  const draw = createCellDrawer({ timeoutMs: PATIENCE_MS });
  const { pixels, fault } = await draw(told(GOOD));
  t.equal(pixels.length, 6 * 3 * 4);
  t.match(
    fault ?? 'WebGL finds no display',
    /^(node-canvas-webgl is not (installed|built: npm run heatmap:webgl)|WebGL finds no display)$/,
  );
});

t.test('it hands a field over as it is', (t) => {
  const colour = fc.integer({ min: 0, max: 0xffffff });
  const field: fc.Arbitrary<CellField> = fc.record({
    columns: fc.nat(400),
    rows: fc.nat(1_200),
    cellWidth: fc.nat(20),
    cellHeight: fc.nat(20),
    gap: fc.constantFrom(0, 1),
    cells: fc.uint8Array(),
    ground: colour,
    fills: fc.array(colour),
    inks: fc.array(colour),
    marks: fc.array(fc.constantFrom(0, 1, 2, 3)),
  });
  fc.assert(
    fc.property(field, (given) => t.same(readField(Buffer.from(writeField(given))), given)),
    {
      numRuns: 50,
    },
  );
  t.end();
});
