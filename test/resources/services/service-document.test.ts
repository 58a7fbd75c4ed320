/** A service as a document of the API and of files: what it means, and what is refused. */

import fc from 'fast-check';
import t from 'tap';
import { ANY_DESTINATION } from '../../../src/domain/allowed-destinations.ts';
import { CATEGORIES, type CheckDefinition, DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { operatorLimits, ownerLimits } from '../../../src/kinds/check-members.ts';
import { createOwnerDestinations } from '../../../src/outbound/address-guard.ts';
import { mergePatch } from '../../../src/resources/kit/read-document.ts';
import { readServiceDocument, serviceDocumentOf } from '../../../src/resources/services/service-document.ts';
import { USUAL } from '../../support/attempts.ts';
import { PUBLIC_ONLY, USUAL_REACH } from '../../support/destinations.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const LIMITS = ownerLimits(USUAL, 30_000, ['eu', 'us']);
const OPERATOR_LIMITS = { ...operatorLimits(USUAL), regions: ['eu', 'us'] };
const PLAIN = {
  domain: 'a.example',
  name: 'a.example',
  category: 'developer',
  paused: false,
  publicDependencies: false,
  note: '',
  visibility: 'public' as const,
  dependsOn: [],
  check: DEFAULT_CHECK,
};

t.test('it reads a document, whose absent members have their defaults', async (t) => {
  const cases: readonly [object, object][] = [
    [{ domain: 'A.Example' }, PLAIN],
    [
      { domain: 'a.example', name: ' Shop ', category: 'ai', paused: true, publicDependencies: true },
      { ...PLAIN, name: 'Shop', category: 'ai', paused: true, publicDependencies: true },
    ],
    [
      { domain: 'a.example', check: { kind: 'root', method: 'GET', accept: ['2xx', 401, '404', '9xx'] } },
      { ...PLAIN, check: { ...DEFAULT_CHECK, method: 'GET', accept: ['2xx', 401, 404, '9xx'] } },
    ],
    [
      { domain: 'a.example', check: { kind: 'tcp', settings: { port: 443 } } },
      { ...PLAIN, check: { ...DEFAULT_CHECK, kind: 'tcp', settings: { port: 443 } } },
    ],
    [
      {
        domain: 'a.example',
        check: { interval: '30s', timeout: '5s', slowOver: '1s', confirmAfter: [], regions: ['eu'] },
      },
      {
        ...PLAIN,
        check: {
          ...DEFAULT_CHECK,
          ...{ intervalMs: 30_000, timeoutMs: 5_000, slowOverMs: 1_000, confirmAfterMs: [], regions: ['eu'] },
        },
      },
    ],
    [
      { domain: 'a.example', check: { kind: 'heartbeat' }, period: '90s', grace: '1m' },
      { ...PLAIN, check: { ...DEFAULT_CHECK, kind: 'heartbeat', periodMs: 90_000, graceMs: 60_000 } },
    ],
    [
      { domain: 'a.example', check: { kind: 'heartbeat' }, schedule: '@daily', timezone: 'europe/berlin' },
      {
        ...PLAIN,
        check: {
          ...DEFAULT_CHECK,
          kind: 'heartbeat',
          schedule: { cron: '@daily', timezone: 'Europe/Berlin' },
        },
      },
    ],
  ];
  for (const [document, value] of cases)
    t.strictSame(
      readServiceDocument(document, PUBLIC_ONLY, LIMITS),
      { ok: true, value },
      JSON.stringify(document),
    );
});

t.test('what a patch does not name stays, also where it would not be permitted anew', async (t) => {
  const before = { ...DEFAULT_CHECK, kind: 'tcp', settings: { port: 22 } } as const;
  const heartbeat = { ...DEFAULT_CHECK, kind: 'heartbeat' } as const;
  const schedule = { cron: '@daily', timezone: 'Europe/Berlin' };
  const change = (check: CheckDefinition, patch: object) => {
    const stored = serviceDocumentOf({ ...PLAIN, category: 'developer', check });
    return readServiceDocument(mergePatch(stored, patch), PUBLIC_ONLY, LIMITS, { before: check, patch });
  };
  for (const check of [before, { ...before, settings: { port: 0 }, intervalMs: 1, sealed: { token: 'x' } }])
    t.strictSame(change(check, { paused: true, note: 'x' }), {
      ok: true,
      value: { ...PLAIN, paused: true, note: 'x', check },
    });
  t.match(change(before, { check: { settings: { port: 25 } } }), {
    refusals: [{ field: 'check.settings.port' }],
  });
  t.match(change(before, { check: { kind: 'tls', settings: { port: 22 } } }), { ok: false });
  const assertions = ['body lacks error'];
  const bodiless = { ...DEFAULT_CHECK, kind: 'http', settings: { method: 'HEAD', assertions } } as const;
  t.match(change(bodiless, { check: { interval: '5m' } }), {
    value: { check: { intervalMs: 300_000, settings: bodiless.settings } },
  });
  const whole = serviceDocumentOf({ ...PLAIN, category: 'developer', check: bodiless });
  t.match(
    readServiceDocument(whole, PUBLIC_ONLY, LIMITS, { before: bodiless }),
    { ok: true },
    'in a file too',
  );
  t.match(change(bodiless, { check: { settings: { path: '/a' } } }), {
    refusals: [{ field: 'check.settings.assertions' }],
  });
  t.match(readServiceDocument(whole, PUBLIC_ONLY, LIMITS), { ok: false }, 'but not in a new one');
  t.match(
    readServiceDocument(whole, PUBLIC_ONLY, LIMITS, { before: { ...bodiless, sealed: { token: 'x' } } }),
    { ok: false },
    'nor in one without its credential',
  );
  const scheduled = { ...heartbeat, schedule };
  t.match(change(scheduled, { schedule: null, period: '1h' }), { value: { check: { periodMs: 3_600_000 } } });
  t.match(change(scheduled, { schedule: null, timezone: 'UTC' }), { refusals: [{ field: 'timezone' }] });
  const kept = { ...heartbeat, addressHash: 'ab', keepsKind: true } as const;
  t.match(change(kept, { name: 'Job' }), { value: { name: 'Job', check: kept } });
});

t.test('it names every member that is not valid', async (t) => {
  const domain = 'a.example';
  const cases: readonly [unknown, readonly (readonly [field: string | null, code: string])[]][] = [
    ['a.example', [[null, 'member_invalid']]],
    [{}, [['domain', 'member_invalid']]],
    [
      { domain: 7, nme: 'A', check: { knd: 'tcp' } },
      [
        ['nme', 'member_invalid'],
        ['domain', 'member_invalid'],
        ['check.knd', 'member_invalid'],
      ],
    ],
    [
      {
        domain,
        category: 'shops',
        check: { kind: 'push', accept: [99, '0xx', 200], url: 'ftp://a.example' },
      },
      [
        ['category', 'member_invalid'],
        ['check.kind', 'member_invalid'],
        ['check.url', 'member_invalid'],
        ['check.accept.0', 'member_invalid'],
        ['check.accept.1', 'member_invalid'],
      ],
    ],
    [{ domain, check: { url: 'https://ada:secret@a.example/' } }, [['check.url', 'member_invalid']]],
    [
      {
        domain: 'localhost',
        name: ' ',
        period: '1',
        check: { kind: 'tcp', settings: { port: 22, bnner: 'x' } },
      },
      [
        ['domain', 'domain_invalid'],
        ['name', 'service_name_missing'],
        ['check.settings.bnner', 'setting_invalid'],
        ['period', 'duration_invalid'],
      ],
    ],
    [
      { domain, check: { kind: 'tcp', settings: { port: 22 } } },
      [['check.settings.port', 'setting_invalid']],
    ],
    [
      { domain, check: { interval: '29s', timeout: '31s', confirmAfter: ['2s'], regions: ['ap'] } },
      [
        ['check.interval', 'check_member_invalid'],
        ['check.timeout', 'check_member_invalid'],
        ['check.regions', 'check_member_invalid'],
      ],
    ],
    [
      { domain, check: { interval: '1 min', confirmAfter: ['2s', 'x'], regions: [] } },
      [
        ['check.interval', 'member_invalid'],
        ['check.confirmAfter.1', 'member_invalid'],
        ['check.regions', 'member_invalid'],
      ],
    ],
    [
      { domain: 'no spaces', category: 'shops', check: { kind: 'tcp', settings: { port: 0 } } },
      [
        ['category', 'member_invalid'],
        ['domain', 'domain_invalid'],
        ['check.settings.port', 'setting_invalid'],
      ],
    ],
    [
      {
        colour: 'red',
        check: {
          url: 'https://a.example/',
          kind: 'push',
          interval: '1s',
          accept: ['x', 'y'],
          settings: { port: 0 },
        },
      },
      [
        ['domain', 'member_invalid'],
        ['colour', 'member_invalid'],
        ['check.kind', 'member_invalid'],
        ['check.accept.0', 'member_invalid'],
        ['check.accept.1', 'member_invalid'],
        ['check.interval', 'check_member_invalid'],
      ],
    ],
    [
      { domain, check: { accept: Array.from({ length: 51 }, () => 'x') } },
      [['check.accept', 'member_invalid']],
    ],
    [{ domain, schedule: '@daily', period: '1h' }, [['schedule', 'period_and_schedule']]],
    [{ domain, timezone: 'UTC' }, [['timezone', 'timezone_alone']]],
  ];
  for (const [document, expected] of cases) {
    const reading = readServiceDocument(document, PUBLIC_ONLY, LIMITS);
    const found = reading.ok ? [] : reading.refusals.map(({ field, refusal }) => [field, refusal.code]);
    t.strictSame(found, expected, JSON.stringify(document));
  }
});

t.test('it names a thousand wrong members at most', async (t) => {
  const names = Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1] as const);
  const reading = readServiceDocument(
    { domain: 'a.example', ...Object.fromEntries(names) },
    ANY_DESTINATION,
    LIMITS,
  );
  t.equal(reading.ok ? 0 : reading.refusals.length, 1_000);
});

