/** Simulated Google dashboard: `/incidents.json`, an archive with texts in Markdown. */
import { asMarkdown, jsonDocument, newestOf, offsetTime, type Render, stableId } from './render.ts';
import type { ToldUpdate, Vendor, VendorIncident } from './script.ts';

const IMPACTS = {
  minor: 'SERVICE_INFORMATION',
  major: 'SERVICE_OUTAGE',
  critical: 'SERVICE_OUTAGE',
} as const;
const SEVERITIES = { minor: 'low', major: 'medium', critical: 'high' } as const;
const LOCATIONS = [{ title: 'Iowa (us-central1)', id: 'us-central1' }];

/** Writes a Google dashboard. */
export const renderGcp: Render = (vendor, state) => {
  const incidents = state.incidents.map((incident) => viewIncident(vendor, incident));
  return new Map([['/incidents.json', jsonDocument(incidents)]]);
};

function viewIncident(vendor: Vendor, incident: VendorIncident) {
  const { id, number, title, severity, components, startedAt, resolvedAt, updates } = incident;
  const newest = newestOf(updates);
  const told = updates.toReversed().map((update) => viewUpdate(update, severity));
  return {
    id,
    number: String(number),
    begin: time(startedAt),
    created: time(updates[0]?.at ?? startedAt),
    ...(resolvedAt === null ? {} : { end: time(resolvedAt) }),
    modified: time(newest.at),
    external_desc: `**Title:**\n${title}\n\n${asMarkdown('More in the updates below.')}`,
    updates: told,
    most_recent_update: told[0],
    status_impact: IMPACTS[severity],
    severity: SEVERITIES[severity],
    service_key: components.length === 1 ? stableId(vendor.slug, components[0] ?? '') : 'zall',
    service_name: components.length === 1 ? components[0] : 'Multiple Products',
    affected_products: components.map((name) => ({
      title: name,
      id: stableId(vendor.slug, name),
      current_title: name,
    })),
    uri: `incidents/${id}`,
    currently_affected_locations: resolvedAt === null ? LOCATIONS : [],
    previously_affected_locations: resolvedAt === null ? [] : LOCATIONS,
  };
}

function viewUpdate({ at, status, text }: ToldUpdate, severity: VendorIncident['severity']) {
  return {
    created: time(at),
    modified: time(at),
    when: time(at),
    text: asMarkdown(text),
    status: status === 'resolved' ? 'AVAILABLE' : IMPACTS[severity],
    affected_locations: status === 'resolved' ? [] : LOCATIONS,
  };
}

/** Whole seconds with an offset. */
function time(at: number): string {
  return offsetTime(at, 0);
}
