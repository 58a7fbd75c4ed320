/** Simulated Better Stack page: `/index.json` in JSON:API. */
import { asHtml, isoTime, jsonDocument, type Render, stableId } from './render.ts';
import type { Vendor, VendorState } from './script.ts';

const WORDS = { minor: 'degraded', major: 'downtime', critical: 'downtime' } as const;
const SECTION = '11';

/** Writes a Better Stack page. */
export const renderBetterStack: Render = (vendor, state, now, baseUrl) => {
  const reports = [...viewIncidents(vendor, state), ...viewMaintenances(vendor, state)];
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const running = state.maintenances.some(({ state }) => state === 'running');
  const calm = running ? 'maintenance' : 'operational';
  const worst = open.some(({ severity }) => severity !== 'minor') ? 'downtime' : 'degraded';
  const document = {
    data: {
      id: stableId('page', vendor.slug),
      type: 'status_page',
      attributes: {
        company_name: vendor.name,
        company_url: baseUrl,
        aggregate_state: open.length > 0 ? worst : calm,
        timezone: 'UTC',
        updated_at: isoTime(now),
        announcement: null,
      },
    },
    included: [
      { id: SECTION, type: 'status_page_section', attributes: { name: 'Everything', position: 0 } },
      ...vendor.components.map((name) => ({
        id: resourceId(vendor, name),
        type: 'status_page_resource',
        attributes: {
          public_name: name,
          status: open.some(({ components }) => components.includes(name)) ? worst : 'operational',
          status_page_section_id: Number(SECTION),
          availability: 0.999,
        },
      })),
      ...reports,
    ],
  };
  return new Map([['/index.json', jsonDocument(document)]]);
};

function viewIncidents(vendor: Vendor, { incidents }: VendorState) {
  return incidents.flatMap(({ number, title, severity, components, startedAt, resolvedAt, updates }) => [
    {
      id: String(number),
      type: 'status_report',
      attributes: {
        title,
        report_type: 'manual',
        starts_at: isoTime(startedAt),
        // Often null, even in resolved reports.
        ends_at: number % 2 === 0 && resolvedAt !== null ? isoTime(resolvedAt) : null,
        aggregate_state: resolvedAt === null ? WORDS[severity] : 'resolved',
        affected_resources: components.map((name) => ({
          status_page_resource_id: resourceId(vendor, name),
          status: resolvedAt === null ? WORDS[severity] : 'resolved',
        })),
      },
      relationships: {
        status_updates: {
          data: updates.map((_, index) => ({ id: updateId(number, index), type: 'status_update' })),
        },
      },
    },
    ...updates.map(({ at, status, text }, index) => ({
      id: updateId(number, index),
      type: 'status_update',
      attributes: {
        message: asHtml(text),
        published_at: isoTime(at),
        affected_resources: components.map((name) => ({
          status_page_resource_id: resourceId(vendor, name),
          status: status === 'resolved' ? 'resolved' : WORDS[severity],
        })),
      },
    })),
  ]);
}

function viewMaintenances(vendor: Vendor, { maintenances }: VendorState) {
  return maintenances.flatMap(({ number, title, text, components, announcedAt, startsAt, endsAt, state }) => {
    const affected = components.map((name) => ({
      status_page_resource_id: resourceId(vendor, name),
      status: 'maintenance',
    }));
    const announced = { at: announcedAt, message: asHtml(text) };
    const updates =
      state === 'done' ? [announced, { at: endsAt, message: 'Maintenance ended' }] : [announced];
    return [
      {
        id: String(number),
        type: 'status_report',
        attributes: {
          title,
          report_type: 'maintenance',
          starts_at: isoTime(startsAt),
          ends_at: isoTime(endsAt),
          aggregate_state: state === 'done' ? 'resolved' : 'maintenance',
          affected_resources: affected,
        },
        relationships: {
          status_updates: {
            data: updates.map((_, index) => ({ id: updateId(number, index), type: 'status_update' })),
          },
        },
      },
      ...updates.map(({ at, message }, index) => ({
        id: updateId(number, index),
        type: 'status_update',
        attributes: { message, published_at: isoTime(at), affected_resources: [] },
      })),
    ];
  });
}

function resourceId({ components }: Vendor, name: string): string {
  return String(900 + components.indexOf(name));
}

function updateId(report: number, index: number): string {
  return String(report * 10 + index);
}
