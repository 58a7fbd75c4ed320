/** Status pages in the registry. */
import type { WantedPage } from '../../../../src/store/ports/account-content.ts';
import type { NewPage, PageEdit, StoredPicture } from '../../../../src/store/ports/status-pages.ts';
import { overBoth } from '../../registry-contract.ts';
import { entry, firstTurn, incident, NOON, owned } from '../../registry-fixtures.ts';

const LOGO: StoredPicture = {
  type: 'image/png',
  width: 64,
  height: 32,
  mark: 'abcdef0123456789',
  bytes: new Uint8Array([1, 2, 3]),
};

const page = (accountId: number, slug: string, more: Partial<NewPage> = {}): NewPage => ({
  accountId,
  slug,
  title: 'Our services',
  text: 'All that we run.',
  groups: [{ name: 'Web', services: [1, 2] }],
  now: NOON,
  ...more,
});

overBoth(async (t, open) => {
  t.test('it makes a page, changes it at its revision, and shows it whole', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const made = await registry.addPage(page(ada, 'shop'));
    const { now: _, ...said } = page(ada, 'shop');
    t.strictSame(made, {
      id: made.id,
      ...said,
      logo: null,
      revision: 1,
      createdAt: NOON,
      updatedAt: NOON,
    });
    t.strictSame(await registry.findPage('shop'), made);
    t.equal(await registry.findPage('other'), null);
    const groups = [{ name: '', services: [2] }];
    await registry.changePage({ accountId: ada, slug: 'shop', revision: 1 }, { groups }, NOON + 5);
    await t.rejects(
      registry.changePage({ accountId: ada, slug: 'shop', revision: 1 }, { title: 'Late' }, NOON + 6),
      { code: 'stale' },
    );
    await registry.changePage(
      { accountId: ada, slug: 'shop', revision: 2 },
      { title: 'Shop', text: '' },
      NOON + 7,
    );
    t.strictSame(await registry.pagesOf(ada), [
      { ...made, title: 'Shop', text: '', groups, revision: 3, updatedAt: NOON + 7 },
    ]);
    t.match(await registry.listPages(), [{ slug: 'shop', accountName: 'ada' }]);
  });

  t.test(
    'it keeps the colour of a page and who sees it, also when an account has it as a document',
    async (t) => {
      const registry = await open(t);
      const { id: ada } = await registry.ensureAccount('ada', NOON);
      const made = await registry.addPage(page(ada, 'shop', { colour: '#0a7d4f', access: 'members' }));
      t.match(made, { colour: '#0a7d4f', access: 'members' });
      t.strictSame(await registry.findPage('shop'), made);
      await registry.changePage({ accountId: ada, slug: 'shop', revision: 1 }, { title: 'Shop' }, NOON);
      t.match(await registry.findPage('shop'), { title: 'Shop', colour: '#0a7d4f', access: 'members' });
      await registry.changePage(
        { accountId: ada, slug: 'shop', revision: 2 },
        { colour: null, access: 'public' },
        NOON,
      );
      t.notMatch(await registry.findPage('shop'), { colour: String });
      t.equal((await registry.findPage('shop'))?.access, undefined);
      const { slug, title, text, groups } = page(ada, 'shop');
      const wanted = { slug, title, text, groups, logo: null, colour: '#ffffff', access: 'members' as const };
      const changes = { seen: [], removedPages: [], removedServices: [], services: [], pages: [wanted] };
      const options = { now: NOON, verified: true, dryRun: false };
      for (const _ of ['first', 'again']) t.same(await registry.putContent(ada, changes, options), []);
      t.match(await registry.findPage('shop'), { colour: '#ffffff', access: 'members', revision: 4 });
    },
  );

  t.test(
    'it keeps the password of a page apart, until another access or password takes its place',
    async (t) => {
      const registry = await open(t);
      const { id: ada } = await registry.ensureAccount('ada', NOON);
      await t.rejects(registry.addPage(page(ada, 'open', { access: 'password' })), /no password/);
      const made = await registry.addPage(page(ada, 'shop', { access: 'password', passwordHash: 'hash-1' }));
      t.match(made, { access: 'password', passwordMark: /^[0-9a-f]{32}$/ });
      t.notMatch(JSON.stringify(made), 'hash-1');
      t.equal(await registry.findPagePassword(made.id), 'hash-1');
      t.strictSame(await registry.findPage('shop'), made);
      const change = (revision: number, edit: PageEdit) =>
        registry.changePage({ accountId: ada, slug: 'shop', revision }, edit, NOON);
      await change(1, { title: 'Shop' });
      await change(2, { access: 'password', passwordHash: null });
      t.match(await registry.findPage('shop'), { access: 'password', passwordMark: made.passwordMark });
      await change(3, { access: 'password', passwordHash: 'hash-2' });
      t.not((await registry.findPage('shop'))?.passwordMark, made.passwordMark);
      const wanted = { slug: 'shop', title: 'Shop', text: '', groups: [], logo: null, colour: null };
      const put = (readers: Pick<WantedPage, 'access' | 'passwordHash'>) => {
        const changes = {
          seen: [],
          removedPages: [],
          removedServices: [],
          services: [],
          pages: [{ ...wanted, ...readers }],
        };
        return registry.putContent(ada, changes, { now: NOON, verified: true, dryRun: false });
      };
      t.same(await put({ access: 'password' }), []);
      t.equal(await registry.findPagePassword(made.id), 'hash-2');
      await put({ access: 'password', passwordHash: 'hash-3' });
      t.equal(await registry.findPagePassword(made.id), 'hash-3');
      await put({ access: 'members' });
      t.equal(await registry.findPagePassword(made.id), null);
      t.notOk('passwordMark' in ((await registry.findPage('shop')) ?? {}));
      await put({ access: 'password', passwordHash: 'hash-4' });
      await registry.removePage(ada, 'shop');
      t.equal(await registry.findPagePassword(made.id), null);
    },
  );

  t.test('it gives the domain of a page to the newest proof, and keeps it over other changes', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const [name, proved] = [
      'status.example.com',
      { name: 'status.example.com', provedAt: NOON, missingSince: null },
    ];
    await registry.addPage(page(ada, 'shop', { domain: name }));
    await registry.addPage(page(grace, 'other', { domain: name }));
    t.same((await registry.findPage('shop'))?.domain, { ...proved, provedAt: null });
    t.same(await registry.provedPageDomains(), []);
    t.equal(await registry.provePageDomain(grace, 'shop', name, NOON), 'missing');
    t.equal(await registry.provePageDomain(ada, 'shop', 'other.example.com', NOON), 'missing');
    t.same((await registry.findPage('shop'))?.revision, 1);
    t.match(await registry.provePageDomain(ada, 'shop', name, NOON), { domain: proved, revision: 2 });
    const one = { domain: name, slug: 'shop', accountId: ada, checkedAt: NOON, missingSince: null };
    t.same(await registry.provedPageDomains(), [one]);
    await registry.notePageProof(ada, name, 'missing', NOON + 5);
    await registry.notePageProof(ada, name, 'missing', NOON + 9);
    t.same(await registry.provedPageDomains(), [{ ...one, checkedAt: NOON + 9, missingSince: NOON + 5 }]);
    await registry.notePageProof(ada, name, 'found', NOON + 9);
    await registry.changePage(
      { accountId: ada, slug: 'shop', revision: 2 },
      { domain: name, title: 'Again' },
      NOON,
    );
    t.same((await registry.findPage('shop'))?.domain, proved);
    t.match(await registry.provePageDomain(grace, 'other', name, NOON + 10), { slug: 'other' });
    t.match(await registry.findPage('shop'), { revision: 4, domain: { name, provedAt: null } });
    t.match(await registry.noticesOf(ada), [{ notice: { code: 'page_domain_lost', domain: name } }]);
    await registry.notePageProof(ada, name, 'lapses', NOON + 11);
    t.match(await registry.provedPageDomains(), [{ slug: 'other' }], 'it has lost it already');
    await registry.notePageProof(grace, name, 'lapses', NOON + 11);
    t.same(await registry.provedPageDomains(), []);
    await registry.removePage(ada, 'shop');
    const again = await registry.addPage(page(ada, 'shop'));
    t.equal(again.domain, undefined);
  });

  t.test('it refuses changes of a page by other accounts', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    const made = await registry.addPage(page(ada, 'shop'));
    await t.rejects(
      registry.changePage({ accountId: grace, slug: 'shop', revision: 1 }, { title: 'Mine' }, NOON),
      { code: 'not_found' },
    );
    t.equal(await registry.putPictures({ accountId: grace, slug: 'shop' }, { logo: LOGO }, NOON), false);
    await t.rejects(registry.removePage(grace, 'shop'), { code: 'not_found' });
    t.same(await registry.pagesOf(grace), []);
    t.strictSame(await registry.findPage('shop'), made);
  });

  t.test('it never gives a slug to another account', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const { id: grace } = await registry.ensureAccount('grace', NOON);
    await registry.addPage(page(ada, 'shop'));
    await registry.putPictures({ accountId: ada, slug: 'shop' }, { logo: LOGO }, NOON);
    await t.rejects(registry.addPage(page(ada, 'shop')), { code: 'slug_taken' });
    await t.rejects(registry.addPage(page(grace, 'shop')), { code: 'slug_taken' });
    await registry.removePage(ada, 'shop');
    await t.rejects(registry.removePage(ada, 'shop'), { code: 'not_found' });
    t.equal(await registry.findPage('shop'), null);
    t.equal(await registry.findPicture('shop', 'logo'), null);
    t.same(await registry.listPages(), []);
    await t.rejects(registry.addPage(page(grace, 'shop')), { code: 'slug_taken' });
    const again = await registry.addPage(page(ada, 'shop', { title: 'Back', now: NOON + 9 }));
    t.match(again, { title: 'Back', logo: null, createdAt: NOON + 9 });
    t.ok(again.revision > 1, 'a form of the old page does not fit the new one');
  });

  t.test('it keeps the names of public services from pages of strangers', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('big')]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    await t.rejects(registry.addPage(page(ada, 'big')), { code: 'slug_taken', message: /BIG/ });
    await t.rejects(registry.addPage(page(ada, 'big-com')), { code: 'slug_taken' });
    t.match(await registry.addPage(page(ada, 'bigger')), { slug: 'bigger' });
  });

  t.test('it bounds the pages of an account', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    for (let n = 1; n <= 20; n++) await registry.addPage(page(ada, `page-${n}`));
    await t.rejects(registry.addPage(page(ada, 'page-21')), { code: 'account_limit', message: /20/ });
    await registry.removePage(ada, 'page-1');
    t.match(await registry.addPage(page(ada, 'page-21')), { slug: 'page-21' });
  });

  t.test('it keeps a logo with its page, and takes it away', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    await registry.addPage(page(ada, 'shop'));
    t.equal(await registry.findPicture('shop', 'logo'), null);
    t.equal(await registry.putPictures({ accountId: ada, slug: 'shop' }, { logo: LOGO }, NOON + 1), true);
    const { bytes, ...about } = LOGO;
    const kept = await registry.findPicture('shop', 'logo');
    t.strictSame({ ...kept, bytes: [...(kept?.bytes ?? [])] }, { ...about, bytes: [...bytes] });
    t.match(await registry.findPage('shop'), { logo: about, revision: 2, updatedAt: NOON + 1 });
    t.equal(await registry.putPictures({ accountId: ada, slug: 'shop' }, { logo: null }, NOON + 2), true);
    t.equal(await registry.findPicture('shop', 'logo'), null);
    t.match(await registry.findPage('shop'), { logo: null, revision: 3 });
  });

  t.test('it keeps a favicon apart from the logo', async (t) => {
    const registry = await open(t);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const favicon = { ...LOGO, type: 'image/x-icon', mark: 'icon', bytes: new Uint8Array([9, 8]) } as const;
    const added = await registry.addPage({ ...page(ada, 'shop'), logo: LOGO, favicon });
    t.match(added, { logo: { mark: LOGO.mark }, favicon: { mark: 'icon' } });
    t.same([...((await registry.findPicture('shop', 'favicon'))?.bytes ?? [])], [9, 8]);
    t.equal(await registry.putPictures({ accountId: ada, slug: 'shop' }, { logo: null }, NOON + 1), true);
    t.match(await registry.findPicture('shop', 'favicon'), { type: 'image/x-icon' });
    await registry.changePage(
      { accountId: ada, slug: 'shop', revision: 2 },
      { favicon: null, logo: LOGO },
      NOON + 2,
    );
    t.equal(await registry.findPicture('shop', 'favicon'), null);
    t.notOk('favicon' in ((await registry.findPage('shop')) ?? {}));
    t.match(await registry.findPicture('shop', 'logo'), { mark: LOGO.mark });
  });

  t.test('it lists what happens to several services, and to no removed one', async (t) => {
    const registry = await open(t);
    await registry.putCatalogue([entry('a'), entry('b'), entry('c')]);
    const { id: ada } = await registry.ensureAccount('ada', NOON);
    const mine = await registry.addService(owned('o.org', ada));
    const opened = (serviceId: number, id: string, at: number, resolved = false) => ({
      ...firstTurn(serviceId, 'down', NOON, `s${serviceId}`),
      incident: incident(serviceId, id, {
        startedAt: at,
        ...(resolved ? { status: 'resolved' as const, resolvedAt: at + 9 } : {}),
      }),
    });
    await registry.commitUpdates([
      opened(1, 'own-1', NOON + 1),
      opened(2, 'own-2', NOON + 2, true),
      opened(3, 'own-3', NOON + 3),
      opened(mine.id, 'own-4', NOON + 4),
    ]);
    const idsOf = async (query: Partial<Parameters<typeof registry.incidentsOfServices>[0]>) =>
      (
        await registry.incidentsOfServices({ serviceIds: [1, 2, mine.id], limit: 10, offset: 0, ...query })
      ).map(({ id }) => id);
    t.same(await idsOf({}), ['own-4', 'own-2', 'own-1']);
    t.same(await idsOf({ running: true }), ['own-4', 'own-1']);
    t.same(await idsOf({ running: false }), ['own-2']);
    t.same(await idsOf({ limit: 1, offset: 1 }), ['own-2']);
    t.same(await idsOf({ after: { startedAt: NOON + 4, id: 'own-4' } }), ['own-2', 'own-1']);
    t.same(await idsOf({ after: { startedAt: NOON + 4, id: 'own-4' }, running: true }), ['own-1']);
    t.same(await idsOf({ serviceIds: [] }), []);
    t.same(await idsOf({ isAnnounced: false, running: true }), ['own-4', 'own-1']);
    t.same(await idsOf({ isAnnounced: true }), []);
    await registry.removeService(mine.slug);
    t.same(await idsOf({}), ['own-2', 'own-1']);
    const announce = (serviceId: number, slug: string, startsAt: number) => ({
      serviceId,
      slug,
      feed: 'f',
      kind: 'rss',
      document: 'd',
      listsOnlyOpen: false,
      readAt: NOON,
      entries: [
        {
          kind: 'maintenance' as const,
          key: 'm',
          title: `Work on ${slug}`,
          description: '',
          startsAt,
          endsAt: startsAt + 1_000,
          state: 'planned' as const,
          sourceUrl: 'https://v.example/m',
          components: null,
          updates: [],
        },
      ],
    });
    await registry.putVendorReadings([announce(1, 'a', NOON + 90_000), announce(2, 'b', NOON + 80_000)]);
    await registry.putVendorReadings([announce(3, 'c', NOON + 70_000)]);
    const ahead = async (serviceIds: readonly number[], limit = 10) =>
      (await registry.maintenancesOfServices(serviceIds, limit)).map(({ title }) => title);
    t.same(await ahead([1, 2]), ['Work on b', 'Work on a']);
    t.same(await ahead([1, 2], 1), ['Work on b']);
    t.same(await ahead([]), []);
    await registry.putVendorReadings([announce(2, 'b', NOON - 500)]);
    const [begun, ...others] = await idsOf({ isAnnounced: true });
    t.match([begun, others], [/^rss-/, []]);
    t.notOk((await idsOf({ isAnnounced: false })).includes(begun ?? ''));
    t.equal((await idsOf({})).length, (await idsOf({ isAnnounced: false })).length + 1);
    await registry.putCatalogue([entry('a'), entry('c')]);
    t.same(await ahead([1, 2]), ['Work on a']);
  });
});
