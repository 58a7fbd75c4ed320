/** Which changes are told: what flaps, incidents, scopes and certificates, and what is removed meanwhile. */
import t from 'tap';
import { AlertWorld, HOUR, type Line, MINUTE, NOON, ruleOf, serviceOf } from './alert-world.ts';
import { tryRows } from './decision-rows.ts';

t.test('a service of which a rule tells late is said to flap in place of one more outage', async (t) => {
  const world = new AlertWorld([ruleOf({ afterMs: MINUTE })]);
  for (let minutes = 0; minutes < 10; minutes += 3) {
    world.down(minutes * MINUTE, 1);
    world.up((minutes + 2) * MINUTE, 1);
  }
  world.pass(12 * MINUTE);
  t.strictSame(
    world.lines().map(([at, , type, words]) => `${at / MINUTE} ${type}: ${words}`),
    [
      '1 alert: down s1',
      '2 recovery: up s1',
      '4 alert: down s1',
      '5 recovery: up s1',
      '7 alert: down s1 flaps',
    ],
  );
});

t.test('a service that flaps is said to flap, once', async (t) => {
  const world = new AlertWorld([ruleOf({ repeatMs: 10 * MINUTE })]);
  const flap = (to: number) => {
    for (let minute = 0; minute < to; minute += 4) {
      world.down(minute * MINUTE, 1);
      world.up((minute + 2) * MINUTE, 1);
    }
  };
  flap(60);
  world.pass(60 * MINUTE);
  const begun: readonly Line[] = [
    [0, 1, 'alert', 'down s1'],
    [2 * MINUTE, 1, 'recovery', 'up s1'],
    [4 * MINUTE, 1, 'alert', 'down s1'],
    [6 * MINUTE, 1, 'recovery', 'up s1'],
    [8 * MINUTE, 1, 'alert', 'down s1 flaps'],
  ];
  t.match(world.sent.at(-1)?.message.items, [{ flapping: { changes: 5, withinMs: 30 * MINUTE } }]);
  t.same(world.lines(), begun);
  world.pass(2 * HOUR);
  t.same(world.lines(), [[58 * MINUTE + 30 * MINUTE, 1, 'recovery', 'up s1']], 'it stays up');
  world.down(3 * HOUR, 1);
  world.pass(3 * HOUR + MINUTE);
  t.same(world.lines(), [[3 * HOUR, 1, 'alert', 'down s1']], 'it counts anew');

  tryRows(t, [
    [
      'it stays down',
      [ruleOf()],
      (other) => {
        for (let minute = 0; minute < 8; minute += 4) {
          other.down(minute * MINUTE, 1);
          other.up((minute + 2) * MINUTE, 1);
        }
        other.down(8 * MINUTE, 1);
        other.up(2 * HOUR, 1);
        other.pass(4 * HOUR);
      },
      [...begun, [38 * MINUTE, 1, 'update', 'down s1'], [2 * HOUR, 1, 'recovery', 'up s1']],
    ],
    [
      'changes that are too slow',
      [ruleOf()],
      (other) => {
        for (let n = 0; n < 6; n += 1) {
          if (n % 2 === 0) other.down(n * 8 * MINUTE, 1);
          else other.up(n * 8 * MINUTE, 1);
        }
        other.pass(2 * HOUR);
      },
      [0, 1, 2, 3, 4, 5].map(
        (n): Line =>
          n % 2 === 0 ? [n * 8 * MINUTE, 1, 'alert', 'down s1'] : [n * 8 * MINUTE, 1, 'recovery', 'up s1'],
      ),
    ],
  ]);
});

