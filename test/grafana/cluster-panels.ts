/** The dashboard of the cluster over the metrics and the points of a real one. */
import { useVictoria } from '../support/run-servers.ts';
import { panelsOf, readDashboards } from './dashboard-files.ts';
import type { View } from './grafana-words.ts';
import { lackOfPanel } from './panel-answers.ts';

/** What the panels are shown of. */
interface ShownCluster {
  /** Base of the URLs of each node. */
  readonly siteUrls: readonly string[];
  readonly influx: { readonly url: string; readonly bucket: string };
}

const WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 500;
const HOUR_MS = 3_600_000;
/** Ages of the two scrapes that each node is read at, milliseconds: a rate needs two. */
const SCRAPE_AGES_MS = [45_000, 15_000];

/**
 * Reads `/metrics` of all nodes into VictoriaMetrics until every panel has data; returns what panels lack after a minute.
 */
export async function lacksOfCluster(
  t: Parameters<typeof useVictoria>[0],
  { siteUrls, influx }: ShownCluster,
): Promise<readonly string[]> {
  const victoria = await useVictoria(t);
  const servers = {
    influxUrl: influx.url,
    database: influx.bucket,
    prometheusUrl: victoria.url,
    scrapeInterval: '15s',
  };
  const panels = readDashboards()
    .filter(({ name }) => name === 'cluster.json')
    .flatMap(({ dashboard }) => panelsOf(dashboard));
  if (panels.length === 0) return ['there is no dashboard'];
  for (const deadline = performance.now() + WITHIN_MS; ; ) {
    await Promise.all(siteUrls.map((siteUrl) => scrape(siteUrl, victoria.url)));
    const now = Date.now();
    const view: View = { from: now - HOUR_MS, to: now, interval: '1m', variables: {} };
    const found = await Promise.all(
      panels.map(async (panel) => ({ panel, lack: await lackOfPanel(panel, view, servers) })),
    );
    const lacks = found.flatMap(({ panel, lack }) => (lack === null ? [] : [`${panel.title}: ${lack}`]));
    if (lacks.length === 0 || performance.now() > deadline) return lacks;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

async function scrape(siteUrl: string, victoriaUrl: string): Promise<void> {
  const body = await (await fetch(`${siteUrl}/metrics`)).text();
  for (const ageMs of SCRAPE_AGES_MS) {
    const labels = `extra_label=job=upbeat&extra_label=instance=${new URL(siteUrl).host}`;
    const url = `${victoriaUrl}/api/v1/import/prometheus?${labels}&timestamp=${Date.now() - ageMs}`;
    await (await fetch(url, { method: 'POST', body })).body?.cancel();
  }
}
