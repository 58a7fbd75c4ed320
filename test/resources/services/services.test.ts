/** The rules for changes of a service by its owner. */

import t from 'tap';
import { type AllowedDestinations, ANY_DESTINATION } from '../../../src/domain/allowed-destinations.ts';
import { type CheckDefinition, DEFAULT_CHECK, MONITORING_KINDS } from '../../../src/domain/service.ts';
import { ownerLimits } from '../../../src/kinds/check-members.ts';
import { mergePatch } from '../../../src/resources/kit/read-document.ts';
import { claimPlace } from '../../../src/resources/services/domains.ts';
import { readServiceDocument, serviceDocumentOf } from '../../../src/resources/services/service-document.ts';
import {
  atTexts,
  patchOfTexts,
  type ServiceTexts,
  type SettingTexts,
} from '../../../src/resources/services/service-texts.ts';
import type { OwnershipStore, ServiceEdit } from '../../../src/store/ports/services.ts';
import { USUAL } from '../../support/attempts.ts';
import { PUBLIC_ONLY } from '../../support/destinations.ts';
import { double } from '../../support/double.ts';

const LIMITS = ownerLimits(USUAL, 30_000, ['ap', 'eu']);
const STORED = {
  ...{ domain: 'shop.example', name: 'Old', category: 'cloud', paused: true, publicDependencies: false },
  note: '',
  visibility: 'public',
  dependsOn: [],
};
const CHECK = { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 60_000, graceMs: 5_000 } as const;

/** Texts of a form or a command, with settings as texts. */
type ServiceChanges = ServiceTexts | { readonly kind?: string; readonly settings: SettingTexts };

/** The service that texts make of one with that check. */
function readServiceEdit(
  before: CheckDefinition,
  changes: ServiceChanges,
  destinations: AllowedDestinations,
  domain = 'shop.example',
) {
  const { settings, ...texts }: { readonly kind?: string; readonly settings?: SettingTexts } =
    Object(changes);
  const kind = MONITORING_KINDS.find((one) => one === (texts.kind ?? before.kind));
  const patch = patchOfTexts(texts, settings, kind);
  const stored = serviceDocumentOf({ domain, name: 'Old', category: 'cloud', paused: true, check: before });
  const document = mergePatch(stored, patch);
  return atTexts(readServiceDocument(document, destinations, LIMITS, { before, patch }), settings);
}

t.test('it changes the named fields and keeps the others', async (t) => {
  const { periodMs: _period, ...withoutPeriod } = CHECK;
  const cases: readonly [ServiceChanges, ServiceEdit][] = [
    [{}, {}],
    [
      { name: ' Shop ', category: 'ai' },
      { name: 'Shop', category: 'ai' },
    ],
    [
      { paused: false, publicDependencies: true },
      { paused: false, publicDependencies: true },
    ],
    [{ kind: 'health' }, { check: { ...CHECK, kind: 'health' } }],
    [{ period: '1s', grace: '0s' }, { check: { ...CHECK, periodMs: 1_000, graceMs: 0 } }],
    [{ period: '365d' }, { check: { ...CHECK, periodMs: 31_536_000_000 } }],
    [{ period: null }, { check: withoutPeriod }],
    [
      { period: null, schedule: ' 30  3 * * 1-5 ', timezone: 'europe/berlin' },
      { check: { ...withoutPeriod, schedule: { cron: '30 3 * * 1-5', timezone: 'Europe/Berlin' } } },
    ],
    [
      { period: null, schedule: '@daily' },
      { check: { ...withoutPeriod, schedule: { cron: '@daily', timezone: 'UTC' } } },
    ],
    [{ schedule: null, timezone: 'UTC' }, { check: CHECK }],
    [
      { kind: 'tcp', settings: { port: '443', banner: '220 ' } },
      { check: { ...CHECK, kind: 'tcp', settings: { port: 443, banner: '220 ' } } },
    ],
    [{ kind: 'tls', settings: { minDays: '' } }, { check: { ...CHECK, kind: 'tls' } }],
    [{ accept: '2xx, 401' }, { check: { ...CHECK, accept: ['2xx', 401] } }],
    [{ accept: '' }, { check: { ...CHECK, accept: null } }],
    [
      { interval: '30s', timeout: '5s', slowOver: '1s', confirmAfter: 'none', regions: 'eu' },
      {
        check: {
          ...CHECK,
          ...{ intervalMs: 30_000, timeoutMs: 5_000, slowOverMs: 1_000, confirmAfterMs: [], regions: ['eu'] },
        },
      },
    ],
    [{ interval: null, regions: '' }, { check: CHECK }],
    [{ kind: 'root', method: 'GET' }, { check: { ...CHECK, kind: 'root', method: 'GET' } }],
    [{ method: '' }, { check: CHECK }],
    [
      { kind: 'http', url: 'https://api.shop.example/x' },
      { check: { ...CHECK, kind: 'http', url: 'https://api.shop.example/x' } },
    ],
    [{ url: '' }, { check: CHECK }],
  ];
  for (const [changes, edit] of cases)
    t.strictSame(
      readServiceEdit(CHECK, changes, PUBLIC_ONLY),
      { ok: true, value: { ...STORED, check: CHECK, ...edit } },
      JSON.stringify(changes),
    );
});

