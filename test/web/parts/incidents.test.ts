/** What an owner says on pages, beside what checks see. */
import t from 'tap';
import { start } from '../../site/posting-account.ts';
import { NOW } from '../../site/site-world.ts';

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('pages show what the owner says as safe HTML, beside what checks see', async (t) => {
  const { world, ada, send } = await start(t);
  const text = '**Sorry.** [x](javascript:alert(1)) <script>alert(1)</script> https://a.example';
  await send('POST', '/api/v1/incidents', { ...SAID, title: '<b>Late</b>', text }, ada);
  const [listed] = (await send('GET', '/api/v1/incidents/shop')).json.incidents;
  await send('POST', '/api/v1/incidents', { title: 'Only here', text: 'A page.', pages: ['acme'] }, ada);
  const work = { title: 'Disks & <i>more</i>', text: '*Slow.*', duration: '2h', pages: ['acme'] };
  await send('POST', '/api/v1/maintenances', work, ada);
  await world.registry.advanceMaintenances(NOW);
  const safe =
    /<strong>Sorry\.<\/strong> \[x\]\(javascript:alert\(1\)\) &lt;script&gt;alert\(1\)&lt;\/script&gt; <a href="https:\/\/a\.example" rel="nofollow noopener">/;
  const page = (await world.get('/p/acme')).text;
  t.match(page, safe);
  t.notMatch(page, /The owner says/, "the whole page is the owner's");
  t.match(page, /Only here[\s\S]*Disks &amp; &lt;i&gt;more&lt;\/i&gt;[\s\S]*<em>Slow\.<\/em>/);
  t.match(page, /<a [^>]*href="webcal:\/\/upbeat\.test\/p\/acme\/calendar\.ics">/);
  t.equal(page.match(/&lt;b&gt;Late/g)?.length, 1, 'it is shown once');
  t.notMatch(page, /<script>alert|href="javascript/);
  t.match(
    page,
    /class="overall down"[^>]*data-live-part="overall">[\s\S]{0,300}Incident reported; no service has been checked yet/,
  );
  await send('POST', '/api/v1/maintenances', { title: 'Silent', duration: '1h', pages: ['acme'] }, ada);
  await world.registry.advanceMaintenances(NOW);
  const boxes = (await world.get('/p/acme')).text.match(
    /<article class="card"><h3>Silent[\s\S]*?<\/article>/,
  );
  t.notMatch(
    boxes?.[0] ?? 'no box',
    /no box|class="post"/,
    'where there is no text, no line ends in nothing',
  );
  const german = (await world.get('/p/acme', { 'accept-language': 'de' })).text;
  t.match(german, /Vorfall gemeldet; noch wurde kein Dienst geprüft\./);
  t.match(
    (await world.get('/status/shop')).text,
    /The owner says[\s\S]*&lt;b&gt;Late[\s\S]*In progress|Maintenance/,
  );
  t.match((await world.get(`/status/shop/incidents/${listed.id}`)).text, safe);
  t.match((await world.get('/status/shop/incidents.atom')).text, /the owner says: &lt;b&gt;Late/);
  const feed = (await world.get('/p/acme/incidents.atom')).text;
  t.match(feed, /<title>[^<:]*: &lt;b&gt;Late/);
  t.notMatch(feed, /owner says/i, "the whole page is the owner's");
});
