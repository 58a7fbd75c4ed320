/** Which incidents of a service are about the same trouble. */
import t from 'tap';
import type { Incident } from '../../../src/domain/incident/incident.ts';
import { gatherTrouble } from '../../../src/domain/incident/incident-companions.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 20, 10);

function incident(id: string, source: Incident['source'], from: number, to: number | null): Incident {
  return {
    id,
    serviceId: 1,
    source,
    title: id,
    description: '',
    severity: 'major',
    status: to === null ? 'investigating' : 'resolved',
    startedAt: NOW + from,
    resolvedAt: to === null ? null : NOW + to,
    sourceUrl: '',
    goodChecks: 0,
    updates: [{ at: NOW + from, status: 'investigating', text: '' }],
  };
}

const ids = (all: readonly Incident[]) => all.map(({ id }) => id);

t.test(
  'it joins an outage with the entry of the vendor that acknowledges it, from either side',
  async (t) => {
    const ours = incident('ours', 'own', -3 * HOUR, -HOUR);
    const theirs = incident('theirs', 'vendor', -2 * HOUR, -30 * MINUTE);
    const others = [
      incident('before', 'vendor', -30 * HOUR, -29 * HOUR),
      incident('later', 'vendor', -10 * MINUTE, null),
      incident('again', 'own', -9 * MINUTE, null),
    ];
    const known = [...others, theirs, ours];
    for (const [shown, companion] of [
      [ours, 'theirs'],
      [theirs, 'ours'],
    ] as const) {
      const { companions, acknowledgement } = gatherTrouble(shown, known, NOW);
      t.same([ids(companions), acknowledgement?.lagMs], [[companion], HOUR], shown.id);
    }
  },
);

t.test('a vendor that acknowledges several outages answers the first of them', async (t) => {
  const theirs = incident('theirs', 'vendor', -2 * HOUR, null);
  const known = [
    incident('over an hour later', 'own', -30 * MINUTE, null),
    incident('first', 'own', -2 * HOUR - 7 * MINUTE, -100 * MINUTE),
    incident('second', 'own', -90 * MINUTE, -80 * MINUTE),
    theirs,
  ];
  const { companions, acknowledgement } = gatherTrouble(theirs, known, NOW);
  t.same([ids(companions), acknowledgement?.lagMs], [['first', 'second'], 7 * MINUTE]);
});

t.test('what an owner says, and maintenance, belong to the outages that they overlap', async (t) => {
  const during = incident('during', 'own', -50 * MINUTE, -40 * MINUTE);
  const known = [
    during,
    incident('before', 'own', -3 * HOUR, -2 * HOUR),
    incident('owner', 'owner', -HOUR, -30 * MINUTE),
    { ...incident('maintenance', 'vendor', -HOUR, null), severity: 'maintenance' } as const,
  ];
  t.same(ids(gatherTrouble(during, known, NOW).companions), ['owner', 'maintenance']);
  for (const shown of known.slice(2)) {
    const { companions, acknowledgement } = gatherTrouble(shown, known, NOW);
    t.same([ids(companions), acknowledgement], [['during'], null], shown.id);
  }
});

t.test('it gives the first ten of a service that flaps', async (t) => {
  const theirs = incident('theirs', 'vendor', -HOUR, null);
  const flaps = Array.from({ length: 30 }, (_, index) =>
    incident(`flap-${index}`, 'own', (index - 60) * MINUTE, (index - 60) * MINUTE + 1),
  );
  const { companions } = gatherTrouble(theirs, flaps, NOW);
  t.same([companions.length, companions[0]?.id], [10, 'flap-0']);
});
