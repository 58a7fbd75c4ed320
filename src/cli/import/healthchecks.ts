/** Reads checks of Healthchecks: the list of its API, versions 1 to 3. */
import { UUID_FORM } from '../../domain/heartbeat/heartbeat-rules.ts';
import { readSchedule } from '../../domain/heartbeat/heartbeat-schedule.ts';
import { Collection, type DocumentReader, WHOLE_FILE } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  isEmpty,
  type LostField,
  listHeartbeat,
  lostIf,
  namesIn,
  quote,
  type Row,
  textOf,
  withNote,
} from './listed-service.ts';

/** A list of checks with their grace times. */
export const healthchecks: DocumentReader = {
  expected: '"checks" with "grace" (Healthchecks)',
  recognises: ({ checks }) =>
    Array.isArray(checks) &&
    checks.length > 0 &&
    checks.map(asRow).every((row) => 'grace' in row && ('timeout' in row || 'schedule' in row)),
  read({ root }) {
    const found = new Collection();
    for (const { field, reason } of findLost(root, (one) => one === 'checks', {}))
      found.lose(WHOLE_FILE, field, reason);
    for (const [index, given] of (root.checks as readonly unknown[]).entries()) {
      const row = asRow(given);
      const name = textOf(row.name) ?? textOf(row.slug) ?? `check ${index + 1}`;
      found.add(name, row, readCheck(row, name));
    }
    return found.reading('healthchecks');
  },
};

/** Fields that say what has been, or where the API is. */
const KNOWN = namesIn(`
  name slug tags desc timeout grace schedule tz status started n_pings last_ping last_duration next_ping
  ping_url update_url pause_url resume_url unique_key uuid badge_url manual_resume
`);
const REASONS: Readonly<Record<string, string>> = {
  methods: 'a heartbeat address takes every method',
  channels: 'the file names no receivers: add channels and a rule (docs/alerts.md)',
  start_kw: 'heartbeats are requests, not letters',
  success_kw: 'heartbeats are requests, not letters',
  failure_kw: 'heartbeats are requests, not letters',
  subject: 'heartbeats are requests, not letters',
  subject_fail: 'heartbeats are requests, not letters',
  filter_subject: 'heartbeats are requests, not letters',
  filter_body: 'heartbeats are requests, not letters',
  filter_http_body: 'the path of a request says what it reports, not its body',
  filter_default_fail: 'the path of a request says what it reports, not its body',
};
const UUID = new RegExp(`${UUID_FORM}$`, 'i');

function readCheck(row: Row, name: string): EntryReading {
  const token = UUID.exec(asText(row.ping_url) ?? asText(row.uuid) ?? '')?.[0] ?? null;
  const paused = row.status === 'paused';
  const cron = asText(row.schedule);
  const schedule = cron === null ? null : readSchedule(cron, asText(row.tz) ?? 'UTC');
  if (schedule?.ok === false)
    return {
      problem: `its schedule ${quote(`${cron} (${asText(row.tz) ?? 'UTC'})`)} is no cron expression here`,
    };
  const periodMs = schedule === null ? Number(row.timeout) * 1_000 : null;
  if (periodMs !== null && !(periodMs > 0)) return { problem: 'it has neither a period nor a schedule' };
  const lost: LostField[] = [
    {
      field: 'ping_url',
      reason:
        token === null
          ? 'senders need the address of the service here (docs/heartbeats.md)'
          : 'senders need the host of this site before the same UUID (docs/compatible.md)',
    },
    ...lostIf(
      !isEmpty(row.manual_resume),
      'manual_resume',
      'a ping at an address of Healthchecks resumes a paused service',
    ),
    ...findLost(row, (field) => KNOWN.has(field), REASONS),
  ];
  const tags = (asText(row.tags) ?? '').split(/\s+/).filter((tag) => tag !== '');
  const reading = listHeartbeat(
    name,
    'check',
    {
      paused,
      periodMs,
      graceMs: Number(row.grace) > 0 ? Number(row.grace) * 1_000 : null,
      schedule: schedule?.schedule ?? null,
      pushToken: token,
    },
    lost,
  );
  return withNote(reading, [asText(row.desc) ?? '', tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`]);
}
