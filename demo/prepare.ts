/** Fills the stores of the demonstration before the program starts, through their own interfaces. */
import { loadCatalogue } from '../src/catalogue/watch-catalogue.ts';
import { silentLog } from '../src/log.ts';
import type { EvaluationRules } from '../src/record/evaluate.ts';
import type { ServiceState } from '../src/store/ports/services.ts';
import type { StatusUpdate } from '../src/store/ports/updates.ts';
import type { VendorReading } from '../src/store/ports/vendors.ts';
import { openSamples } from '../src/store/samples/sqlite-samples.ts';
import { addAlertsAndWords, addServicesAndPage } from './account.ts';
import { DEMO_TIMING, type DemoStage } from './demo.ts';
import { makePast, type Present } from './past.ts';
import { type DemoService, latencyMs } from './script.ts';
import { makeVendorPast } from './vendor-past.ts';

/** What the stores are filled with. */
export interface DemoContents {
  readonly services: readonly DemoService[];
  /** Where the channel of the account leads to. */
  readonly receiverUrl: string;
}

/** Writes the public services, the account with its page, the past of all services, and what the account says. */
export async function prepareDemo(stage: DemoStage, { services, receiverUrl }: DemoContents): Promise<void> {
  const { registry, config } = stage;
  await registry.putCatalogue((await loadCatalogue(config.catalogue.file)).list);
  await addServicesAndPage(stage);
  await writePast(stage, new Map(services.map((service) => [service.slug, service])));
  await addAlertsAndWords(stage, receiverUrl);
}

async function writePast(
  { registry, config, signal }: DemoStage,
  services: ReadonlyMap<string, DemoService>,
): Promise<void> {
  const { dataDir, rawRetentionMs, rollupRetentionMs } = config.storage;
  const samples = await openSamples({ dataDir, rawRetentionMs, rollupRetentionMs, log: silentLog });
  try {
    const rules: EvaluationRules = {
      usual: config.checks,
      sourceUrl: ({ slug }) => `${config.http.siteUrl}/status/${slug}`,
      isInMaintenance: () => false,
      regions: null,
    };
    const now = Date.now();
    const updates: StatusUpdate[] = [];
    const readings: VendorReading[] = [];
    for (const state of await registry.loadServices()) {
      signal.throwIfAborted();
      const past = makePast(presentOf(state, services), now, DEMO_TIMING, rules);
      updates.push(...past.updates);
      const reading = makeVendorPast(state.service, past.updates, now);
      if (reading !== null) readings.push(reading);
      await samples.append(past.samples);
      // Of too many samples that are not on disk yet the oldest are dropped, and a quick machine makes them faster than they are written.
      await samples.flush();
    }
    const outcomes = await registry.commitUpdates(updates);
    if (outcomes.some(({ kind }) => kind !== 'committed')) throw new Error('the past contradicts itself');
    await registry.putVendorReadings(readings);
  } finally {
    await samples.close();
  }
}

function presentOf(state: ServiceState, services: ReadonlyMap<string, DemoService>): Present {
  const cast = services.get(state.service.slug) ?? null;
  const behaviour = cast?.steps[0]?.behaviour;
  const usual = behaviour !== undefined && 'latency' in behaviour ? behaviour.latency : null;
  return { state, cast, latencyMs: usual === null ? null : latencyMs(usual, DEMO_TIMING) };
}