t.test(
  'the address of a check is at a host that stays though its account may no longer name it',
  async (t) => {
    const host = { before: { ...DEFAULT_CHECK, kind: 'heartbeat' }, domain: 'job.account-1.alt' } as const;
    for (const [url, found] of [
      ['https://job.account-1.alt/', []],
      ['https://b.example/', [['check.url', 'url_elsewhere']]],
    ] as const) {
      const document = { domain: 'job.account-1.alt', check: { kind: 'http', url } };
      const reading = readServiceDocument(document, ANY_DESTINATION, LIMITS, host);
      const refusals = reading.ok ? [] : reading.refusals.map(({ field, refusal }) => [field, refusal.code]);
      t.strictSame(refusals, found);
    }
  },
);

t.test('the address of an owner’s check is at the domain', async (t) => {
  const cases: readonly [url: string, isOwn: boolean][] = [
    ['https://a.example/x', true],
    ['http://A.Example:8080/', true],
    ['https://api.a.example/', true],
    ['https://b.example/', false],
    ['https://ba.example/', false],
    ['https://a.example.b.example/', false],
    ['https://192.0.2.1/', false],
  ];
  for (const [url, isOwn] of cases) {
    const document = { domain: 'a.example', check: { url } };
    const reading = readServiceDocument(document, ANY_DESTINATION, LIMITS);
    const found = reading.ok ? [] : reading.refusals.map(({ field, refusal }) => [field, refusal.code]);
    t.strictSame(found, isOwn ? [] : [['check.url', 'url_elsewhere']], url);
    t.ok(readServiceDocument(document, ANY_DESTINATION, OPERATOR_LIMITS).ok, 'the operator may give any');
    const before = { ...DEFAULT_CHECK, url };
    t.ok(
      readServiceDocument(document, ANY_DESTINATION, LIMITS, { before }).ok,
      'one that the operator gave stays',
    );
  }
});

