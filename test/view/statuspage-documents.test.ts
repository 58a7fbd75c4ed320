/** What a page shows as Statuspage writes it: our own reader of Statuspage finds all of it there. */
import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { INCIDENT_STATUSES } from '../../src/domain/incident/incident.ts';
import { OWNER_SEVERITIES } from '../../src/domain/incident/owner-incident.ts';
import type { PageStanding } from '../../src/domain/status/outage-verdict.ts';
import { statuspage } from '../../src/feeds/kinds/statuspage.ts';
import {
  createStatuspageWriter,
  type ShownComponent,
  type ShownIncident,
  type ShownMaintenance,
  type ShownPage,
} from '../../src/view/statuspage-documents.ts';
import { readDocuments } from '../feeds/kinds/read-document.ts';
import { propertyRuns } from '../support/property-runs.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const HOUR = 3_600_000;
const URL_OF_PAGE = 'https://upbeat.test/p/acme';

function component(
  serviceId: number,
  standing: PageStanding,
  more: Partial<ShownComponent> = {},
): ShownComponent {
  const name = `Service ${serviceId}`;
  return {
    ...{ id: `s${serviceId}`, serviceId, name, description: `s${serviceId}.example`, standing },
    ...{ isPartial: false, createdAt: NOW - HOUR, updatedAt: NOW - HOUR },
    ...more,
  };
}

function page(components: readonly ShownComponent[], more: Partial<ShownPage> = {}): ShownPage {
  return {
    ...{ id: 'acme', name: 'Acme', url: URL_OF_PAGE, createdAt: NOW - HOUR, updatedAt: NOW - HOUR },
    ...{ groups: [{ name: '', components }], reported: null, inMaintenance: false },
    ...more,
  };
}

t.test('the status is the worst of what checks see and what the owner reports', async (t) => {
  const up = component(1, 'up');
  const cases: readonly (readonly [ShownPage, indicator: string, description: string])[] = [
    [page([]), 'none', 'All Systems Operational'],
    [page([up, component(2, 'unknown'), component(3, 'paused')]), 'none', 'All Systems Operational'],
    [page([up, component(2, 'maintenance')]), 'maintenance', 'Service Under Maintenance'],
    [page([up], { inMaintenance: true }), 'maintenance', 'Service Under Maintenance'],
    [page([up, component(2, 'slow')], { inMaintenance: true }), 'minor', 'Partially Degraded Service'],
    [page([component(1, 'up', { isPartial: true })]), 'minor', 'Minor Service Outage'],
    [page([up], { reported: 'minor' }), 'minor', 'Minor Service Outage'],
    [page([up, component(2, 'down')], { reported: 'minor' }), 'major', 'Partial System Outage'],
    [page([up], { reported: 'major' }), 'major', 'Partial System Outage'],
    [page([component(1, 'down'), component(2, 'paused')]), 'critical', 'Major System Outage'],
    [page([up], { reported: 'critical' }), 'critical', 'Major System Outage'],
  ];
  for (const [shown, indicator, description] of cases)
    t.strictSame(createStatuspageWriter(shown).status, { indicator, description });
});

t.test('components have the status, the place and the group of their services', async (t) => {
  const [first, second, third] = [component(1, 'up'), component(2, 'down'), component(3, 'slow')];
  const shown = page([], {
    groups: [
      { name: '', components: [first] },
      { name: 'Web', components: [second, third] },
      { name: 'Web', components: [] },
    ],
  });
  const { components } = createStatuspageWriter(shown);
  t.match(components, [
    { id: 's1', status: 'operational', position: 1, group_id: null, group: false },
    { name: 'Web', status: 'major_outage', position: 2, group: true, components: ['s2', 's3'] },
    { id: 's2', status: 'major_outage', position: 1, group_id: components[1]?.id, group: false },
    { id: 's3', status: 'degraded_performance', position: 2, group_id: components[1]?.id },
    { name: 'Web', status: 'operational', position: 3, group: true, components: [] },
  ]);
  t.equal(new Set(components.map(({ id }) => id)).size, 5);
});

