/** A batch ends with the last of its parts. */
import t from 'tap';
import { createResultBatch } from '../../src/record/result-batch.ts';

t.test('it ends when every part has, whole only if none was dropped', async (t) => {
  for (const [parts, isWhole] of [
    [[true], true],
    [[true, true, true], true],
    [[false, true], false],
    [[true, false], false],
  ] as const) {
    const batch = createResultBatch();
    let ended: boolean | null = null;
    void batch.ended.then((whole) => {
      ended = whole;
    });
    for (let n = 1; n < parts.length; n++) batch.hold();
    for (const [index, part] of parts.entries()) {
      t.equal(ended, null, `before part ${index}`);
      batch.release(part);
      await null;
    }
    t.equal(await batch.ended, isWhole);
  }
});
