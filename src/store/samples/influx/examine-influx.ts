/** The test of InfluxDB by `upbeat doctor`: it writes a point and reads it back. */
import { randomInt } from 'node:crypto';
import { systemClock } from '../../../clock.ts';
import { adviceFor, InfluxError } from './influx-fault.ts';
import { type InfluxLink, numberReader, openInfluxLink } from './influx-link.ts';
import type { InfluxSettings } from './influx-settings.ts';

/** A finding; `advice` null: nothing needs to be fixed. */
interface InfluxFinding {
  readonly found: string;
  readonly advice: string | null;
}

/** A measurement of its own, so that no history contains the point; the bucket's retention deletes it. */
const MEASUREMENT = 'upbeat_doctor';

/** Writes a point and reads it back, as samples are written and histories are read. `now`: epoch milliseconds. Never rejects. */
export async function examineInflux(
  settings: InfluxSettings,
  now = systemClock.now(),
): Promise<InfluxFinding> {
  const link = openInfluxLink(settings);
  // A new value each time tells the point from those of other servers or buckets.
  const nonce = randomInt(2 ** 47);
  return (
    (await write(link, settings, `${MEASUREMENT} nonce=${nonce}i ${now}`)) ??
    (await readBack(link, settings, now, nonce))
  );
}

/** Null: the point was stored. */
async function write(
  link: Pick<InfluxLink, 'send'>,
  settings: InfluxSettings,
  line: string,
): Promise<InfluxFinding | null> {
  const { problem, fault, dropped, refusal } = await link.send([line]);
  if (problem !== null) return { found: problem, advice: adviceFor(fault ?? 'other', settings) };
  if (dropped === 0) return null;
  return {
    found: `a point of now was refused: ${refusal}`,
    advice: 'compare the clocks of both machines, and the retention of the bucket',
  };
}

async function readBack(
  link: Pick<InfluxLink, 'query'>,
  settings: InfluxSettings,
  at: number,
  nonce: number,
): Promise<InfluxFinding> {
  const { url, bucket } = settings;
  try {
    const [table = null] = await link.query([`SELECT nonce FROM ${MEASUREMENT} WHERE time = ${at}ms`]);
    // VictoriaMetrics responds to every statement with a list of databases.
    if (table !== null && !table.columns.includes('time'))
      return {
        found: `${url} took a point; it answers no InfluxQL, so the pages have no histories`,
        advice: null,
      };
    if (table?.rows.some((row) => numberReader(table)(row, 'nonce') === nonce) === true)
      return { found: `${url} has ${bucket}; a point was written and read back`, advice: null };
    return {
      found: `a point was written to ${bucket}, and InfluxQL does not find it`,
      advice:
        'histories are read from another bucket: see influx v1 dbrp list, and map the database to this one',
    };
  } catch (error) {
    const { fault, message } = error as InfluxError;
    const advice = adviceFor(error instanceof InfluxError ? fault : 'other', settings);
    return { found: `a point was written and could not be read: ${message}`, advice };
  }
}
