import t from 'tap';
import { salesforce } from '../../../src/feeds/kinds/salesforce.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const SOURCE = { pageUrl: 'https://status.salesforce.com', feedUrl: null };

function read(...instances: unknown[]) {
  return readDocument(salesforce, 'instances', instances, SOURCE).entries;
}

function withIncident(more: object) {
  const incident = { id: 1, createdAt: '2026-09-20T10:00:00Z', ...more };
  return read({ key: 'EU1', status: 'OK', Incidents: [incident], Maintenances: null });
}

function withMaintenance(more: object) {
  const maintenance = {
    id: 1,
    name: 'Release',
    plannedStartTime: '2026-09-20T10:00:00Z',
    plannedEndTime: '2026-09-20T11:00:00Z',
    ...more,
  };
  return read({ key: 'EU1', status: 'OK', Incidents: [], Maintenances: [maintenance] });
}

t.test('it asks the public address, or the one that the catalogue gives', async (t) => {
  const urls = (feedUrl: string | null) =>
    salesforce.addresses({ ...SOURCE, feedUrl }).map((address) => address.url);
  t.same(urls(null), ['https://api.status.salesforce.com/v1/instances']);
  t.same(urls('http://127.0.0.1:9001/v1/instances'), ['http://127.0.0.1:9001/v1/instances']);
});

t.test('it reads recorded instances, each incident once', async (t) => {
  t.same(readDocument(salesforce, 'instances', fixture('salesforce-instances'), SOURCE), {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'maintenance',
        key: 'maintenance 700123',
        title: "Winter '27 Major Release",
        sourceUrl: 'https://status.salesforce.com/maintenances/700123',
        components: ['EU5', 'coreService'],
        updates: [{ at: at('2026-03-01T00:00:00Z'), status: 'identified', text: 'Planned.' }],
        startsAt: at('2026-10-10T22:00:00Z'),
        endsAt: at('2026-10-10T22:05:00Z'),
        state: 'planned',
      },
      {
        kind: 'incident',
        key: 'incident 20000417',
        title: 'Service disruption',
        sourceUrl: 'https://status.salesforce.com/incidents/20000417',
        components: ['EU5', 'EU7', 'coreService', 'search'],
        updates: [
          { at: at('09:20'), status: 'investigating', text: 'We are investigating.' },
          { at: at('10:05'), status: 'identified', text: 'A database is overloaded.' },
        ],
        severity: 'major',
        status: 'identified',
        startedAt: at('09:05'),
        resolvedAt: null,
      },
    ],
  });
});

t.test('it maps every severity and type of impacts, the worst counts', async (t) => {
  for (const [impacts, severity] of [
    [[{ severity: 'minor' }], 'minor'],
    [[{ severity: 'major' }], 'major'],
    [[{ severity: 'critical' }], 'critical'],
    [[{ severity: 'minor' }, { severity: 'major' }], 'major'],
    [[{ type: 'serviceDisruption' }], 'major'],
    [[{ type: 'performanceDegradation' }], 'minor'],
    [[{ type: 'featureDegradation', severity: '?' }], 'minor'],
    [[{ type: 'something' }, null, 5], 'minor'],
    [[], 'minor'],
    [null, 'minor'],
  ] as const)
    t.match(withIncident({ IncidentImpacts: impacts }), [{ severity }], JSON.stringify(impacts));
});

t.test('it maps every event of incidents', async (t) => {
  for (const [type, status] of [
    ['investigating', 'investigating'],
    ['identified', 'identified'],
    ['rootCauseIdentified', 'identified'],
    ['root_cause_identified', 'identified'],
    ['monitoring', 'monitoring'],
    ['mitigated', 'monitoring'],
    ['resolved', 'resolved'],
    ['closed', 'resolved'],
    ['investigatingCauseOfIssue', 'investigating'],
    ['investigatingCauseNewEngineers', 'investigating'],
    ['issueIsolatedDatabaseTier', 'identified'],
    ['implementingSolutionWorkingOnFix', 'identified'],
    ['monitoringPostSiteSwitch', 'monitoring'],
    ['herokuIncident', 'investigating'],
    ['herokuIncidentInvestigating', 'investigating'],
    ['herokuIncidentMonitoring', 'monitoring'],
    ['other', 'investigating'],
    [null, 'investigating'],
  ] as const) {
    const IncidentEvents = [{ type, message: '<i>x</i>', createdAt: '2026-09-20T10:30:00Z' }];
    t.match(
      withIncident({ IncidentEvents }),
      [
        {
          status,
          resolvedAt: status === 'resolved' ? at('10:30') : null,
          updates: [{ at: at('10:30'), status, text: 'x' }],
        },
      ],
      String(type),
    );
  }
});