t.test('it names every field that is not valid', async (t) => {
  const cases: readonly [ServiceChanges, readonly (readonly [field: string, code: string])[]][] = [
    [
      { name: '', category: 'x' },
      [
        ['category', 'category_invalid'],
        ['name', 'service_name_missing'],
      ],
    ],
    [{ category: 'shops' }, [['category', 'category_invalid']]],
    [
      { kind: 'push', period: 'x' },
      [
        ['kind', 'kind_invalid'],
        ['period', 'duration_invalid'],
      ],
    ],
    [
      { period: '999ms', grace: 'x' },
      [
        ['period', 'duration_invalid'],
        ['grace', 'duration_invalid'],
      ],
    ],
    [{ period: '366d' }, [['period', 'duration_invalid']]],
    [{ grace: '5 minutes' }, [['grace', 'duration_invalid']]],
    [{ schedule: '@daily' }, [['schedule', 'period_and_schedule']]],
    [{ timezone: 'UTC' }, [['timezone', 'timezone_alone']]],
    [{ schedule: '61 * * * *' }, [['schedule', 'schedule_invalid']]],
    [{ schedule: '0 0 30 2 *' }, [['schedule', 'schedule_invalid']]],
    [{ schedule: '@daily', timezone: 'Mars/Base' }, [['timezone', 'timezone_invalid']]],
    [{ accept: '2xx 1000' }, [['accept', 'accept_invalid']]],
    [{ kind: 'tcp' }, [['settings.port', 'setting_invalid']]],
    [{ kind: 'tcp', settings: { port: '22' } }, [['settings.port', 'setting_invalid']]],
    [
      { kind: 'tcp', settings: { port: '0', pace: '1', banner: 'x'.repeat(201) } },
      [
        ['settings.pace', 'setting_invalid'],
        ['settings.port', 'setting_invalid'],
        ['settings.banner', 'setting_invalid'],
      ],
    ],
    [{ settings: { port: '443' } }, [['settings.port', 'setting_invalid']]],
    [
      { interval: '29s', timeout: 'x', name: '' },
      [
        ['timeout', 'check_member_invalid'],
        ['name', 'service_name_missing'],
        ['interval', 'check_member_invalid'],
      ],
    ],
    [{ interval: '29s' }, [['interval', 'check_member_invalid']]],
    [{ regions: 'eu us' }, [['regions', 'check_member_invalid']]],
    [{ method: 'GET' }, [['method', 'method_of_root']]],
    [{ kind: 'root', method: 'POST' }, [['method', 'method_invalid']]],
    [{ url: 'ftp://shop.example' }, [['url', 'member_invalid']]],
    [{ url: 'https://ada:pw@shop.example' }, [['url', 'member_invalid']]],
    [{ url: `https://shop.example/${'x'.repeat(2_000)}` }, [['url', 'member_invalid']]],
    [{ url: 'https://b.example' }, [['url', 'url_elsewhere']]],
  ];
  for (const [changes, expected] of cases) {
    const reading = readServiceEdit(CHECK, changes, PUBLIC_ONLY);
    const found = reading.ok ? [] : reading.refusals.map(({ field, refusal }) => [field, refusal.code]);
    t.strictSame(found, expected, JSON.stringify(changes));
  }
});

const SEALED = { username: 'check:v1:a', password: 'check:v1:b' };
const HTTP: CheckDefinition = {
  ...DEFAULT_CHECK,
  kind: 'http',
  settings: { path: '/in', port: 8443 },
  sealed: SEALED,
};

