/** FireHydrant's pages: what is read of them, and what is refused. */
import t from 'tap';
import { firehydrant } from '../../../src/feeds/kinds/firehydrant.ts';
import { at, readDocument, refusesOthers } from './read-document.ts';

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

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, firehydrant);
});
