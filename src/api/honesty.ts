/** `GET /api/v1/honesty`: how long vendors take to report outages. */
import { formatTime, formatTimeOrNull } from '../domain/durations.ts';
import { type HonestyFigures, MIN_RANKED_OUTAGES } from '../domain/incident/honesty.ts';
import { enumParameter, limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { json, type Route } from '../http/route.ts';
import { listOf, namedObject, nullable, PAGE_MEMBERS, TimeSchema, whole } from '../http/schema.ts';
import { strictObject, Type } from '../json-schema.ts';
import { HONESTY_WINDOWS, type HonestVendor, type ReadHonesty } from '../view/honesty.ts';
import { readRoute } from './read-route.ts';
import { ServiceNameSchema, viewServiceName } from './service-view.ts';

/** Maximum number of outages that a vendor is listed with. */
const MAX_ENTRIES = 20;
const QUERY = {
  window: enumParameter(HONESTY_WINDOWS, 'How far back it looks.', '90d'),
  limit: limitParameter(50, 100),
  offset: OFFSET_PARAMETER,
};

const FIGURES = {
  outages: whole('Outages that count.'),
  acknowledged: whole('Of these, those that the vendor has an entry about.'),
  never_acknowledged: whole('Of these, those that the vendor has no entry about.'),
  median_seconds: nullable(
    Type.Number(),
    'Half of all outages were acknowledged within this time after our first failed check; null where fewer than half were.',
  ),
  worst_seconds: nullable(Type.Number(), 'The longest known time; null where none is known.'),
};

/** The time that vendors take to report outages. */
export const HonestySchema = namedObject('Honesty', {
  window: Type.Unsafe<string>({ type: 'string', examples: ['90d'] }),
  from: TimeSchema,
  to: TimeSchema,
  all: strictObject(FIGURES),
  min_ranked_outages: whole('A vendor of fewer outages has no rank.'),
  vendors: listOf('By rank; then those without one, by their number of outages.', {
    rank: nullable(Type.Integer({ minimum: 1 }), '1 is the quickest; null: too few outages.'),
    name: Type.String({ description: "The shortest name among the services of the vendor's status page." }),
    url: Type.String({ description: 'The status page.' }),
    ...FIGURES,
    unread_seconds: Type.Number({
      description: 'Time of the window in which the page could not be read. Outages in it do not count.',
    }),
    unread_since: nullable(TimeSchema, 'Since when the page cannot be read; null: it can.'),
    entries: listOf(`The newest ${MAX_ENTRIES} outages, newest first.`, {
      incident_id: Type.String({ description: 'Our own incident.' }),
      service: ServiceNameSchema,
      started_at: TimeSchema,
      acknowledged_at: nullable(TimeSchema, 'When the vendor published its first entry.'),
      lag_seconds: nullable(Type.Number(), 'Negative: the vendor was first.'),
    }),
  }),
  total: whole('Vendors with at least one outage that counts.'),
  ...PAGE_MEMBERS,
});

export function honestyRoute(readHonesty: ReadHonesty): Route {
  return readRoute({
    path: '/api/v1/honesty',
    id: 'getHonesty',
    tag: 'Incidents',
    summary: 'Compare how long vendors take to report outages',
    description:
      'Over the services of the catalogue whose status page is read. An outage counts if at least two checks in a row by schedule have failed; maintenance does not. Outages of one vendor that begin within an hour of each other are one while the first lasts. An outage is acknowledged by an entry that the vendor published between an hour before it and an hour after its end; before that hour has passed, only acknowledged ones count. None counts if the page could not be read at some time until then. Figures are at most ten minutes old.',
    query: QUERY,
    answer: HonestySchema,
    async handle(request) {
      const { window, limit, offset } = readParameters(request.query, QUERY);
      const { from, to, vendors, all } = await readHonesty(window);
      return json({
        window,
        from: formatTime(from),
        to: formatTime(to),
        all: viewFigures(all),
        min_ranked_outages: MIN_RANKED_OUTAGES,
        vendors: vendors.slice(offset, offset + limit).map(viewVendor),
        total: vendors.length,
        limit,
        offset,
      });
    },
  });
}

function viewVendor(vendor: HonestVendor) {
  const { rank, name, url, unreadMs, unreadSince, entries } = vendor;
  return {
    rank,
    name,
    url,
    ...viewFigures(vendor),
    unread_seconds: unreadMs / 1_000,
    unread_since: formatTimeOrNull(unreadSince),
    entries: entries
      .slice(0, MAX_ENTRIES)
      .map(({ incidentId, service, startedAt, acknowledgedAt, lagMs }) => ({
        incident_id: incidentId,
        service: viewServiceName(service),
        started_at: formatTime(startedAt),
        acknowledged_at: formatTimeOrNull(acknowledgedAt),
        lag_seconds: seconds(lagMs),
      })),
  };
}

function viewFigures({ outages, acknowledged, medianMs, worstMs }: HonestyFigures) {
  return {
    outages,
    acknowledged,
    never_acknowledged: outages - acknowledged,
    median_seconds: seconds(medianMs),
    worst_seconds: seconds(worstMs),
  };
}

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);
