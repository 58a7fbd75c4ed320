import t from 'tap';
import { DEFAULT_CHECK, type ServiceOrigin } from '../../src/domain/service.ts';
import { createTargetGuards } from '../../src/probe/prober.ts';

const settings = { allowPrivate: ['10.1.0.0/16'], ports: [80, 443], ownersMayProbePrivate: false };
const target = (origin: ServiceOrigin, url: string | null) => ({
  origin,
  accountId: null,
  check: { ...DEFAULT_CHECK, url },
});

t.test(
  'it allows a catalogue service the port in its address, and no service the port of another',
  async (t) => {
    const guards = createTargetGuards(settings);
    const own = guards(target('catalogue', 'https://example.com:8443/'), 8443);
    const verdicts = [443, 80, 8443, 8444].map((port) => own.judge('1.1.1.1', port));
    t.same(verdicts, [null, null, null, { code: 'port_forbidden', port: 8444 }]);
    const plain = guards(target('catalogue', null), 443);
    t.same(plain.judge('1.1.1.1', 8443), { code: 'port_forbidden', port: 8443 });
    const another = guards(target('catalogue', 'https://example.com:9443/'), 9443);
    t.same(another.judge('1.1.1.1', 8443), { code: 'port_forbidden', port: 8443 });
    t.same(own.judge('10.2.0.1', 8443), {
      code: 'address_not_public',
      address: '10.2.0.1',
      purpose: 'private',
    });
    t.equal(own.judge('10.1.0.1', 5432), null);
  },
);

t.test('it allows owners public addresses on the common ports alone', async (t) => {
  const owner = createTargetGuards(settings)(target('owner', 'https://example.com:8443/'), 8443);
  t.equal(owner.judge('1.1.1.1', 443), null);
  t.same(owner.judge('1.1.1.1', 8443), { code: 'port_forbidden', port: 8443 });
  t.same(owner.judge('10.1.0.1', 443), {
    code: 'address_not_public',
    address: '10.1.0.1',
    purpose: 'private',
  });
});

t.test('it opens the private blocks to owners where the operator says so, and no more', async (t) => {
  const owner = createTargetGuards({ ...settings, ownersMayProbePrivate: true })(target('owner', null), 443);
  t.equal(owner.judge('10.1.0.1', 5432), null);
  t.same(owner.judge('10.2.0.1', 443), {
    code: 'address_not_public',
    address: '10.2.0.1',
    purpose: 'private',
  });
  t.same(owner.judge('1.1.1.1', 8443), { code: 'port_forbidden', port: 8443 });
});

t.test(
  'it opens private addresses and every port to services of a trusted account, while it owns them',
  async (t) => {
    const guards = createTargetGuards({ ...settings, trustedPrivate: ['private', 'fd00:1::/32'] });
    const owned = (accountId: number | null, trustedBy?: number) => ({
      ...target('owner', null),
      accountId,
      check: { ...DEFAULT_CHECK, ...(trustedBy === undefined ? {} : { trustedBy }) },
    });
    const own = guards(owned(7, 7), 5000);
    for (const address of ['192.168.1.5', '10.9.0.1', 'fd00:1::5', '1.1.1.1'])
      t.equal(own.judge(address, 5000), null, address);
    for (const address of ['127.0.0.1', '100.64.0.1', 'fd00:2::5', '169.254.169.254'])
      t.match(own.judge(address, 443), { code: 'address_not_public' }, address);
    // It went to another account, its account is not known here, or it is one of the catalogue.
    const others = [owned(8, 7), owned(null, 7), owned(7), { ...owned(7, 7), origin: 'catalogue' as const }];
    for (const one of others) {
      t.match(guards(one, 5000).judge('192.168.1.5', 443), { code: 'address_not_public' });
      t.match(guards(one, null).judge('1.1.1.1', 5000), { code: 'port_forbidden' });
    }
  },
);
