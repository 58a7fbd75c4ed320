/**
 * A process of its own that brings points to a server which is away, for tests that bound its files: writes a line of
 * JSON with its state after each line that it reads, which is the number of points to bring; ends with its input.
 */
import { createInterface } from 'node:readline';
import { openInflux, settingsOf } from './influx-world.ts';
import { sampleAt } from './samples-contract.ts';

const [url = '', dataDir = '', firstAt = '0'] = process.argv.slice(2);
const store = await openInflux({ settings: settingsOf(url, 'upbeat'), dataDir });
let at = Number(firstAt);
for await (const line of createInterface({ input: process.stdin })) {
  // Latencies that do not repeat, so that they take room when they are packed.
  const samples = Array.from({ length: Number(line) }, () =>
    sampleAt(at++, { latencyMs: Math.imul(at, 0x9e3779b1) >>> 16 }),
  );
  await store.append(samples);
  await store.flush();
  const { pending, fileBytes } = store.stats();
  console.log(JSON.stringify({ pending, fileBytes, problem: store.problem(), lost: store.lost() }));
}
await store.close();