t.test('stored credentials stay until they are replaced, removed, or would be sent elsewhere', async (t) => {
  const { password } = SEALED;
  const kept: readonly (readonly [ServiceChanges, Partial<CheckDefinition>, secrets?: object])[] = [
    [{ settings: { path: '/out', username: '', password: '' } }, { settings: { path: '/out', port: 8443 } }],
    [{ settings: { username: 'ada' } }, { sealed: { password } }, { username: 'ada' }],
    [{ settings: { password: null } }, { sealed: { username: SEALED.username } }],
    [{ settings: { port: '443', username: 'a', password: 'b' } }, {}, { username: 'a', password: 'b' }],
    [{ accept: '2xx' }, { accept: ['2xx'] }],
    [{ settings: { secretHeaders: 'A: b\r\n C: d ' } }, {}, { secretHeaders: ['A: b', 'C: d'] }],
    [{ kind: 'root' }, {}],
    [{ kind: 'tcp', settings: { port: '443' } }, {}],
  ];
  for (const [changes, check, secrets] of kept) {
    const reading = readServiceEdit(HTTP, changes, ANY_DESTINATION);
    const title = JSON.stringify(changes);
    if (!reading.ok) t.fail(`${title}: ${JSON.stringify(reading.refusals)}`);
    else {
      t.match(reading.value.check, check, title);
      t.same(reading.value.secrets, secrets, title);
      const names = Object.keys(reading.value.check?.sealed ?? {});
      const { kind = 'http', settings = {} }: { kind?: string; settings?: SettingTexts } = Object(changes);
      const expected =
        kind === 'http'
          ? ['username', 'password'].filter((name) => !settings[name] && settings[name] !== null)
          : [];
      t.same(names, expected, title);
    }
  }
  const problemsOf = (changes: ServiceChanges) => {
    const reading = readServiceEdit(HTTP, changes, ANY_DESTINATION);
    return reading.ok
      ? []
      : reading.refusals.map(({ field, refusal }) => [field, 'problem' in refusal && refusal.problem]);
  };
  const again = (...names: string[]) => names.map((name) => [`settings.${name}`, { code: 'secret_again' }]);
  t.same(problemsOf({ settings: { port: '' } }), again('username', 'password'));
  t.same(problemsOf({ settings: { plain: 'true' } }), again('username', 'password'));
  t.same(problemsOf({ settings: { certificate: 'ignore' } }), again('username', 'password'));
  t.same(problemsOf({ settings: { certificate: 'verify' } }), []);
  t.same(problemsOf({ url: 'https://api.shop.example/' }), again('username', 'password'));
  t.same(problemsOf({ settings: { port: '443', username: 'ada' } }), again('password'));
  t.same(problemsOf({ settings: { port: '443', username: null, password: null } }), []);
  t.same(problemsOf({ settings: { username: null } }), [['settings.username', { code: 'missing' }]]);
  t.same(problemsOf({ settings: { token: 'x' } }), [
    ['settings.token', { code: 'not_with', other: 'username' }],
  ]);
});

t.test('a method of another kind than root is dropped where nobody chooses it', async (t) => {
  const before = { ...DEFAULT_CHECK, method: 'GET' } as const;
  const edit = readServiceEdit(before, { kind: 'http' }, ANY_DESTINATION);
  t.match(edit, { value: { check: { kind: 'http', method: null } } });
  const exported = { domain: 'shop.example', check: { kind: 'http', method: 'GET' } };
  const reading = readServiceDocument(exported, ANY_DESTINATION, LIMITS);
  t.match(reading, { value: { check: { kind: 'http', method: null } } }, 'exports of before stay valid');
});

t.test('the host of an address of a check counts as a destination, beside the domain', async (t) => {
  const claimed: (readonly [string, readonly string[]])[] = [];
  const context = {
    registry: double<OwnershipStore>({
      async claimAddresses(domain, _slug, addresses) {
        claimed.push([domain, addresses]);
      },
    }),
    resolve: async (host: string) => [`4 of ${host}`, 'shared'],
  };
  const claim = (kind: 'http' | 'heartbeat', url: string | null) =>
    claimPlace(context, { domain: 'shop.example', slug: null, check: { kind, url } });
  for (const url of [null, 'https://shop.example/x', 'https://cdn.shop.example:8443/x'])
    t.same(await claim('http', url), { ok: true, value: undefined });
  t.same(await claim('heartbeat', 'https://cdn.shop.example/'), { ok: true, value: undefined });
  const own = ['shop.example', ['4 of shop.example', 'shared']] as const;
  const both = ['shop.example', ['4 of shop.example', 'shared', '4 of cdn.shop.example']] as const;
  t.strictSame(claimed, [own, own, both]);
});
