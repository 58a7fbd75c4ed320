/** Proofs of control over a domain: by a TXT record of a real name server, or by a file of the site. */
import t, { type Test } from 'tap';
import { getOrInsert } from '../../src/async/bounded-map.ts';
import { type DomainProofs, openDomainProofs } from '../../src/auth/domain-proof.ts';
import { describeRefusal } from '../../src/domain/refusal.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import type { OutboundRequest, OutboundResponse } from '../../src/outbound/outbound.ts';
import { startNameServer } from '../support/name-server.ts';

async function world(t: Test) {
  const texts = new Map<string, string>();
  const names = await startNameServer(({ name }) => {
    const text = texts.get(name);
    return text === undefined ? { code: 3 } : { texts: ['another record', text] };
  });
  t.teardown(() => names.close());
  const facts = new Map<string, string>();
  const asked: OutboundRequest[] = [];
  const file: { answer: Partial<OutboundResponse> } = { answer: { status: 404 } };
  const open = () =>
    openDomainProofs({
      registry: {
        getFact: async (name) => facts.get(name) ?? null,
        ensureFact: async (name, value) => getOrInsert(facts, name, () => value),
      },
      outbound: {
        async request(request) {
          asked.push(request);
          const base = {
            status: 0,
            headers: {},
            body: null,
            fault: null,
            timing: NO_TIMING,
            url: request.url,
          };
          return { ...base, ...file.answer };
        },
      },
      policy: { allowPrivate: [], ports: [443] },
      nameservers: [names.address],
    });
  return { texts, file, asked, open, proofs: await open() };
}

/** What a proof was refused for, in English; null: it was there. */
const found = async (proofs: DomainProofs, accountId: number, domain: string) => {
  const refusal = await proofs.check(accountId, domain);
  return refusal === null ? null : describeRefusal(refusal);
};

t.test('it takes the word of the account from either place, and no other', async (t) => {
  const { texts, file, asked, proofs } = await world(t);
  const { recordName, word, fileUrl } = proofs.instructions(1, 'shop.org');
  t.match(
    { recordName, word, fileUrl },
    {
      recordName: '_upbeat.shop.org',
      word: /^upbeat-verify=[0-9a-f]{40}$/,
      fileUrl: 'https://shop.org/.well-known/upbeat-verify',
    },
  );
  t.match(
    await found(proofs, 1, 'shop.org'),
    /there is no TXT record at _upbeat\.shop\.org, and at .*: HTTP 404/,
  );
  t.match(asked, [{ url: fileUrl, policy: { allowPrivate: [] }, maxBodyBytes: 4_096 }]);
  texts.set(recordName, word);
  t.equal(await proofs.check(1, 'shop.org'), null);
  t.match(
    await found(proofs, 2, 'shop.org'),
    /the TXT record holds another word/,
    'the word of another account',
  );
  texts.delete(recordName);
  file.answer = { status: 200, body: Buffer.from(`${word}\n`) };
  t.equal(await proofs.check(1, 'shop.org'), null);
  t.match(await found(proofs, 2, 'shop.org'), /it holds another word/);
  t.match(await found(proofs, 1, 'other.org'), /it holds another word/, 'the word of another domain');
  file.answer = {
    status: 200,
    body: Buffer.from(word),
    url: 'https://www.shop.org/.well-known/upbeat-verify',
  };
  t.match(await found(proofs, 1, 'shop.org'), /it redirects to another host/);
});

t.test('it asks for the same word after a restart', async (t) => {
  const { open, proofs } = await world(t);
  t.strictSame((await open()).instructions(1, 'a.org'), proofs.instructions(1, 'a.org'));
});

t.test(
  'what is derived is the same after a restart, and neither a word of a proof nor of others',
  async (t) => {
    const { open, proofs } = await world(t);
    const [again, elsewhere] = [await open(), (await world(t)).proofs];
    const derived = proofs.derive('check 1 2');
    t.equal(derived.length, 32);
    t.strictSame(again.derive('check 1 2'), derived);
    for (const other of [
      proofs.derive('check 2 2'),
      proofs.derive('check 1 22'),
      elsewhere.derive('check 1 2'),
    ])
      t.notSame(other, derived);
    const { word } = proofs.instructions(1, '2');
    t.notMatch(word, proofs.derive('1\n2').toString('hex').slice(0, 40), 'words of proofs are public');
  },
);
