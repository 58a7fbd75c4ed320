/**
 * `npm run demo`: the program over a simulated fleet of services on loopback, with short intervals.
 * `--port N` chooses the port of the site (default 8080).
 */
import { parseArgs } from 'node:util';
import { dashDomain } from '../../src/domain/service.ts';
import { DEMO_TIMING, startDemo } from './demo.ts';
import type { DemoService } from './script.ts';
import { DEMO_SCRIPT } from './services.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });

const demo = await startDemo({
  script: DEMO_SCRIPT,
  timing: DEMO_TIMING,
  port: Number(values.port),
  settings: { log: { level: 'info' }, limits: { anonymousPerMinute: 600 } },
  output: 'inherit',
});
process.stdout.write(`${programme(demo.siteUrl, demo.startAt).join('\n')}\n`);

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

/** What to open, and what will be seen there when. */
function programme(siteUrl: string, startAt: number): string[] {
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
    `  ${siteUrl}/metrics`,
    `  ${siteUrl}/readyz`,
    `  ${siteUrl}/api/v1/services`,
    `  ${siteUrl}/api/v1/status/facegram`,
    `  ${siteUrl}/api/v1/services/thinkbox/history`,
    `  ${siteUrl}/api/v1/incidents`,
    `  ${siteUrl}/api/v1/events`,
    '',
    `Badges (add ?theme=dark), and what happens every ${clock(periodMs)} minutes from ${begin} on:`,
    ...services.map(line),
    ...outages.map(
      ({ from, to }) =>
        `  From ${clock(from)} to ${clock(to)} the prober itself is cut off: nothing may turn down.`,
    ),
    '',
  ];
}

function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
