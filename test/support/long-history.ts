/**
 * A registry that has run for 30 days: 40,000 transitions, 20,000 deliveries of 80 webhooks, and the rest in proportion. With so
 * many rows, the planners choose what they choose with millions. A little of everything waits, so that whatever the program runs
 * by itself has something to do.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/durations.ts';
import { COUNTS_FACT, type DeliveryCounts } from '../../src/store/registry/incidents/webhook-rows.ts';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';
import { channelOf, messageOf, ruleOf } from '../store/alert-fixtures.ts';
import { owned } from '../store/registry-fixtures.ts';

const ACCOUNTS = 8;
const SERVICES = 80;
const WEBHOOKS = 80;
const CHANNELS = 16;
/** Largest number of rows of a table. */
export const MAX_ROWS = 40_000;

/** Adds what needs the program's own hand: accounts, services, and what holds secrets. */
export async function addOwners(registry: RegistryMethods, now: number): Promise<void> {
  for (let n = 0; n < ACCOUNTS; n++) {
    const { id: accountId } = await registry.ensureAccount(`account ${n}`, now);
    const each = (count: number) => Array.from({ length: count / ACCOUNTS }, (_, index) => `${n}-${index}`);
    await registry.addServices(each(SERVICES).map((name) => owned(`s${name}.example`, accountId)));
    for (const name of each(WEBHOOKS))
      await registry.addWebhook({
        ...{ accountId, url: `https://h${name}.example/`, secret: 'whsec_c2VjcmV0', createdAt: now },
      });
    const channels: number[] = [];
    for (const name of each(CHANNELS))
      channels.push((await registry.addChannel(channelOf(accountId, name))).id);
    await registry.addRule(ruleOf(accountId, channels));
  }
  for (let n = 1; n <= 5; n++)
    await registry.requestSubscription({
      ...{ topic: `service:${n}`, address: `reader${n}@example.com`, language: 'en', now },
    });
}

/** The rows of a table: how many, and the columns of the one with the number `n`, from 1. */
interface History {
  readonly rows: number;
  readonly columns: Readonly<Record<string, string>>;
}

