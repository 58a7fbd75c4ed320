/** Status pages on the nodes of a cluster: what one node takes, the other serves. */
import t from 'tap';
import { requestAt } from '../site/request-at.ts';
import { createCluster } from '../support/cluster.ts';
import { at as memberOf } from '../support/json.ts';
import { startNameServer } from '../support/name-server.ts';
import { NEEDS_POSTGRES } from '../support/postgres-server.ts';
import { NEEDS_REDIS, until } from '../support/redis-server.ts';

const NEEDS = { ...NEEDS_POSTGRES, ...NEEDS_REDIS };
const DOMAIN = 'status.acme.example';
const PASSWORD = 'tulips in the rain';

t.setTimeout(300_000);

t.test(
  'a node serves a page at the domain that was proved at another, until it is taken back there',
  NEEDS,
  async (t) => {
    const texts: string[] = [];
    const names = await startNameServer(({ type }) => (type === 'TXT' ? { texts } : { code: 3 }));
    t.teardown(() => names.close());
    const settings = { checks: { nameservers: [names.address] } };
    const cluster = await createCluster(t, { entries: [{ slug: 'shop' }], settings });
    const one = await cluster.start({ name: 'one', region: 'eu', roles: ['judge', 'probe', 'serve'] });
    const two = await cluster.start({ name: 'two', region: 'eu', roles: ['serve'] });
    const key = (
      await one.installation.runHere('keys', 'create', '--account', 'ada', '--name', 'x', '--scope', 'write')
    ).stdout.trim();
    const send = async (node: typeof one, method: string, path: string, body?: object) => {
      const response = await fetch(node.siteUrl + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: (await response.json()) as object };
    };
    const at = (node: typeof one, path: string, more = {}) =>
      requestAt(Number(new URL(node.siteUrl).port))(DOMAIN, path, more);
    const page = { slug: 'acme', title: 'Acme', groups: [{ services: ['shop'] }], custom_domain: DOMAIN };
    const made = await send(one, 'POST', '/api/v1/pages', page);
    t.equal(made.status, 201);
    texts.push(String(memberOf(made.json, 'custom_domain', 'verification', 'txt_record', 'value')));
    t.notMatch((await at(one, '/')).text, /<title>Acme/);
    // The serving node proves it, and the monitor learns of it.
    t.equal((await send(two, 'POST', '/api/v1/pages/acme/verify')).status, 200);
    for (const node of [one, two])
      await until(async () => (await at(node, '/')).text.includes('<title>Acme'), `${node.name} serves it`);
    // A password that one node takes opens the page at the other.
    await send(one, 'PATCH', '/api/v1/pages/acme', { access: 'password', password: PASSWORD });
    await until(async () => (await at(two, '/')).status === 403, 'two asks for the password');
    const entered = await at(two, '/unlock', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ password: PASSWORD }).toString(),
    });
    const [cookie = ''] = String(entered.headers['set-cookie']).split(';');
    // Nodes have one address of the site between them; here each has its port, which cookies are named by.
    const known = cookie.replace(new URL(two.siteUrl).port, new URL(one.siteUrl).port);
    t.equal((await at(one, '/', { headers: { cookie: known } })).status, 200);
    await send(one, 'PATCH', '/api/v1/pages/acme', { custom_domain: null });
    for (const node of [one, two])
      await until(async () => !(await at(node, '/')).text.includes('/unlock'), `${node.name} does not`);
  },
);