/** Lines of text. Our reader replaces what a browser would take for a tag. */
const text = fc.stringMatching(/^[A-Za-z&"'][ -~\n]{0,80}[A-Za-z>&"']$/).map((one) =>
  one
    .replace(/\s*\n\s*/g, '\n')
    .replace(/ +/g, ' ')
    .replace(/<(?=[A-Za-z/!?])/g, '< '),
);
const title = fc.stringMatching(/^[A-Za-z][!#-%'-;=?-~]{0,40}$/);
/** Times of one incident, in order. */
const times = fc.uniqueArray(fc.integer({ min: NOW - 300 * 24 * HOUR, max: NOW }), {
  minLength: 4,
  maxLength: 8,
});
const serviceIds = fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1 });

const incidents = fc.array(
  fc.record({
    ...{ title, times, serviceIds },
    texts: fc.array(text, { minLength: 8, maxLength: 8 }),
    statuses: fc.array(fc.constantFrom(...INCIDENT_STATUSES.slice(0, 3)), { minLength: 8, maxLength: 8 }),
    severity: fc.constantFrom(...OWNER_SEVERITIES),
    ...{ isOwn: fc.boolean(), isOver: fc.boolean() },
  }),
  { maxLength: 4 },
);

const maintenances = fc.array(
  fc.record({
    ...{ title, serviceIds, text },
    state: fc.constantFrom('scheduled' as const, 'in_progress' as const, 'completed' as const),
    hours: fc.integer({ min: 2, max: 48 }),
  }),
  { maxLength: 4 },
);

type Drawn<Many> = Many extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

function incidentOf(drawn: Drawn<typeof incidents>, index: number): ShownIncident {
  const { title, serviceIds, texts, statuses, severity, isOwn, isOver } = drawn;
  const [startedAt = NOW, ...at] = drawn.times.toSorted((a, b) => a - b);
  const updates = at.map((time, place) => ({
    at: time,
    status: isOver && place === at.length - 1 ? ('resolved' as const) : (statuses[place] ?? 'investigating'),
    text: texts[place] ?? '',
  }));
  const last = updates.at(-1);
  return {
    ...{
      id: `incident-${index}`,
      title,
      url: `${URL_OF_PAGE}/incidents/${index}`,
      serviceIds,
      updates,
      isOwn,
      severity,
    },
    ...{ startedAt, createdAt: at[0] ?? startedAt, updatedAt: last?.at ?? startedAt },
    ...{
      status: last?.status ?? 'investigating',
      resolvedAt: isOver ? (last?.at ?? null) : null,
      postMortem: null,
    },
  };
}

const STARTS = { scheduled: NOW + 24 * HOUR, in_progress: NOW - HOUR, completed: NOW - 72 * HOUR };

function maintenanceOf(drawn: Drawn<typeof maintenances>, index: number): ShownMaintenance {
  const { title, serviceIds, text, state, hours } = drawn;
  const startsAt = STARTS[state];
  const endsAt = startsAt + hours * HOUR;
  const createdAt = startsAt - 100 * HOUR;
  const updates = [
    { at: createdAt, status: 'identified' as const, text },
    ...(state === 'scheduled' ? [] : [{ at: startsAt, status: 'identified' as const, text }]),
    ...(state === 'completed' ? [{ at: endsAt, status: 'resolved' as const, text }] : []),
  ];
  return {
    ...{
      id: `work-${index}`,
      title,
      url: `${URL_OF_PAGE}/work/${index}`,
      serviceIds,
      updates,
      state,
      startsAt,
      endsAt,
    },
    ...{ createdAt, updatedAt: createdAt, resolvedAt: state === 'completed' ? endsAt : null },
  };
}

const ENTRY_STATES = { scheduled: 'planned', in_progress: 'running', completed: 'done' } as const;

t.test('our reader of Statuspage finds every component, incident, update and maintenance', async () => {
  const components = [component(1, 'up'), component(2, 'down'), component(3, 'slow')];
  const partsOf = (ids: readonly number[]) => ids.toSorted().flatMap((id) => [`Service ${id}`, `s${id}`]);
  fc.assert(
    fc.property(incidents, maintenances, (drawnIncidents, drawnMaintenances) => {
      const [said, planned] = [drawnIncidents.map(incidentOf), drawnMaintenances.map(maintenanceOf)];
      const { incident, maintenance, ...rest } = createStatuspageWriter(page(components));
      const top = { page: rest.page([...said, ...planned]) };
      const found = readDocuments(
        statuspage,
        {
          incidents: { ...top, incidents: said.map(incident) },
          'scheduled-maintenances': { ...top, scheduled_maintenances: planned.map(maintenance) },
        },
        { pageUrl: URL_OF_PAGE, feedUrl: null },
        NOW,
      );
      const byKey = new Map(found.map((entry) => [entry.key, entry]));
      for (const { id, title, url, serviceIds, updates, severity, status, startedAt, resolvedAt } of said) {
        const { continues: _, ...entry } = { continues: null, ...byKey.get(id) };
        deepStrictEqual(entry, {
          ...{
            kind: 'incident',
            key: id,
            title,
            sourceUrl: url,
            updates,
            severity,
            status,
            startedAt,
            resolvedAt,
          },
          components: partsOf(serviceIds),
        });
      }
      for (const { id, title, url, serviceIds, updates, state, startsAt, endsAt } of planned)
        deepStrictEqual(byKey.get(id), {
          ...{ kind: 'maintenance', key: id, title, sourceUrl: url, updates, startsAt, endsAt },
          ...{ components: partsOf(serviceIds), state: ENTRY_STATES[state] },
        });
      deepStrictEqual(byKey.size, said.length + planned.length);
    }),
    { numRuns: propertyRuns(60) },
  );
});

t.test(
  'an outage without an incident is read from the components, and one with an incident once',
  async (t) => {
    const {
      incident,
      page: top,
      components,
      status,
    } = createStatuspageWriter(page([component(1, 'up'), component(2, 'down')]));
    const own = incidentOf(
      {
        ...{ title: 'Service 2 is down', times: [NOW - HOUR, NOW], serviceIds: [2], texts: ['Down.'] },
        statuses: [],
        severity: 'major',
        isOwn: true,
        isOver: false,
      },
      1,
    );
    const read = (said: readonly ShownIncident[]) =>
      readDocuments(
        statuspage,
        {
          summary: {
            page: top(said),
            components,
            status,
            incidents: said.map(incident),
            scheduled_maintenances: [],
          },
        },
        { pageUrl: URL_OF_PAGE, feedUrl: null },
        NOW,
      );
    t.match(read([]), [
      { title: 'Partial System Outage', severity: 'major', components: ['Service 2', 's2'] },
    ]);
    t.match(read([own]), [{ key: 'incident-1' }]);
    t.equal(read([own]).length, 1);
  },
);

t.test('what our checks saw says how its components were', async (t) => {
  const { incident } = createStatuspageWriter(
    page([], { groups: [{ name: 'Web', components: [component(1, 'up')] }] }),
  );
  const statuses = ['investigating', 'monitoring', 'resolved'] as const;
  const own: ShownIncident = {
    ...incidentOf(
      {
        ...{ title: 'Down', times: [NOW], serviceIds: [1], texts: [] },
        statuses: [],
        severity: 'major',
        isOwn: true,
        isOver: true,
      },
      1,
    ),
    updates: statuses.map((status, index) => ({ at: NOW + index, status, text: '' })),
  };
  const affected = (from: string, to: string) => [
    { code: 's1', name: 'Web - Service 1', old_status: from, new_status: to },
  ];
  const [up, down] = ['operational', 'major_outage'];
  const { incident_updates: updates } = incident(own);
  t.match(updates, [
    { status: 'resolved', affected_components: affected(up, up) },
    { status: 'monitoring', affected_components: affected(down, up) },
    { status: 'investigating', affected_components: affected(up, down) },
  ]);
  t.match(incident({ ...own, isOwn: false }).incident_updates[0], { affected_components: { length: 0 } });
  const postMortem = { at: NOW + HOUR, text: 'A <disk> & a cable.' };
  const told = incident({ ...own, status: 'resolved', postMortem });
  t.match(told, {
    status: 'postmortem',
    monitoring_at: new Date(NOW + 1).toISOString(),
    incident_updates: { 0: { status: 'postmortem', body: 'A &lt;disk&gt; &amp; a cable.' } },
  });
  t.strictSame(
    told.incident_updates.slice(1).map(({ id }) => id),
    updates.map(({ id }) => id),
    'ids stay when an update is added',
  );
  const again = incident({
    ...own,
    status: 'identified',
    postMortem: { at: NOW + HOUR, text: 'Too early.' },
  });
  t.match([again.status, again.incident_updates.length], ['identified', updates.length], 'it is open again');
});

type Json = Readonly<Record<string, unknown>>;

/** The members of each object of a document, by what it is. */
function membersOf(summary: unknown): Readonly<Record<string, readonly string[]>> {
  const first = (parent: Json = {}, list: string, isFound = (_: Json) => true) =>
    (parent[list] as readonly Json[]).find(isFound);
  const top = summary as Json;
  const incident = first(top, 'incidents');
  const update = first(incident, 'incident_updates');
  const objects = {
    ...{ top, incident, update, page: top.page, status: top.status },
    maintenance: first(top, 'scheduled_maintenances'),
    affected: first(update, 'affected_components'),
    group: first(top, 'components', ({ group }) => group === true),
    component: first(top, 'components', ({ group }) => group === false),
    ofIncident: first(incident, 'components'),
  };
  return Object.fromEntries(
    Object.entries(objects).map(([name, one]) => [name, Object.keys(one as Json).sort()]),
  );
}

t.test('every object has the members of a summary that Statuspage served', async (t) => {
  const file = '../feeds/fixtures/recorded/statuspage.summary.cloudflare.json';
  const recorded = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
  const groups = [{ name: 'Web', components: [component(1, 'down')] }];
  const {
    page: top,
    components,
    status,
    incident,
    maintenance,
  } = createStatuspageWriter(page([], { groups }));
  const drawn = { title: 'Down', serviceIds: [1], texts: ['x'], times: [NOW - 1, NOW] };
  const said = incidentOf({ ...drawn, statuses: [], severity: 'major', isOwn: true, isOver: false }, 1);
  const planned = maintenanceOf({ ...drawn, text: 'x', state: 'scheduled', hours: 2 }, 1);
  const summary = {
    ...{ page: top([said]), components, status },
    ...{ incidents: [incident(said)], scheduled_maintenances: [maintenance(planned)] },
  };
  t.strictSame(membersOf(summary), membersOf(recorded));
});

t.test('documents stay small, however much is written', async (t) => {
  const { incident } = createStatuspageWriter(page([component(1, 'down')]));
  const update = (at: number) => ({ at, status: 'identified' as const, text: '<'.repeat(10_000) });
  const written = Array.from({ length: 50 }, (_, index) =>
    incident({
      ...incidentOf(
        {
          ...{ title: 'Down', times: [NOW], serviceIds: [1], texts: [] },
          statuses: [],
          severity: 'major',
          isOwn: true,
          isOver: false,
        },
        index,
      ),
      updates: Array.from({ length: 100 }, (_, place) => update(NOW + place)),
    }),
  );
  const [first, last] = [written[0], written.at(-1)];
  t.equal(first?.incident_updates.length, 100);
  t.equal(first?.incident_updates[0]?.body.length, 40_000, 'escaped');
  t.equal(first?.incident_updates[0]?.display_at, new Date(NOW + 99).toISOString());
  t.equal(last?.incident_updates.length, 3);
  t.equal(last?.incident_updates[0]?.body.length, 401, 'the beginning of each text');
  const bytes = Buffer.byteLength(JSON.stringify(written));
  t.ok(bytes < 2_000_000, `${bytes} bytes`);
});