/** The history of each long table, whose age goes back for `spanMs` from `now`. */
function describeHistory(now: number): Readonly<Record<string, History>> {
  const ago = (spanMs: number, rows: number) => `${now - spanMs} + n * ${Math.floor(spanMs / rows)}`;
  const month = (rows: number) => ago(30 * DAY_MS - HOUR_MS, rows);
  const service = `1 + n % ${SERVICES}`;
  const message = `'${JSON.stringify(messageOf('thread'))}'`;
  const change = `'${JSON.stringify({ type: 'status', from: 'up', to: 'down', reason: null })}'`;
  const waits = (rows: number, waiting: number) => `n > ${rows - waiting}`;
  return {
    transitions: {
      rows: MAX_ROWS,
      columns: {
        ...{
          position: 'n',
          service_id: `1 + (n - 1) / ${MAX_ROWS / SERVICES}`,
          seq: `1 + (n - 1) % ${MAX_ROWS / SERVICES}`,
          from_status: "'up'",
        },
        ...{ to_status: "'down'", at: month(MAX_ROWS), recorded_at: month(MAX_ROWS) },
      },
    },
    deliveries: {
      rows: 20_000,
      columns: {
        ...{ message: "'msg_' || n", webhook_id: `1 + n % ${WEBHOOKS}`, type: "'service.status_changed'" },
        ...{ body: "'{}'", created_at: month(20_000), delivered_at: month(20_000), attempts: '1' },
        // Two of each webhook are due, and others wait for their next attempt.
        due_at: `CASE WHEN ${waits(20_000, 160)} THEN ${now} WHEN ${waits(20_000, 1_200)} THEN ${now + HOUR_MS} END`,
      },
    },
    incidents: {
      rows: 10_000,
      columns: {
        ...{ id: "'own-' || n", service_id: service, source: "'own'", title: "'down'", description: "''" },
        ...{
          severity: "'major'",
          started_at: month(10_000),
          source_url: "''",
          good_checks: '3',
          updates: "'[]'",
        },
        status: `CASE WHEN ${waits(10_000, 50)} THEN 'investigating' ELSE 'resolved' END`,
        resolved_at: `CASE WHEN ${waits(10_000, 50)} THEN NULL ELSE ${month(10_000)} END`,
        ...{ listed: '1', verified: '0' },
      },
    },
    alert_messages: {
      rows: 10_000,
      columns: {
        ...{ key: "'msg_' || n", channel_id: `1 + n % ${CHANNELS}`, turn: 'n', thread: "'thread-' || n" },
        ...{ type: "'alert'", message, failed_at: month(10_000), created_at: month(10_000) },
        due_at: `CASE WHEN ${waits(10_000, 80)} THEN ${now} END`,
        // Some could not be delivered.
        delivered_at: `CASE WHEN ${waits(10_000, 80)} OR n % 499 = 0 THEN NULL ELSE ${month(10_000)} END`,
        problem: `CASE WHEN n % 499 = 0 THEN '{"code":"mail_refused","text":"451"}' END`,
      },
    },
    alert_threads: {
      rows: 10_000,
      columns: {
        ...{ channel_id: `1 + n % ${CHANNELS}`, thread: "'thread-' || n", reference: "'{}'" },
        updated_at: month(10_000),
      },
    },
    alert_acknowledgements: {
      rows: 10_000,
      columns: {
        ...{ account_id: `1 + n % ${ACCOUNTS}`, thread: "'thread-' || n", by_name: "''" },
        ...{ at: month(10_000), decided: '1' },
      },
    },
    subscriptions: {
      rows: 10_000,
      columns: {
        ...{
          topic: `'service:' || (${service})`,
          mailbox: "'mailbox ' || n",
          address: "''",
          language: "'en'",
        },
        ...{ sha256: "'sha ' || n", secret: "''", created_at: month(10_000), confirmed_at: month(10_000) },
      },
    },
    subscription_changes: {
      rows: 10_000,
      columns: {
        ...{ service_id: service, at: ago(20 * HOUR_MS, 10_000), recorded_at: ago(20 * HOUR_MS, 10_000) },
        ...{ change, written: '1' },
      },
    },
    letters: {
      // No more of them are written ahead.
      rows: 200,
      columns: {
        ...{ subscription_id: '5 + n', change_id: 'n', attempts: '1', due_at: String(now + HOUR_MS) },
      },
    },
    letter_counts: {
      rows: 10_000,
      columns: { name: "'name ' || n", day: String(Math.floor(now / DAY_MS)), count: '1' },
    },
    heartbeat_inbox: {
      rows: 20_000,
      columns: {
        ...{ kind: "'beat'", account_id: '1', arrived_at: ago(5 * MINUTE_MS, 20_000), body: "'{}'" },
        answer: `'{"kind":"refused","code":"","message":""}'`,
      },
    },
    maintenances: {
      rows: 10_000,
      columns: {
        ...{ id: "'m-' || n", service_id: service, title: "''", description: "''", starts_at: month(10_000) },
        ...{ ends_at: month(10_000), told: "'done'", phase: "'ended'", source_url: "''", updates: "'[]'" },
        owner_id: 'CASE WHEN n % 2 = 0 THEN n END',
      },
    },
    owner_incidents: {
      rows: 10_000,
      columns: {
        ...{ account_id: `1 + n % ${ACCOUNTS}`, title: "'late'", severity: "'minor'", status: "'resolved'" },
        ...{ started_at: month(10_000), resolved_at: month(10_000), services: "'[]'", pages: "'[]'" },
        ...{ updates: "'[]'", site_url: "''", revision: '1', created_at: '0', updated_at: '0' },
      },
    },
    owner_maintenances: {
      // All of them are of pages, and over; some recur.
      rows: 10_000,
      columns: {
        ...{ account_id: `1 + n % ${ACCOUNTS}`, title: "''", markdown: "''", plain: "''", services: "'[]'" },
        ...{ pages: "'[1]'", changes: "'[]'", site_url: "''", starts_at: ago(400 * DAY_MS, 10_000) },
        ...{ duration_ms: '60000', time_zone: "'UTC'", revision: '1', created_at: '0', updated_at: '0' },
        recurrence: "CASE WHEN n % 500 = 0 THEN 'FREQ=DAILY;COUNT=2' END",
      },
    },
    owner_updates: {
      rows: 10_000,
      columns: {
        ...{ incident_id: 'n', place: '1', at: month(20_000), status: "'resolved'", markdown: "''" },
        plain: "''",
      },
    },
    vendor_entries: {
      rows: 10_000,
      columns: {
        ...{ service_id: service, feed: "'feed'", entry: "'entry ' || n", id: "'vendor-' || n" },
        ...{ document: "'document'", kind: "'incident'", open: '0' },
      },
    },
    changes: { rows: 10_000, columns: { seq: `${SERVICES} + n`, service_id: service, slug: "'s'" } },
    account_notices: {
      rows: 10_000,
      columns: { account_id: `1 + n % ${ACCOUNTS}`, at: month(10_000), text: "''" },
    },
  };
}

/** The tables that no statement may read as a whole. */
export const LONG_TABLES: ReadonlySet<string> = new Set(
  Object.entries(describeHistory(0)).flatMap(([table, { rows }]) => (rows >= 10_000 ? [table] : [])),
);

/** Statements that write the history; `numbers` is a table of the numbers from 1 to `MAX_ROWS`. */
export function historyStatements(now: number): string[] {
  const tables = Object.entries(describeHistory(now)).map(([table, { rows, columns }]) => {
    const [names, values] = [Object.keys(columns).join(', '), Object.values(columns).join(', ')];
    return `INSERT INTO ${table} (${names}) SELECT ${values} FROM numbers WHERE n <= ${rows}`;
  });
  const seq = MAX_ROWS / SERVICES + 2;
  const { deliveries } = describeHistory(now);
  const counted: DeliveryCounts = {
    upTo: (deliveries?.rows ?? 0) - 100,
    counts: Object.fromEntries(Array.from({ length: WEBHOOKS }, (_, n) => [n + 1, 300])),
  };
  return [
    ...tables,
    'DELETE FROM current',
    `INSERT INTO current (service_id, seq, observed_at, status, since)
     SELECT n, ${seq}, ${now}, 'up', ${now} FROM numbers WHERE n <= ${SERVICES}`,
    `INSERT INTO facts (name, value) VALUES ('${COUNTS_FACT}', '${JSON.stringify(counted)}')`,
  ];
}
