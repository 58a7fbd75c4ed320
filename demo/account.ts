/** The account of the demonstration: a made-up shop with a status page, a channel, a rule, and what it says itself. */
import { randomBytes } from 'node:crypto';
import { type ApplyContext, applyDocument } from '../src/apply/apply.ts';
import { applyContextOf } from '../src/cli/apply/apply-command.ts';
import { resultOf } from '../src/cli/outcome.ts';
import { DAY_MS, formatTime, HOUR_MS, MINUTE_MS } from '../src/domain/durations.ts';
import { encodePalettePng } from '../src/render/png.ts';
import { incidentChanges, updateIncident } from '../src/resources/incidents/incidents.ts';
import type { DemoStage } from './demo.ts';
import { DEMO_SENDERS } from './heartbeat-senders.ts';

/** The address of the status page. */
export const PAGE_SLUG = 'harbour-goods';
const COLOUR = '#0b6b75';
const TITLE = 'Harbour Goods';
const NOTE = 'A simulation: this shop, its services and everything on this page are made up.';

/** An incident that the account declares; its texts are so old when the play begins. */
interface Incident {
  readonly title: string;
  readonly severity: 'minor' | 'major';
  readonly services: readonly string[];
  readonly updates: readonly {
    readonly agoMs: number;
    readonly status: 'investigating' | 'identified' | 'monitoring' | 'resolved';
    readonly text: string;
  }[];
  readonly postMortem?: { readonly agoMs: number; readonly text: string };
}

/** Adds the services of the account and its status page. */
export async function addServicesAndPage({ registry, config, accountId }: DemoStage): Promise<void> {
  const names = new Map([
    ['orders.example.org', { name: 'Orders', category: 'ecommerce' }],
    ['nightly-backup.example.org', { name: 'Nightly backup', category: 'cloud' }],
    ['thermostat.example.org', { name: 'Cold store thermostat', category: 'logistics' }],
  ]);
  await apply(applyContextOf(registry, config), accountId, {
    services: DEMO_SENDERS.map(({ domain }) => ({
      domain,
      ...names.get(domain),
      check: { kind: 'heartbeat' },
      publicDependencies: true,
    })),
    pages: [
      {
        slug: PAGE_SLUG,
        title: TITLE,
        text: NOTE,
        brand_colour: COLOUR,
        logo: `data:image/png;base64,${drawLogo().toString('base64')}`,
        groups: [
          { name: 'Shop', services: ['orders.example.org', 'shopwright', 'paynest'] },
          { name: 'Delivery', services: ['cartographer', 'freightly', 'parcelpal'] },
          { name: 'Warehouse', services: ['thermostat.example.org', 'nightly-backup.example.org'] },
        ],
      },
    ],
  });
}

/**
 * Adds a rule with a channel to `receiverUrl`, a maintenance that is planned, and two incidents: one that is over, with what was
 * found out, and one that goes on. Called after the past is written, which is no reason for alerts.
 */
export async function addAlertsAndWords(stage: DemoStage, receiverUrl: string): Promise<void> {
  const context = applyContextOf(stage.registry, stage.config);
  const now = context.now();
  await sayIncident(context, stage.accountId, now, {
    title: 'Orders were accepted twice',
    severity: 'major',
    services: ['orders.example.org'],
    updates: [
      { agoMs: 12 * DAY_MS, status: 'investigating', text: 'Some orders arrive **twice** in the warehouse.' },
      {
        agoMs: 12 * DAY_MS - 25 * MINUTE_MS,
        status: 'identified',
        text: 'A retry without an idempotency key.',
      },
      { agoMs: 12 * DAY_MS - 70 * MINUTE_MS, status: 'monitoring', text: 'A fix is out.' },
      {
        agoMs: 12 * DAY_MS - 3 * HOUR_MS,
        status: 'resolved',
        text: 'No order has been doubled for two hours.',
      },
    ],
    postMortem: {
      agoMs: 10 * DAY_MS,
      text: 'A time-out of ten seconds met a database that took eleven. Every retry has an idempotency key now.',
    },
  });
  await sayIncident(context, stage.accountId, now, {
    title: 'Parcels from Rotterdam are late',
    severity: 'minor',
    services: [],
    updates: [
      { agoMs: 95 * MINUTE_MS, status: 'investigating', text: 'Scans from Rotterdam are missing.' },
      {
        agoMs: 40 * MINUTE_MS,
        status: 'identified',
        text: 'A conveyor stands still. Parcels are sorted **by hand**.',
      },
      {
        agoMs: 12 * MINUTE_MS,
        status: 'monitoring',
        text: 'The conveyor runs again; the backlog takes until noon.',
      },
    ],
  });
  const channel = 'Operations (simulated)';
  await apply(context, stage.accountId, {
    channels: [{ name: channel, kind: 'webhook', settings: { url: receiverUrl, secret: makeSecret() } }],
    rules: [{ name: 'Everything on our page', own: true, pages: [PAGE_SLUG], channels: [channel] }],
    maintenances: [
      {
        title: 'New shelves for the database',
        text: 'Orders wait for up to ten minutes and are **not lost**.',
        starts_at: formatTime(Math.ceil(now / HOUR_MS) * HOUR_MS + 26 * HOUR_MS),
        duration: '90m',
        services: ['orders.example.org'],
        pages: [PAGE_SLUG],
      },
    ],
  });
}

async function apply(context: ApplyContext, accountId: number, document: unknown): Promise<void> {
  const principal = { role: 'operator', accountId } as const;
  resultOf(await applyDocument(context, principal, document, { dryRun: false, prune: false }));
}

/** Writes an incident of the page as if it had been written at the time of each update. */
async function sayIncident(
  { registry, siteUrl }: ReturnType<typeof applyContextOf>,
  accountId: number,
  now: number,
  { updates, postMortem, ...incident }: Incident,
): Promise<void> {
  const principal = { role: 'operator', accountId } as const;
  let id: string | null = null;
  for (const { agoMs, status, text } of updates) {
    const context = { registry, siteUrl, now: () => now - agoMs };
    if (id !== null) {
      resultOf(await updateIncident(context, principal, { key: id, revisions: null }, { status, text }));
      continue;
    }
    const opened = await incidentChanges.add(context, principal, {
      ...incident,
      pages: [PAGE_SLUG],
      status,
      text,
    });
    id = incidentChanges.keyOf(resultOf(opened));
  }
  if (id === null || postMortem === undefined) return;
  const context = { registry, siteUrl, now: () => now - postMortem.agoMs };
  resultOf(
    await incidentChanges.patch(
      context,
      principal,
      { key: id, revisions: null },
      { post_mortem: postMortem.text },
    ),
  );
}

function makeSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A disc with waves, as PNG. */
function drawLogo(): Buffer {
  const size = 96;
  const data = new Uint8Array(4 * size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      if (Math.hypot(x - size / 2 + 0.5, y - size / 2 + 0.5) > size / 2) continue;
      const isWave = y > 40 && (y + Math.round(5 * Math.sin(x / 8))) % 20 < 8;
      data.set(isWave ? [255, 255, 255, 255] : [11, 107, 117, 255], 4 * (y * size + x));
    }
  }
  return Buffer.from(encodePalettePng({ width: size, height: size, data }));
}
