/** Several services of owners on one host. */
import { type CheckKind, DEFAULT_CHECK, type Service } from '../../../../src/domain/service.ts';
import type { AddedService, DefinedService } from '../../../../src/store/ports/services.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, NOON } from '../../registry-fixtures.ts';

const NOT_PROVEN = { isProven: false, now: NOON };

const define = (kind: CheckKind, more: Partial<DefinedService> = {}): DefinedService => ({
  ...{ domain: 'shop.org', name: 'shop.org', category: 'developer', paused: false },
  check: { ...DEFAULT_CHECK, kind },
  ...more,
});

const namesOf = (services: readonly Service[]) =>
  services.map(({ slug, isFurther = false, verified }) => [slug, isFurther, verified]);

overBoth(async (t, open) => {
  t.test('it adds another service of a host beside the first one, where that is meant', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const add = (service: DefinedService, beside?: 'otherCheck') =>
      registry.registerService(ada, service, { ...NOT_PROVEN, beside });
    t.match(await add(define('root')), { slug: 'shop-org' });
    const taken = { code: 'domain_taken', refusal: { free: 'shop-org-root' } };
    await t.rejects(add(define('root')), taken, 'a repetition');
    await t.rejects(add(define('root'), 'otherCheck'), taken, 'one with the same check');
    await t.rejects(add(define('http')), { code: 'domain_taken' }, 'one that does not name its check');
    t.match(await add(define('tcp', { check: { ...DEFAULT_CHECK, kind: 'tcp' } }), 'otherCheck'), {
      slug: 'shop-org-tcp',
      isFurther: true,
    });
    t.match(await add(define('http', { name: 'Grüße, API!' }), 'otherCheck'), {
      slug: 'shop-org-grusse-api',
    });
    t.match(await add(define('root', { slug: 'shop-org-again' })), { isFurther: true });
    await t.rejects(add(define('http', { slug: 'shop-org-again' })), {
      code: 'slug_taken',
      refusal: { free: 'shop-org-again-2' },
    });
    await t.rejects(registry.registerService(grace, define('icmp', { slug: 'shop-org-hers' }), NOT_PROVEN), {
      code: 'foreign_domain',
    });
    t.strictSame(namesOf(await registry.servicesOf(ada)), [
      ['shop-org', false, false],
      ['shop-org-again', true, false],
      ['shop-org-grusse-api', true, false],
      ['shop-org-tcp', true, false],
    ]);
    t.match(await registry.claimDomain('shop.org', ada), { slug: 'shop-org', check: { kind: 'heartbeat' } });
    const { id } = (await registry.findService('shop-org-tcp')) ?? { id: 0 };
    t.match(await registry.claimDomain('shop.org', ada, id), { slug: 'shop-org-tcp' });
    await t.rejects(registry.claimDomain('shop.org', ada, 999), { code: 'not_found' });
  });

  t.test('the oldest of the others follows the first service of a host', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    await registry.proveDomain(ada, 'shop.org', 'root', NOON);
    for (const kind of ['tcp', 'tls'] as const)
      await registry.registerService(ada, define(kind), { ...NOT_PROVEN, beside: 'otherCheck' });
    t.strictSame(namesOf(await registry.servicesOf(ada)), [
      ['shop-org', false, true],
      ['shop-org-tcp', true, true],
      ['shop-org-tls', true, true],
    ]);
    await registry.removeService('shop-org');
    t.match(await registry.findService('shop-org-tcp'), { formerSlugs: ['shop-org'] });
    t.strictSame(namesOf(await registry.servicesOf(ada)), [
      ['shop-org-tcp', false, true],
      ['shop-org-tls', true, true],
    ]);
    t.match(await registry.claimDomain('shop.org', ada), { slug: 'shop-org-tcp' });
    await registry.removeService('shop-org-tls');
    const back = await registry.registerService(ada, define('tls', { slug: 'shop-org-tls' }), NOT_PROVEN);
    t.match(back, { isFurther: true, verified: true }, 'one that returns is not the first');
    await registry.removeService('shop-org-tcp');
    t.match(await registry.findService('shop-org-tls'), { id: back.id, formerSlugs: ['shop-org'] });
    t.notOk((await registry.findService('shop-org-tls'))?.isFurther);
  });

  t.test('a proof verifies every service of the host, and moves them', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const beside = { ...NOT_PROVEN, beside: 'otherCheck' as const };
    await registry.registerService(ada, define('root'), NOT_PROVEN);
    await registry.registerService(ada, define('tcp'), beside);
    await registry.proveDomain(ada, 'shop.org', 'root', NOON);
    await registry.registerService(ada, define('tls'), beside);
    t.ok((await registry.servicesOf(ada)).every(({ verified }) => verified));
    t.match(await registry.proveDomain(grace, 'shop.org', 'root', NOON), { slug: 'shop-org' });
    t.strictSame(await registry.servicesOf(ada), []);
    t.strictSame(namesOf(await registry.servicesOf(grace)), [
      ['shop-org', false, true],
      ['shop-org-tcp', true, true],
      ['shop-org-tls', true, true],
    ]);
    t.equal((await registry.noticesOf(ada)).length, 1, 'the domain is lost once');

    const other = { domain: 'new.org' };
    await registry.registerService(ada, define('root', other), NOT_PROVEN);
    await registry.registerService(ada, define('tcp', other), beside);
    await registry.proveDomain(grace, 'new.org', 'root', NOON);
    t.equal(await registry.findService('new-org-tcp'), null, 'what a stranger made up there goes');
  });

  t.test('a slug that an owner has chosen gives way to the domain of that form', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    await registry.proveDomain(ada, 'shop.co', 'root', NOON);
    const domain = { domain: 'shop.co' };
    await registry.registerService(ada, define('tcp', { ...domain, slug: 'shop-co-uk' }), NOT_PROVEN);
    t.match(await registry.proveDomain(grace, 'shop.co.uk', 'root', NOON), { slug: 'shop-co-uk' });
    t.match(await registry.findService('shop-co-uk-2'), { domain: 'shop.co', accountId: ada });
    await registry.registerService(ada, define('tls', { ...domain, slug: 'shop-co-eu' }), NOT_PROVEN);
    await registry.removeService('shop-co-eu');
    t.match(await registry.proveDomain(grace, 'shop.co.eu', 'root', NOON), { slug: 'shop-co-eu' });
    await registry.putCatalogue([entry('shop-co-uk-2')]);
    t.match(await registry.findService('shop-co-uk-2-2'), { domain: 'shop.co', accountId: ada });
  });

  t.test('the operator adds many of a host, each under a slug of its own', async (t) => {
    const registry = await open(t, undefined, { domainsPerAccount: Number.POSITIVE_INFINITY });
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const listed = (kind: CheckKind, more: Partial<DefinedService> = {}): AddedService => ({
      ...define(kind, more),
      ...({ origin: 'owner', accountId: ada, verified: true, statusPage: null, beside: 'always' } as const),
    });
    const services = [
      listed('http', { slug: 'nas' }),
      listed('http', { name: 'API' }),
      listed('http', { name: 'API' }),
      listed('tcp'),
    ];
    t.strictSame(await registry.addServices(services), [
      { slug: 'nas' },
      { slug: 'shop-org-api' },
      { slug: 'shop-org-api-2' },
      { slug: 'shop-org-tcp' },
    ]);
    t.match(
      await registry.findService('nas'),
      { formerSlugs: ['shop-org'] },
      'the form of the domain leads there',
    );
    t.match(await registry.proveDomain(ada, 'shop.org', 'root', NOON), { slug: 'nas' });
  });
});