t.test('a check leads to no host that is known not to be public', async (t) => {
  const read = (check: object, before?: typeof DEFAULT_CHECK) => {
    const present = before === undefined ? {} : { before };
    const reading = readServiceDocument(
      { domain: 'a.example', check },
      PUBLIC_ONLY,
      OPERATOR_LIMITS,
      present,
    );
    return reading.ok ? [] : reading.refusals.map(({ field, refusal }) => [field, refusal.code]);
  };
  for (const url of [
    'http://10.0.0.1/',
    'http://[::1]/',
    'https://db.internal/health',
    'http://localhost/',
  ]) {
    t.strictSame(read({ url }), [['check.url', 'url_refused']], url);
    t.strictSame(read({ url }, { ...DEFAULT_CHECK, url }), [], 'one that was given before stays');
  }
  for (const server of ['192.168.0.1', 'fe80::1', 'ns1.internal']) {
    const check = { kind: 'dns', settings: { server } } as const;
    t.strictSame(read(check), [['check.settings.server', 'setting_invalid']], server);
    t.strictSame(read(check, { ...DEFAULT_CHECK, ...check }), [], 'one that was given before stays');
  }
  t.strictSame(read({ kind: 'dns', settings: { server: 'ns1.example.com' } }), []);
});

t.test('it writes a service as the document from which it is read', async (t) => {
  const service = fc.record(
    {
      domain: fc.constantFrom('a.example', 'shop.b.example'),
      name: fc.constantFrom('Shop', 'A: "b" #c', 'a.example'),
      category: fc.constantFrom(...CATEGORIES),
      paused: fc.boolean(),
      publicDependencies: fc.boolean(),
      check: fc.oneof(
        fc.record(
          {
            kind: fc.constantFrom('root', 'health', 'heartbeat'),
            url: fc.constant('https://a.example:8443/x'),
            method: fc.constantFrom('HEAD', 'GET'),
            accept: fc.constantFrom(['2xx'], [200, '4xx']),
            interval: fc.constantFrom('30s', '1d'),
            confirmAfter: fc.constantFrom([], ['2s', '4s']),
            regions: fc.constantFrom(['eu'], ['us', 'eu']),
          },
          { requiredKeys: [] },
        ),
        fc.constant({ kind: 'http', settings: { headers: ['accept: a', 'x: y'], plain: true } }),
      ),
      period: fc.constantFrom('90s', '1d'),
      grace: fc.constantFrom('0ms', '1h'),
      note: fc.constantFrom('Ask Ada', 'a\nb'),
      visibility: fc.constantFrom('unlisted', 'private'),
      dependsOn: fc.constantFrom([], ['router'], ['router', 'b-org']),
    },
    { requiredKeys: ['domain'] },
  );
  fc.assert(
    fc.property(service, (document) => {
      const reading = readServiceDocument(document, ANY_DESTINATION, OPERATOR_LIMITS);
      const written = reading.ok ? serviceDocumentOf(reading.value) : reading;
      t.strictSame(readServiceDocument(written, ANY_DESTINATION, OPERATOR_LIMITS), reading);
    }),
    { numRuns: propertyRuns(50) },
  );
});

