/** What a configuration of Gatus lists. Pure. */
import { readGatusEndpoint, readGatusExternal, readGatusSections } from './gatus.ts';
import { type ListedEndpoint, readGatusAlerts, readGatusMaintenances } from './gatus-alerts.ts';
import { splitEndpoint, unsetIn, withTexts } from './gatus-rows.ts';
import type { ImportReading, NotCarried } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  listOf,
  type Row,
  type SkippedEntry,
  withOwnName,
} from './listed-service.ts';

/** Reads a configuration. `texts`: the same with all of its values as texts. */
export function readGatusFile(root: Row, texts: Row, now: number): ImportReading {
  const endpoints: ListedEndpoint[] = [];
  const skipped: SkippedEntry[] = [];
  const notCarried: NotCarried[] = readGatusSections(root).map((lost) => ({ entry: 'the file', ...lost }));
  const names = new Set<string>();
  const add = (row: Row, index: number, read: (row: Row) => EntryReading) => {
    const entry = asText(row.name) ?? asText(row.url) ?? `entry ${index + 1}`;
    const unset = unsetIn(row);
    const reading: EntryReading = unset.length > 0 ? { problem: describeUnset(unset) } : read(row);
    if ('problem' in reading) skipped.push({ entry, reason: reading.problem });
    else {
      endpoints.push({ row, service: withOwnName(reading.service, names) });
      for (const lost of reading.lost) notCarried.push({ entry, ...lost });
    }
  };
  const rowsOf = (section: string) => {
    const sectionTexts = listOf(texts[section]);
    return (listOf(root[section]) ?? []).map((row, index) =>
      withTexts(asRow(row), asRow(sectionTexts?.[index])),
    );
  };
  for (const [index, row] of rowsOf('endpoints').entries())
    for (const part of splitEndpoint(row)) add(part, index, readGatusEndpoint);
  for (const [index, row] of rowsOf('external-endpoints').entries()) add(row, index, readGatusExternal);
  for (const [index, suite] of (listOf(root.suites) ?? []).entries())
    skipped.push({
      entry: asText(asRow(suite).name) ?? `suite ${index + 1}`,
      reason: 'it is a suite of requests, and a check makes one',
    });
  const losses = {
    skip: (entry: string, reason: string) => void skipped.push({ entry, reason }),
    lose: (entry: string, field: string, reason: string) => void notCarried.push({ entry, field, reason }),
  };
  const items = [
    ...readGatusAlerts(asRow(root.alerting), endpoints, losses),
    ...readGatusMaintenances(root, endpoints, now, losses),
  ];
  return { format: 'gatus', services: endpoints.map(({ service }) => service), items, skipped, notCarried };
}

function describeUnset(variables: readonly string[]): string {
  return `it needs the environment variable ${variables.join(', ')}, which is not set`;
}
