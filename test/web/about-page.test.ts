/** The page about this installation: what it watches, how, from where, and who runs it. */
import t from 'tap';
import { LANGUAGES } from '../../src/web/language/language.ts';
import { NOW, node, service, startApi } from '../site/site-world.ts';

const plain = (text: string) =>
  text
    .slice(text.indexOf('<main'))
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

t.test('it says what the installation watches, how, and from where', async (t) => {
  const world = await startApi({
    services: [service(1, 'alpha'), service(2, 'beta'), service(3, 'hidden', { verified: false })],
  });
  t.teardown(world.close);
  const readAt = { readAt: NOW, stale: false, since: null, incidentId: null };
  const url = 'https://status.vendor.example';
  world.vendorStatuses.set(1, { url, kind: 'statuspage', status: 'operational', ...readAt });
  world.state.nodes = [
    node('one', { region: 'eu', checksPerSecond: 1.5 }),
    node('two', { region: 'eu', checksPerSecond: 0.5 }),
    node('three', { region: 'us', checksPerSecond: 1, online: false, offlineSince: NOW }),
    node('four', { region: 'asia', roles: ['serve'], checksPerSecond: 0 }),
  ];
  const { status, text } = await world.get('/about');
  t.equal(status, 200);
  const words = plain(text);
  for (const part of [
    'This installation watches 2 services.',
    'Services 2 Checked every 5 min Checks per minute 180 Regions 2',
    'takes longer than 3 s is slow. No response within 10 s is a failure.',
    'repeated up to 2 times',
    'Without a heartbeat for 10 min',
    'One service&#39;s vendor has a status page',
    'eu 2 nodes us one node · offline A service is down once more than half of the regions',
    'Upbeat/1.2.3 (+https://upbeat.test)',
    'has not given a name or a contact',
    'Version 1.2.3',
  ])
    t.match(words, part, part);
  t.notMatch(words, 'asia', 'nodes that make no checks are not where it checks from');
  t.match(text, /<a href="\/about" aria-current="page">About<\/a>/);
  t.match(text, 'href="mailto:security@upbeat.test">security@upbeat.test<');
});

t.test('it names who runs it, in the language of the reader', async (t) => {
  const operator = {
    name: 'Example <b>Ltd',
    url: 'https://example.com',
    contact: 'mailto:hello@example.com',
  };
  const world = await startApi({ operator });
  t.teardown(world.close);
  const { text } = await world.get('/about', { 'accept-language': 'de' });
  t.match(text, '<a href="https://example.com" rel="noopener">Example &lt;b&gt;Ltd</a>');
  t.match(text, 'href="mailto:hello@example.com">hello@example.com<');
  t.match(plain(text), 'Wer sie betreibt Betreiber Example');
  t.notMatch(text, 'weder Namen noch Kontakt');
});

t.test('a line of the operator stands at the top of every page', async (t) => {
  const world = await startApi({ services: [service(1, 'alpha')], notice: 'A <test>' });
  t.teardown(world.close);
  for (const path of ['/', '/status/alpha', '/about', '/status/no-such-service'])
    t.match(
      (await world.get(path, { accept: 'text/html' })).text,
      '<p class="card notice">A &lt;test&gt;</p>',
      path,
    );
});

t.test('it puts every setting of re-checks and of the quorum into words', async (t) => {
  const { confirm, quorum } = LANGUAGES.en.texts.about;
  t.match([0, 1, 3].map(confirm), [/as soon as a check fails/, /repeated once/, /up to 3 times/]);
  t.match((['any', 'all', 'majority', 2] as const).map(quorum), [
    /one region/,
    /all regions/,
    /more than half/,
    /2 regions/,
  ]);
});
