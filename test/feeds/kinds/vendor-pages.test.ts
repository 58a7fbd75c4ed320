/** Pages of single vendors, and of FireHydrant, in states that no recorded document has. */
import t from 'tap';
import { firehydrant } from '../../../src/feeds/kinds/firehydrant.ts';
import { nintendo } from '../../../src/feeds/kinds/nintendo.ts';
import { okta } from '../../../src/feeds/kinds/okta.ts';
import { zscaler } from '../../../src/feeds/kinds/zscaler.ts';
import { at, PAGE, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

const CLOUD = { ...PAGE, feedUrl: 'https://trust.zscaler.com/api/cloud-status?cloud=zsn' };

t.test('it takes no other document for its own', async (t) => {
  for (const [content] of WRONG_DOCUMENTS) {
    t.throws(() => readDocument(firehydrant, 'payload', content), { code: 'feed_format' });
    t.throws(() => readDocument(nintendo, 'status', content), { code: 'feed_format' });
    t.throws(() => readDocument(okta, 'page', content), { code: 'feed_format' });
    t.throws(() => readDocument(zscaler, 'cloud', content, CLOUD), { code: 'feed_format' });
  }
  t.throws(() => zscaler.addresses(PAGE), /feedUrl/);
});

t.test('Okta: an incident is open until its status says otherwise', async (t) => {
  const page = (record: object) =>
    `<html>[{"attributes":{"type":"Incident__c"},${JSON.stringify(record).slice(1)},"x"] ]</html>`;
  const open = {
    ...{ Id: 'a1', Status__c: 'Investigating', Incident_Title__c: 'Sign-in "fails" [OK7]' },
    ...{ Start_Time__c: '2026-09-20T09:00:00.000+0000', Duration__c: 20, Category__c: 'Service Degradation' },
    ...{
      Last_Updated__c: '2026-09-20T09:30:00.000+0000',
      Log__c: 'We look&nbsp;into it.',
      Impacted_Cells__c: null,
    },
  };
  t.match(readDocument(okta, 'page', page(open)).entries, [
    {
      ...{ title: 'Sign-in "fails" [OK7]', status: 'investigating', severity: 'minor', components: null },
      ...{ startedAt: at('09:00'), resolvedAt: null },
      updates: [{ at: at('09:30'), status: 'investigating', text: 'We look into it.' }],
    },
  ]);
  const over = { ...open, Status__c: 'Resolved', Duration__c: null, Category__c: 'Major Service Disruption' };
  t.match(readDocument(okta, 'page', page(over)).entries, [
    { status: 'resolved', severity: 'critical', resolvedAt: at('09:30') },
  ]);
  t.throws(() => readDocument(okta, 'page', '<html>[{"attributes":{"type":"Incident__c"}'), /no incidents/);
});

t.test('Nintendo: windows are those of the Pacific coast, in summer time too', async (t) => {
  const outage = {
    ...{ platform: ['Nintendo Switch'], software_title: 'Online play', message: 'We look into it.' },
    ...{ begin: 'Sunday, September 20, 2026  3 :00 AM', services: ['Some services'], event_status: '1' },
  };
  const status = { operational_statuses: [outage, { ...outage, begin: 'soon' }], temporary_maintenances: [] };
  const wanted = [
    {
      ...{ title: 'Online play', status: 'investigating', severity: 'major', startedAt: at('10:00') },
      components: ['Nintendo Switch', 'Some services'],
    },
  ];
  t.match(readDocument(nintendo, 'status', status).entries, wanted);
  const call = `getJSON(${JSON.stringify(status)});`;
  t.match(readDocument(nintendo, 'status', call).entries, wanted, 'as the argument of a call');
  const ending = { ...outage, end: 'Sunday, September 20, 2026  4 :30 AM' };
  t.match(readDocument(nintendo, 'status', { ...status, operational_statuses: [ending] }).entries, [
    { status: 'resolved', resolvedAt: at('11:30') },
  ]);
});

t.test('Zscaler: an event of several services is one, and advice is none', async (t) => {
  const event = (id: string, severityTid: string) => ({
    ...{ id, severityTid, title: 'Slow pages', status: 'In Progress', from: 'Sun, 20 Sep 2026 09:00:00 UTC' },
    ...{ description: '<p>No times</p>', alias: 'javascript:alert(1)' },
  });
  const part = (tid: string, ...events: readonly object[]) => ({
    tid,
    name: `P${tid}`,
    category_status: events,
  });
  const document = {
    data: {
      severity: [
        { tid: '20', name: 'Service Disruption' },
        { tid: '641', name: 'Security Advisory' },
      ],
      category: [
        { subCategory: [part('1', event('7', '20'), event('8', '641')), part('2', event('7', '20'))] },
        { subCategory: null },
      ],
    },
  };
  const { entries } = readDocument(zscaler, 'cloud', document, CLOUD);
  t.equal(entries.length, 1);
  t.match(entries, [
    {
      ...{ key: '7', severity: 'major', status: 'investigating', startedAt: at('09:00') },
      ...{ components: ['P1', '1', 'P2', '2'], sourceUrl: PAGE.pageUrl, updates: [] },
    },
  ]);
});

t.test('FireHydrant: an open incident has the status of its last note', async (t) => {
  const incident = {
    ...{ id: 'i1', title: 'Errors', severitySlug: 'SEV1', timestamps: { started: '2026-09-20T09:00:00Z' } },
    timeline: [
      { occurredAt: '2026-09-20T09:20:00Z', details: { note: '➡️ **Identified** — A disk is full.' } },
      {
        occurredAt: '2026-09-20T09:10:00Z',
        details: { milestoneUpdate: { currentMilestone: 'investigating' } },
      },
      { time: '2026-09-20T09:05:00Z', details: { note: { note: 'We look into it.' } } },
    ],
  };
  const work = {
    ...{
      id: 'm1',
      title: 'Move',
      severitySlug: 'MAINTENANCE',
      timestamps: { started: '2026-09-20T11:00:00Z' },
    },
    components: [{ id: 'c1', name: 'API' }],
  };
  const { entries } = readDocument(firehydrant, 'payload', {
    components: [],
    incidents: [incident, work, {}],
  });
  t.match(entries, [
    { kind: 'maintenance', startsAt: at('11:00'), endsAt: null, components: ['API', 'c1'] },
    {
      ...{ status: 'identified', severity: 'critical', startedAt: at('09:00'), resolvedAt: null },
      updates: [
        { at: at('09:05'), status: 'investigating', text: 'We look into it.' },
        { at: at('09:20'), status: 'identified', text: 'A disk is full.' },
      ],
    },
  ]);
  t.equal(entries.length, 2);
});
