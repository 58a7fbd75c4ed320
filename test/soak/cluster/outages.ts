/** Lets services of a counted site fail and recover by chance, everywhere or in one region. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CountedSite } from '../../support/counted-site.ts';

/** A failure of one service. */
export interface Outage {
  readonly slug: string;
  /** The region in which it fails; null: everywhere. */
  readonly region: string | null;
  /** Epoch milliseconds. */
  readonly fromAt: number;
  readonly untilAt: number;
}

/** Options of {@link startOutages}. */
export interface OutageOptions {
  readonly site: Pick<CountedSite, 'fail' | 'recover'>;
  /** Services; the path of each at the site is `/SLUG`. */
  readonly slugs: readonly string[];
  readonly regions: readonly string[];
  readonly random: () => number;
  /** Length of each outage and of the rest after it, milliseconds: long enough to be seen whatever happens to nodes. */
  readonly lengthMs: number;
}

const PAUSE_MS = 2_500;
const REGIONAL_PART = 0.3;

/** Starts outages. The returned function waits until all services have recovered, and returns the outages. */
export function startOutages(options: OutageOptions): () => Promise<readonly Outage[]> {
  const { site, slugs, regions, random, lengthMs } = options;
  const outages: Outage[] = [];
  const busy = new Set<string>();
  const playing = new Set<Promise<void>>();
  let isStopped = false;

  async function play(slug: string): Promise<void> {
    const region = random() < REGIONAL_PART ? (regions[Math.floor(random() * regions.length)] ?? null) : null;
    const fromAt = Date.now();
    site.fail(`/${slug}`, region === null ? undefined : [region]);
    await sleep(lengthMs * (1 + random() / 2));
    site.recover(`/${slug}`);
    outages.push({ slug, region, fromAt, untilAt: Date.now() });
    await sleep(lengthMs);
    busy.delete(slug);
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const idle = slugs.filter((slug) => !busy.has(slug));
      const slug = idle[Math.floor(random() * idle.length)];
      if (slug !== undefined) {
        busy.add(slug);
        const work = play(slug).finally(() => playing.delete(work));
        playing.add(work);
      }
      await sleep(PAUSE_MS);
    }
  }

  const running = run();
  return async () => {
    isStopped = true;
    await running;
    await Promise.all(playing);
    return outages;
  };
}
