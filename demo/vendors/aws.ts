/** Simulated AWS Health dashboard: `/public/currentevents`, in big-endian UTF-16 with a byte order mark. */
import { newestOf, type Render } from './render.ts';
import type { Vendor, VendorIncident } from './script.ts';

const STATUS = { minor: 1, major: 2, critical: 3 } as const;
const RESOLVED = 0;
/** A resolved event stays in the list for this time. */
const LISTED_MS = 30_000;
const REGION = 'eu-west-1';

/** The region of all simulated events. */
export const AWS_REGION_NAME = 'Ireland';

/** Path of the document. */
export const AWS_PATH = '/public/currentevents';

/** Writes the AWS Health dashboard. */
export const renderAws: Render = (vendor, state, now) => {
  const events = state.incidents
    .filter(({ resolvedAt }) => resolvedAt === null || now < resolvedAt + LISTED_MS)
    .map((incident) => viewEvent(vendor, incident));
  const document = {
    contentType: 'application/json;charset=utf-16',
    body: Buffer.from(`\uFEFF${JSON.stringify(events)}`, 'utf16le').swap16(),
  };
  return new Map([[AWS_PATH, document]]);
};

function viewEvent(
  vendor: Vendor,
  { id, title, severity, components, startedAt, resolvedAt, updates }: VendorIncident,
) {
  const name = components[0] ?? vendor.name;
  const service = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '')}-${REGION}`;
  const code = (status: string) => (status === 'resolved' ? RESOLVED : STATUS[severity]);
  const current = code(newestOf(updates).status);
  const summary = `${resolvedAt === null ? '' : '[RESOLVED] '}${title}`;
  return {
    date: String(seconds(startedAt)),
    arn: `arn:aws:health:${REGION}::event/${service.toUpperCase()}/ISSUE/${id}`,
    region_name: AWS_REGION_NAME,
    status: String(current),
    service,
    service_name: name,
    summary,
    event_log: updates.map(({ at, status, text }) => ({
      summary: `${status === 'resolved' ? '[RESOLVED] ' : ''}${title}`,
      message: text,
      status: code(status),
      timestamp: seconds(at),
    })),
    impacted_services: {
      [service]: { service_name: name, current: String(current), max: String(STATUS[severity]) },
    },
    impacted_service_status_changes: [],
    ...(resolvedAt === null ? {} : { end_time: String(seconds(resolvedAt)) }),
  };
}

function seconds(at: number): number {
  return Math.floor(at / 1_000);
}
