/** `upbeat doctor --setup`: makes what InfluxDB lacks for us. What is there already is never changed, only told of. */
import { adviceFor, InfluxError } from './influx-fault.ts';
import { openInfluxLink } from './influx-link.ts';
import type { InfluxSettings } from './influx-settings.ts';
import { type SetupStep, setUpBucket } from './set-up-bucket.ts';
import { setUpDatabase } from './set-up-database.ts';

/**
 * Makes database and retention policy (`v1`), or bucket and mapping of the database for InfluxQL (`v2`). Points are to
 * be kept for `retentionMs`. Never rejects: what goes wrong is the last step.
 */
export async function setUpInflux(settings: InfluxSettings, retentionMs: number): Promise<SetupStep[]> {
  const steps: SetupStep[] = [];
  const link = openInfluxLink(settings);
  try {
    const byBuckets = settings.api === 'v2' && (await setUpBucket(settings, retentionMs, steps));
    // InfluxDB 1.8 is written to like version 2, and set up like version 1.
    if (!byBuckets) await setUpDatabase(link, settings.bucket, retentionMs, steps);
  } catch (error) {
    const { message } = error as Error;
    const advice = adviceFor(error instanceof InfluxError ? error.fault : 'other', settings);
    steps.push({ what: 'server', made: false, found: message, advice });
  } finally {
    await link.close();
  }
  return steps;
}
