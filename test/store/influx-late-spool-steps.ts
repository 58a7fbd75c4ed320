/** Uses a spool as the lines on standard input say, one answer a line: `open`, `put TEXT`, `first`. */
import { createInterface } from 'node:readline';
import { openLateSpool, type Spool } from '../../src/store/samples/influx/spool.ts';

const [dataDir = ''] = process.argv.slice(2);
let spool: Spool | null = null;
for await (const line of createInterface({ input: process.stdin })) {
  const [step, text = ''] = line.split(' ');
  try {
    if (step === 'open') spool = openLateSpool(dataDir, 1e9);
    else if (step === 'put') spool?.put([text]);
    const answer = step === 'first' ? spool?.first(10)?.lines.join(',') : 'ok';
    console.log(`${answer} ${spool?.samples}`);
  } catch (error) {
    console.log(`refused: ${(error as Error).message}`);
  }
}
spool?.close();
