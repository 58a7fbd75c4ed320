/** Okta's page: what is read of it, and what is refused. */
import t from 'tap';
import { okta } from '../../../src/feeds/kinds/okta.ts';
import { at, readDocument, refusesOthers } from './read-document.ts';

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

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, okta);
});
