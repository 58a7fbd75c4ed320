/** The database of InfluxDB 1 and its retention policy. Names in statements are quoted, numbers are our own. */
import { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../domain/durations.ts';
import type { InfluxLink, InfluxTable } from './influx-link.ts';
import type { SetupStep } from './set-up-bucket.ts';

/** Name of the retention policy that we make; what is written without a name goes to the default one. */
const POLICY = 'upbeat';

/** Makes what is missing and adds a step for each thing. Rejects as the link does. */
export async function setUpDatabase(
  link: Pick<InfluxLink, 'query'>,
  database: string,
  retentionMs: number,
  steps: SetupStep[],
): Promise<void> {
  const hasDatabase = async (): Promise<boolean> => {
    const [databases] = await link.query(['SHOW DATABASES']);
    return (databases?.rows ?? []).some(([one]) => one === database);
  };
  const name = quoteName(database);
  const terms = `DURATION ${Math.ceil(retentionMs)}ms REPLICATION 1`;
  const kept = formatDuration(retentionMs);
  if (!(await hasDatabase())) {
    await link.query([`CREATE DATABASE ${name} WITH ${terms} NAME ${quoteName(POLICY)}`]);
    // VictoriaMetrics nods at every statement.
    if (await hasDatabase())
      steps.push(made('database', `${database} was made, and keeps points for ${kept}`));
    else
      steps.push({
        what: 'server',
        made: false,
        found: 'it takes points and has no databases',
        advice: null,
      });
    return;
  }
  steps.push({ what: 'database', made: false, found: `${database} is there`, advice: null });
  const [policies] = await link.query([`SHOW RETENTION POLICIES ON ${name}`]);
  const policy = defaultPolicy(policies ?? null);
  if (policy === null) {
    await link.query([`CREATE RETENTION POLICY ${quoteName(POLICY)} ON ${name} ${terms} DEFAULT`]);
    steps.push(made('retention', `${POLICY} was made the default policy, and keeps points for ${kept}`));
    return;
  }
  const isSame = policy.durationMs === retentionMs;
  const span = policy.durationMs === 0 ? 'for ever' : `for ${formatDuration(policy.durationMs)}`;
  steps.push({
    what: 'retention',
    made: false,
    found: `the default policy ${policy.name} keeps points ${span}`,
    advice: isSame
      ? null
      : `storage.rawRetention is ${kept}: set it to what the server does, or run ALTER RETENTION POLICY ${quoteName(policy.name)} ON ${name} DURATION ${Math.ceil(retentionMs / HOUR_MS)}h SHARD DURATION ${shardOf(retentionMs)}`,
  });
}

function made(what: SetupStep['what'], found: string): SetupStep {
  return { what, made: true, found, advice: null };
}

function defaultPolicy(table: InfluxTable | null): { name: string; durationMs: number } | null {
  const [name, duration, isDefault] = ['name', 'duration', 'default'].map(
    (column) => table?.columns.indexOf(column) ?? -1,
  );
  const row = table?.rows.find((values) => values[isDefault ?? -1] === true);
  if (row === undefined) return null;
  return { name: String(row[name ?? -1]), durationMs: readDuration(String(row[duration ?? -1])) };
}

/** What the server itself takes for a new policy; that of the old one may be too long for the new duration. */
function shardOf(retentionMs: number): string {
  const days = retentionMs / DAY_MS;
  return days < 2 ? '1h' : days <= 180 ? '1d' : '7d';
}

/** A duration as Go writes it, such as `2160h0m0s`, in milliseconds. */
function readDuration(text: string): number {
  const units: Readonly<Record<string, number>> = { h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 };
  return [...text.matchAll(/([\d.]+)(ms|h|m|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0),
    0,
  );
}

/** A name in InfluxQL. */
function quoteName(name: string): string {
  return `"${name.replaceAll(/(["\\])/g, '\\$1').replaceAll('\n', '\\n')}"`;
}