t.test('a trusted account names any host, and each in one form', async (t) => {
  const trusted = createOwnerDestinations(USUAL_REACH, true);
  const hosts: readonly (readonly [given: string, domain: string | null])[] = [
    ['192.168.1.5', '192.168.1.5'],
    ['0xc0.168.1.5', '192.168.1.5'],
    ['3232235781', '192.168.1.5'],
    ['[FD00::0:5]', 'fd00::5'],
    ['NAS', 'nas'],
    ['grafana.Internal.', 'grafana.internal'],
    ['nas.home.arpa', 'nas.home.arpa'],
    ['printer.local', 'printer.local'],
    ['shop.example.com', 'shop.example.com'],
    ['1.1.1.1', '1.1.1.1'],
    ...['127.0.0.1', '::1', '0.0.0.0', '169.254.169.254', '::ffff:a9fe:a9fe', 'fe80::1%eth0'].map(
      (host) => [host, null] as const,
    ),
    ...[
      'a b',
      'nas:5000',
      'http://nas',
      'nas/x',
      '-nas',
      '1.2.3.4.5',
      '256.1.1.1',
      '[nas]',
      'user@nas',
      '',
    ].map((host) => [host, null] as const),
  ];
  for (const [given, domain] of hosts) {
    const reading = readServiceDocument({ domain: given }, trusted, LIMITS);
    t.equal(reading.ok ? reading.value.domain : null, domain, given);
    if (domain !== null)
      t.equal(readServiceDocument({ domain }, trusted, LIMITS).ok, true, `${domain} again`);
  }
  const elsewhere = { domain: 'nas', check: { kind: 'tcp', settings: { port: 5432 } } };
  t.ok(readServiceDocument(elsewhere, trusted, LIMITS).ok, 'any port');
  t.match(readServiceDocument({ ...elsewhere, domain: 'a.example' }, PUBLIC_ONLY, LIMITS), { ok: false });
  t.ok(
    readServiceDocument({ domain: 'nas', check: { url: 'http://192.168.1.5:5000/' } }, trusted, LIMITS).ok,
  );
  t.match(readServiceDocument({ domain: 'nas', check: { url: 'http://127.1/' } }, trusted, LIMITS), {
    refusals: [{ field: 'check.url', refusal: { code: 'url_refused' } }],
  });
});

t.test(
  'a private host is checked from the region of this process, unless its owner names others',
  async (t) => {
    const trusted = createOwnerDestinations(USUAL_REACH, true);
    const limits = ownerLimits(USUAL, 30_000, ['eu', 'us'], 'us');
    const regionsOf = (document: object, own = limits, destinations = trusted) => {
      const reading = readServiceDocument(document, destinations, own);
      return reading.ok ? reading.value.check.regions : 'refused';
    };
    t.same(regionsOf({ domain: '192.168.1.5' }), ['us']);
    t.same(regionsOf({ domain: 'a.example', check: { url: 'http://nas.local/' } }), ['us']);
    t.same(regionsOf({ domain: '192.168.1.5', check: { regions: ['eu'] } }), ['eu']);
    t.same(regionsOf({ domain: 'nas', check: { kind: 'heartbeat' } }), undefined);
    t.same(regionsOf({ domain: 'a.example' }), undefined);
    t.same(regionsOf({ domain: 'a.example' }, limits, PUBLIC_ONLY), undefined);
    t.same(
      regionsOf({ domain: 'nas' }, ownerLimits(USUAL, 30_000, ['us'], 'us')),
      undefined,
      'there is one region',
    );
  },
);
