/** What an owner reports on a page of status. */
import t from 'tap';
import { start } from '../../site/posting-account.ts';
import { check, current, NOW } from '../../site/site-world.ts';

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('a page is not green while its owner reports an incident', async (t) => {
  const { world, ada, send } = await start(t);
  await world.status.put([current(1, check(NOW - 30_000)), current(2, check(NOW - 30_000))]);
  const read = async () => {
    const [page, embed, json, shop] = await Promise.all([
      world.get('/p/acme'),
      world.get('/p/acme/embed'),
      send('GET', '/api/v1/pages/acme'),
      world.get('/status/shop'),
    ]);
    const [, title] = /<title>(.*?)<\/title>/.exec(page.text) ?? [];
    const [, description] = /name="description" content="(.*?)"/.exec(page.text) ?? [];
    const [, look, headline] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(page.text) ?? [];
    const [, framed, inFrame] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(embed.text) ?? [];
    const [, ofService, answer] = /<h1 class="answer (\w+)"[\s\S]*?<span>(.*?)<\/span>/.exec(shop.text) ?? [];
    const { status, reported } = json.json;
    return { title, description, look, headline, framed, inFrame, ofService, answer, status, reported };
  };
  const said = 'Incident reported; our checks pass.';
  const ofCritical = {
    title: `Acme: ${said}`,
    description: said,
    look: 'down',
    headline: said,
    framed: 'down',
    inFrame: said,
    ofService: 'down',
    answer: 'Shop: incident reported; our checks pass',
    status: 'up',
    reported: 'critical',
  };
  const sent = await send('POST', '/api/v1/incidents', { ...SAID, severity: 'critical' }, ada);
  t.match(await read(), ofCritical);
  const path = `/api/v1/incidents/${sent.json.id}`;
  await send('PATCH', path, { severity: 'minor' }, ada);
  t.match(await read(), {
    ...ofCritical,
    look: 'slow',
    framed: 'slow',
    ofService: 'slow',
    reported: 'minor',
  });
  await send('POST', `${path}/updates`, { status: 'resolved', text: 'Over.' }, ada);
  t.match(await read(), {
    look: 'up',
    headline: 'All 2 services are operational.',
    ofService: 'up',
    answer: 'Shop is up',
    reported: null,
  });
  t.match((await world.get('/p/acme')).text, /Recently resolved[\s\S]*Over\./);
});
