/**
 * How long an alert takes, from the first failed attempt that a service sees to the request that its owner's receiver gets:
 * `node bench/alerts.ts`. The whole program with the confirmation of its defaults, checks every 5 s, and signed
 * webhooks. Twenty services of different accounts fail one after the other; then a thousand, ten of each account, fail at once.
 */
import { createServer } from 'node:http';
import { createWebhookSecret } from '../src/notify/webhook-sender.ts';
import { channelOf, ruleOf } from '../test/store/alert-fixtures.ts';
import { owned } from '../test/store/registry-fixtures.ts';
import { listenOn } from '../test/support/loopback.ts';
import { install } from '../test/support/program.ts';
import { atMost, type BenchRow, printRows } from './row.ts';

/** Confirmation takes 6 s; the first news of an account is told at once. */
const P99_MAX_S = 15;

/** Runs the benchmark, prints its table and returns its lines. Takes about three minutes. */
export async function run(): Promise<BenchRow[]> {
  const one = await measure(20, 1, 1_000);
  const many = await measure(100, 10, 0);
  return [
    ...printRows([
      atMost('alert of one failure, p50', quantile(one, 0.5), 's', P99_MAX_S),
      atMost('alert of one failure, p99', quantile(one, 0.99), 's', P99_MAX_S),
      atMost('alert of 1,000 failures at once, p50', quantile(many, 0.5), 's', P99_MAX_S),
      atMost('alert of 1,000 failures at once, p99', quantile(many, 0.99), 's', P99_MAX_S),
    ]),
  ];
}

/** The delay of the alert of each account, seconds. The services of an account fail `apartMs` after those of the one before. */
async function measure(accounts: number, servicesEach: number, apartMs: number): Promise<number[]> {
  const failsFrom = new Map<number, number>();
  const failedAt = new Map<number, number>();
  const toldAt = new Map<number, number>();
  const site = await listenOn(
    createServer((request, response) => {
      const account = Number(request.url?.split('/')[1]);
      const now = performance.now();
      const fails = now >= (failsFrom.get(account) ?? Number.POSITIVE_INFINITY);
      if (fails && !failedAt.has(account)) failedAt.set(account, now);
      response.writeHead(fails ? 503 : 200).end();
    }),
  );
  const receiver = await listenOn(
    createServer((request, response) => {
      const account = Number(request.url?.slice(1));
      if (!toldAt.has(account)) toldAt.set(account, performance.now());
      request.resume().on('end', () => response.writeHead(204).end());
    }),
  );
  const checks = {
    interval: '5s',
    confirmAfter: ['2s', '4s'],
    ownersMayProbePrivate: true,
    controlTargets: [],
  };
  const installation = await install([], (siteUrl) => ({
    checks: { ...checks, controlTargets: [`${siteUrl}/healthz`] },
    limits: { domainsPerAccount: 100 },
  }));
  try {
    await installation.withRegistry(async (registry) => {
      for (let n = 0; n < accounts; n++) {
        const { id: accountId } = await registry.ensureAccount(`a${n}`, Date.now());
        const url = `http://127.0.0.1:${receiver.port}/${n}`;
        const settings = { url, secret: createWebhookSecret() };
        const channel = await registry.addChannel({ ...channelOf(accountId), kind: 'webhook', settings });
        await registry.addRule({ ...ruleOf(accountId, [channel.id]), events: ['down'] });
        for (let m = 0; m < servicesEach; m++) {
          const service = owned(`s${m}.a${n}.example`, accountId, { verified: true });
          const check = { ...service.check, url: `http://127.0.0.1:${site.port}/${n}/${m}` };
          await registry.addService({ ...service, check });
        }
      }
    });
    const program = await installation.start();
    try {
      await program.until<{ readonly total: number }>(
        '/api/v1/services?status=up&limit=1',
        ({ total }) => total === accounts * servicesEach,
        90_000,
      );
      const now = performance.now();
      for (let n = 0; n < accounts; n++) failsFrom.set(n, now + n * apartMs);
      const deadline = now + accounts * apartMs + 120_000;
      while (toldAt.size < accounts && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 100));
    } finally {
      await program.stop();
    }
  } finally {
    installation.remove();
    await Promise.all([site.close(), receiver.close()]);
  }
  if (toldAt.size < accounts) throw new Error(`${accounts - toldAt.size} accounts were not told`);
  return [...toldAt].map(([account, at]) => (at - (failedAt.get(account) ?? at)) / 1_000);
}

function quantile(values: readonly number[], ratio: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * ratio))] ?? Number.NaN;
}

if (import.meta.main) await run();