t.test('it tells of incidents, scopes and certificates', async (t) => {
  const incident = (
    source: 'own' | 'vendor' | 'owner',
    before: 'investigating' | 'identified' | null,
    status: 'investigating' | 'identified' | 'resolved',
    text = '',
  ) =>
    ({
      type: 'incident',
      before,
      incident: {
        id: 'i',
        source,
        title: 'Trouble',
        text,
        severity: 'major',
        status,
        startedAt: NOON,
        url: '',
      },
    }) as const;
  const certificate = (days: number, endsAt = NOON + 21 * 24 * HOUR) =>
    ({ type: 'certificate', endsAt, days }) as const;
  tryRows(t, [
    [
      'an incident of the owner with updates',
      [
        ruleOf({ events: ['incident', 'incident_update'] }),
        ruleOf({ id: 2, events: ['incident'], channels: [2] }),
      ],
      (world) => {
        world.change(0, 1, incident('owner', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('owner', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('owner', 'investigating', 'resolved'));
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'incident s1'],
        [0, 2, 'alert', 'incident s1'],
        [10 * MINUTE, 1, 'update', 'incident_update s1'],
        [20 * MINUTE, 1, 'recovery', 'incident s1'],
        [20 * MINUTE, 2, 'recovery', 'incident s1'],
      ],
    ],
    [
      'an incident in quiet hours that let its beginning through: its end too, but no update',
      [
        ruleOf({
          events: ['incident', 'incident_update'],
          quiet: { from: 12 * 60, to: 15 * 60, timeZone: 'UTC', except: ['incident'] },
        }),
      ],
      (world) => {
        world.change(0, 1, incident('owner', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('owner', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('owner', 'investigating', 'resolved'));
        world.pass(6 * HOUR);
      },
      [
        [0, 1, 'alert', 'incident s1'],
        [20 * MINUTE, 1, 'recovery', 'incident s1'],
      ],
    ],
    [
      'an incident of a vendor, and a text without a change',
      [ruleOf({ events: ['vendor_incident'] })],
      (world) => {
        world.change(0, 1, incident('vendor', null, 'investigating'));
        world.change(10 * MINUTE, 1, incident('vendor', 'investigating', 'investigating', 'more'));
        world.change(20 * MINUTE, 1, incident('vendor', 'investigating', 'identified'));
        world.change(30 * MINUTE, 1, incident('vendor', 'identified', 'resolved'));
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'vendor_incident s1'],
        [20 * MINUTE, 1, 'update', 'vendor_incident s1'],
        [30 * MINUTE, 1, 'recovery', 'vendor_incident s1'],
      ],
    ],
    [
      'a scope',
      [ruleOf({ events: ['scope'] })],
      (world) => {
        world.change(0, 1, { type: 'scope', from: null, to: 'partial', regions: ['eu'] });
        world.change(10 * MINUTE, 1, { type: 'scope', from: 'partial', to: 'global', regions: ['eu', 'us'] });
        world.change(20 * MINUTE, 1, { type: 'scope', from: 'global', to: null, regions: [] });
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'scope s1'],
        [10 * MINUTE, 1, 'alert', 'scope s1'],
        [20 * MINUTE, 1, 'recovery', 'scope s1'],
      ],
    ],
    [
      'a certificate, once for each threshold, and anew for a new one',
      [ruleOf({ events: ['certificate'] })],
      (world) => {
        world.change(0, 1, certificate(21));
        world.change(HOUR, 1, certificate(21));
        world.change(2 * HOUR, 1, certificate(7));
        world.change(3 * HOUR, 1, certificate(21));
        world.change(4 * HOUR, 1, certificate(1));
        world.change(5 * HOUR, 1, certificate(21, NOON + 99 * 24 * HOUR));
        world.pass(6 * HOUR);
      },
      [0, 2, 4, 5].map((hour): Line => [hour * HOUR, 1, 'alert', 'certificate s1']),
    ],
    [
      'a certificate that was replaced while quiet hours held the word',
      [ruleOf({ events: ['certificate'], quiet: { from: 0, to: 13 * 60, timeZone: 'UTC', except: [] } })],
      (world) => {
        world.change(0, 1, certificate(21));
        world.change(0, 2, certificate(21));
        world.services.set(1, serviceOf(1, { certificateEndsAt: NOON + 99 * 24 * HOUR }));
        world.pass(6 * HOUR);
      },
      [[HOUR, 1, 'alert', 'certificate s2']],
    ],
  ]);
});

t.test('what is removed meanwhile ends', async (t) => {
  tryRows(t, [
    [
      'a rule: what it was about to tell is not told, what it told is told to its end',
      [ruleOf()],
      (world) => {
        world.down(0, 1);
        world.pass(5 * MINUTE);
        world.down(10 * MINUTE, 2);
        world.rules = [];
        world.pass(20 * MINUTE);
        world.up(30 * MINUTE, 1);
        world.up(30 * MINUTE, 2);
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [30 * MINUTE, 1, 'recovery', 'up s1'],
      ],
    ],
    [
      'a channel',
      [ruleOf({ channels: [1, 2] })],
      (world) => {
        world.down(0, 1);
        world.pass(5 * MINUTE);
        world.channels.delete(1);
        world.rules = [ruleOf({ channels: [2] })];
        world.up(10 * MINUTE, 1);
        world.pass(HOUR);
      },
      [
        [0, 1, 'alert', 'down s1'],
        [0, 2, 'alert', 'down s1'],
        [10 * MINUTE, 2, 'recovery', 'up s1'],
      ],
    ],
    [
      'a service, and another that is paused, are said so within ten minutes',
      [ruleOf({ repeatMs: 40 * MINUTE })],
      (world) => {
        for (const id of [1, 2, 3]) world.down(0, id);
        world.pass(5 * MINUTE);
        world.services.delete(1);
        world.pass(11 * MINUTE);
        world.services.set(2, serviceOf(2, { isPaused: true }));
        world.services.delete(3);
        world.pass(3 * HOUR);
      },
      [
        [0, 1, 'alert', 'down s1, down s2, down s3'],
        [10 * MINUTE, 1, 'update', 'down s1 removed'],
        [20 * MINUTE, 1, 'recovery', 'down s2 paused, down s3 removed'],
      ],
    ],
    [
      'a service of a page',
      [ruleOf({ of: { own: false, services: [], categories: [], publicCategories: [], pages: ['shop'] } })],
      (world) => {
        world.pages = { shop: [1, 2] };
        world.down(0, 1);
        world.down(0, 2);
        world.pages = { shop: [2] };
        world.pass(HOUR);
      },
      [[0, 1, 'alert', 'down s2']],
    ],
  ]);
});
