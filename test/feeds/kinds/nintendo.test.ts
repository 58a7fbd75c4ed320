/** Nintendo's page: what is read of it, and what is refused. */
import t from 'tap';
import { nintendo } from '../../../src/feeds/kinds/nintendo.ts';
import { at, readDocument, refusesOthers } from './read-document.ts';

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

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, nintendo);
});
