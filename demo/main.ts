/**
 * `npm run demo`: the program over a simulated fleet of services on loopback, with short intervals.
 * `--port N` chooses the port of the site (default 8080).
 */
import { parseArgs } from 'node:util';
import { dashDomain } from '../src/domain/service.ts';
import { messageOf } from '../src/error.ts';
import { DEMO_FEED_INTERVAL_MS, DEMO_TIMING, startDemo } from './demo.ts';
import { DEMO_SENDER_TIMING, DEMO_SENDERS } from './heartbeat-senders.ts';
import type { DemoService } from './script.ts';
import { DEMO_SCRIPT } from './services.ts';
import type { Vendor } from './vendors/script.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });

const demo = await startDemo({
  script: DEMO_SCRIPT,
  timing: DEMO_TIMING,
  feedIntervalMs: DEMO_FEED_INTERVAL_MS,
  senders: { list: DEMO_SENDERS, timing: DEMO_SENDER_TIMING },
  port: Number(values.port),
  settings: { log: { level: 'info' }, limits: { anonymousPerMinute: 600, authenticatedPerMinute: 1_200 } },
  output: 'inherit',
});
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void demo.stop().then((status) => process.exit(status ?? 1));
  });
}
demo.program.once('exit', (status) => {
  if (stopping) return;
  stopping = true;
  void demo.stop().then(() => process.exit(status ?? 1));
});

// Only now: Ctrl-C stops the program while the command runs, too.
const setupLink = await demo
  .makeSetupLink()
  .catch((error: unknown) => `there is no link: ${messageOf(error)}`);
if (!stopping) process.stdout.write(`${programme(demo.siteUrl, demo.startAt, setupLink).join('\n')}\n`);

/** What to open, and what happens when. */
function programme(siteUrl: string, startAt: number, setupLink: string): string[] {
  const { services, periodMs, outages } = DEMO_SCRIPT;
  const width = Math.max(...services.map(({ domain }) => domain.length));
  const line = ({ domain, story }: DemoService) =>
    `  ${siteUrl}/api/badge/${dashDomain(domain).padEnd(width)}  ${story}`;
  const begin = new Date(startAt).toTimeString().slice(0, 8);
  return [
    '',
    `Upbeat watches ${services.length} simulated services. Stop with Ctrl-C.`,
    '',
    `  ${siteUrl}/`,
    `  ${siteUrl}/docs`,
    `  ${siteUrl}/design`,
    `  ${siteUrl}/metrics`,
    `  ${siteUrl}/readyz`,
    `  ${siteUrl}/api/v1/services`,
    `  ${siteUrl}/api/v1/status/facegram`,
    `  ${siteUrl}/api/v1/services/thinkbox/history`,
    `  ${siteUrl}/api/v1/incidents`,
    `  ${siteUrl}/api/v1/maintenance`,
    `  ${siteUrl}/api/v1/services/nimbus-storage/vendor`,
    `  ${siteUrl}/api/v1/status/orders-example-org`,
    `  ${siteUrl}/api/v1/events`,
    '',
    'To sign in to the dashboard of the account that sends heartbeats:',
    '',
    `  ${setupLink}`,
    '',
    `Badges (add ?theme=dark), and what happens every ${clock(periodMs)} minutes from ${begin} on:`,
    ...services.map(line),
    ...DEMO_SENDERS.map(
      ({ domain, story }) => `  ${siteUrl}/api/badge/${dashDomain(domain).padEnd(width)}  ${story}`,
    ),
    ...outages.map(
      ({ from, to }) =>
        `  From ${clock(from)} to ${clock(to)} the prober itself is cut off: nothing may turn down.`,
    ),
    '',
    `What ${DEMO_SCRIPT.vendors.length} simulated vendors say of their services, each in the format of its kind:`,
    ...DEMO_SCRIPT.vendors.map(vendorLine),
    '',
  ];
}

/** A vendor's page, its services, and what it publishes when. */
function vendorLine({ slug, kind, incidents, maintenances, faults }: Vendor): string {
  const url = demo.vendors.pages.get(slug)?.url ?? '';
  const served = DEMO_SCRIPT.services.filter(({ statusPage }) => statusPage?.vendor === slug);
  const said = [
    ...incidents.map(({ title, updates }) => ({
      what: title === '' ? 'an incident' : title,
      from: updates[0]?.at ?? 0,
      to: updates.at(-1)?.at ?? 0,
    })),
    ...maintenances.map(({ title, startsAt, endsAt }) => ({ what: title, from: startsAt, to: endsAt })),
    ...faults.map(({ fault, from, to }) => ({ what: `(its server: ${fault.kind})`, from, to })),
  ].map(({ what, from, to }) => `${clock(from)} to ${clock(to)} ${what}`);
  const names = served.map(({ name }) => name).join(', ');
  return `  ${url}  ${kind}, of ${names}: ${said.length === 0 ? 'never says a word' : said.join('; ')}`;
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
