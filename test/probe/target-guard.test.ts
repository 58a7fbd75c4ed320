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