t.test('it is over when every impact is', async (t) => {
  const impact = (start: string, end: string | null) => ({
    startTime: `2026-09-20T${start}:00Z`,
    endTime: end === null ? null : `2026-09-20T${end}:00Z`,
  });
  for (const [impacts, status, resolvedAt] of [
    [[impact('09:30', '10:30'), impact('09:10', '10:20')], 'resolved', at('10:30')],
    [[impact('09:10', '10:30'), impact('09:40', null)], 'investigating', null],
  ] as const)
    t.match(withIncident({ IncidentImpacts: impacts }), [{ status, resolvedAt, startedAt: at('09:10') }]);
});

t.test('it maps every event of maintenances', async (t) => {
  const done = { state: 'done', updates: [{ status: 'resolved' }] };
  for (const [type, expected] of [
    ['scheduled', [{ state: 'planned', updates: [{ status: 'identified' }] }]],
    ['started', [{ state: 'running', updates: [{ status: 'identified' }] }]],
    ['inProgress', [{ state: 'running' }]],
    ['completed', [done]],
    ['canceled', []],
    ['cancelled', []],
    ['other', [{ state: 'planned' }]],
  ] as const) {
    const entries = withMaintenance({ MaintenanceEvents: [{ type, createdAt: '2026-09-20T09:00:00Z' }] });
    t.match(
      entries,
      expected.map((one) => ({ kind: 'maintenance', startsAt: at('10:00'), endsAt: at('11:00'), ...one })),
      type,
    );
    t.equal(entries.length, expected.length, type);
  }
  t.match(withMaintenance({ plannedEndTime: null, name: null }), [{ endsAt: null, title: 'Maintenance' }]);
  t.same(withMaintenance({ plannedStartTime: null }), []);
});

t.test('it takes the word of instances that list no incidents, one entry for each severity', async (t) => {
  const entries = read(
    { key: 'NA1', status: 'MAJOR_INCIDENT_CORE' },
    { key: 'NA2', status: 'MAJOR_INCIDENT_NONCORE', Incidents: null },
    { key: 'NA3', status: 'MINOR_INCIDENT_CORE' },
    { key: 'NA4', status: 'OK' },
    { key: 'NA5', status: 'MAINTENANCE_CORE' },
    { key: 'NA6', status: 'INFORMATIONAL_CORE' },
    { key: 'NA7', status: 'MAJOR_INCIDENT_CORE', Incidents: [] },
  );
  const common = {
    kind: 'incident',
    sourceUrl: SOURCE.pageUrl,
    updates: [],
    status: 'investigating',
    startedAt: null,
    resolvedAt: null,
  };
  t.same(entries, [
    {
      ...common,
      key: 'status major',
      title: 'Service disruption',
      severity: 'major',
      components: ['NA1', 'NA2'],
    },
    {
      ...common,
      key: 'status minor',
      title: 'Performance degradation',
      severity: 'minor',
      components: ['NA3'],
    },
  ]);
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    'text',
    { key: 'without a status', Incidents: [{ id: 9 }] },
    {
      key: 'EU1',
      status: 'OK',
      Incidents: [null, {}, { id: { a: 1 } }, { id: 'a/b', createdAt: 'soon', instanceKeys: 'all' }],
      Maintenances: 'none',
    },
  );
  t.match(withoutUpdates(entries), [
    {
      key: 'incident a/b',
      title: 'Incident',
      startedAt: null,
      components: ['EU1'],
      sourceUrl: 'https://status.salesforce.com/incidents/a%2Fb',
    },
  ]);
  t.equal(entries.length, 1);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not a list/],
    [[], /no instance/],
    [[{ id: 1 }], /no instance/],
    [[{ key: 'NA1' }], /no instance/],
  ] as const)
    t.throws(() => readDocument(salesforce, 'instances', document), { name: 'FeedFormatError', message });
});
