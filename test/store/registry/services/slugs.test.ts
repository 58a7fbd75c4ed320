/** Slugs of domains that have the same dashed form: a number for each, and no more work for the last than for the first. */
import t from 'tap';
import { DEFAULT_CHECK } from '../../../../src/domain/service.ts';
import type { LimitedStore } from '../../../../src/store/database/registry-calls.ts';
import { statement } from '../../../../src/store/database/registry-store.ts';
import { ensureAccount } from '../../../../src/store/registry/accounts/account-rows.ts';
import { claimDomain } from '../../../../src/store/registry/ownership.ts';
import { proveDomain } from '../../../../src/store/registry/prove-domain.ts';
import { removeService } from '../../../../src/store/registry/services/owner-services.ts';
import { insertService } from '../../../../src/store/registry/services/service-rows.ts';
import { nameKeys, resembles } from '../../../../src/store/registry/services/slugs.ts';
import { testOverBoth } from '../../../support/both-registries.ts';
import { entry } from '../../registry-fixtures.ts';

const LIMITS = { perAccount: 1_000, perDay: 1_000 };
const LABELS = [...'abcdefgh'];

/** One of 128 domains that are `a-b-c-d-e-f-g-h` with dashes for dots. */
function alike(n: number): string {
  return LABELS.map((label, index) =>
    index === 0 ? label : `${(n >> (index - 1)) & 1 ? '.' : '-'}${label}`,
  ).join('');
}

testOverBoth(
  'it finds the number of a slug with as many questions however many are taken',
  async (t, makePlace) => {
    const plain = { ...(await (await makePlace(t)).openStore()), limits: LIMITS };
    const { queries } = plain;
    let asked = 0;
    const store: LimitedStore = {
      ...plain,
      queries: {
        ...queries,
        all(query) {
          asked += 1;
          return queries.all(query);
        },
        first(query) {
          asked += 1;
          return queries.first(query);
        },
      },
    };
    const { id } = await ensureAccount(store, 'ada', 1);
    const questions: number[] = [];
    const slugs: string[] = [];
    for (let n = 64; n < 128; n++) {
      asked = 0;
      slugs.push((await claimDomain(store, alike(n), id)).slug);
      questions.push(asked);
    }
    t.same(slugs.slice(0, 3), ['a-b-c-d-e-f-g-h', 'a-b-c-d-e-f-g-h-2', 'a-b-c-d-e-f-g-h-3']);
    t.equal(slugs.at(-1), 'a-b-c-d-e-f-g-h-64');
    t.equal(questions.at(-1), questions[1]);

    await removeService(store, 'a-b-c-d-e-f-g-h-30');
    t.equal((await claimDomain(store, alike(63), id)).slug, 'a-b-c-d-e-f-g-h-30', 'it was never verified');
    t.equal((await claimDomain(store, alike(93), id)).slug, 'a-b-c-d-e-f-g-h-65');
  },
);

testOverBoth('it judges ownership at every heartbeat, not only at the first', async (t, makePlace) => {
  const store = { ...(await (await makePlace(t)).openStore()), limits: LIMITS };
  const { id } = await ensureAccount(store, 'ada', 1);
  const mine = await claimDomain(store, 'api.big.com', id);
  // An entry that came past the rules that make room for it.
  await insertService(store, entry('big', { check: DEFAULT_CHECK }));
  await t.rejects(claimDomain(store, 'api.big.com', id), { code: 'catalogue_domain' });
  await proveDomain(store, id, 'api.big.com', 'heartbeat', 2);
  t.equal((await claimDomain(store, 'api.big.com', id)).id, mine.id);
});

testOverBoth('it counts registrations of the last 24 hours, whatever the clock did', async (t, makePlace) => {
  const store = await (await makePlace(t)).openStore();
  const { id } = await ensureAccount(store, 'ada', 1);
  const limits = { perAccount: 100, perDay: 3 };
  const move = statement('UPDATE domain_registrations SET at = at + ?');
  const moveAll = (byMs: number) => store.queries.run(move(byMs));
  const claim = async (domain: string) => (await claimDomain({ ...store, limits }, domain, id)).domain;
  for (const domain of ['a.org', 'b.org', 'c.org']) await claim(domain);
  await moveAll(-86_400_000 + 60_000);
  await t.rejects(claim('d.org'), { code: 'account_limit' }, 'a minute too early');
  await moveAll(-60_000);
  t.equal(await claim('d.org'), 'd.org');
  await moveAll(7 * 86_400_000);
  for (const domain of ['e.org', 'f.org', 'g.org'])
    t.equal(await claim(domain), domain, 'the clock was set back');
  await t.rejects(claim('h.org'), { code: 'account_limit' });
});

t.test(
  'it sees through letters of other scripts, case, accents, spaces, punctuation and decoration',
  async (t) => {
    const alike: Readonly<Record<string, readonly string[]>> = {
      GitHub: [
        'github',
        'GITHUB',
        'GlTHUB',
        'G1tHub',
        'G|tHub',
        ' Git Hub ',
        'Git-Hub.',
        '[GitHub]',
        'GіtHub',
        'GitНub',
        'Gitһub',
        'Ꮐithub',
        'ＧｉｔＨｕｂ',
        '𝐆𝐢𝐭𝐇𝐮𝐛',
        'Ⓖⓘⓣⓗⓤⓑ',
        '🅶🅸🆃🅷🆄🅱',
        '🇬🇮🇹🇭🇺🇧',
        'ɢɪᴛʜᴜʙ',
        'Ġîťĥüb',
        'GitHub™',
        'Git\u200bHub',
        'Git\u00adHub',
        'Git\u3164Hub',
        'Git⁠Hub',
      ],
      PayPal: ['PayPaI', 'PаyPal', 'Раураӏ'],
      Google: ['G00gle', 'Gοοgle', 'Googłe'],
      Microsoft: ['Rnicrosoft', 'Micros0ft'],
      WhatsApp: ['VVhatsApp'],
      X: ['x', 'Х', '✗ x'],
    };
    for (const [name, others] of Object.entries(alike))
      for (const other of others)
        t.ok(resembles(other, name) && resembles(name, other), `${name} and ${other} ${nameKeys(other)}`);
  },
);

t.test('it distinguishes names that differ', async (t) => {
  const different = [
    ['GitHub', 'GitLab'],
    ['GitHub', 'GitHub mirror'],
    ['Stripe', 'Stride'],
    ['Zoom', 'Zoo'],
    ['微信', '微博'],
    ['C', 'C2'],
    ['!!!', '???'],
    ['', ''],
  ] as const;
  for (const [one, other] of different) t.notOk(resembles(one, other), `${one} and ${other}`);
});
