/** `upbeat accounts link` and `merge`. */
import t from 'tap';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

t.test('it links people to accounts and merges accounts, after a plan', async (t) => {
  const { run, withRegistry } = await setUp(t, { limits: { domainsPerAccount: 1 } });
  await run('services', 'add', 'shop.example.com', '--account', 'ops');
  await run('services', 'add', 'blog.example.com', '--account', 'acme');
  await run('services', 'add', 'old.example.com', '--account', '7');
  const linked = await run('accounts', 'link', 'ops', 'github', '42');
  t.match(linked, {
    status: 0,
    stderr: /no provider "github"\n.*42 \(person 1\) is an owner of "ops" \(number 1\)/,
  });
  t.match(await run('accounts', 'link', '2', '--person', '1'), { status: 0, stderr: /owner of "acme"/ });
  t.match(await run('accounts', 'link', '7', '--person', '1'), {
    status: 0,
    stderr: /owner of "7" \(number 3\)/,
  });
  for (const words of [['ops'], ['ops', 'github'], ['ops', 'github', '42', '--person', '1']])
    t.match(await run('accounts', 'link', ...words), { status: 2, stderr: /PROVIDER SUBJECT, or --person/ });
  t.match(await run('accounts', 'link', 'nobody', 'github', '42'), {
    status: 1,
    stderr: /no account nobody/,
  });
  t.match(await run('accounts', 'link', 'ops', '--person', '9'), { status: 1, stderr: /no person 9/ });
  const list = async () => JSON.parse((await run('accounts', 'list', '--json')).stdout);
  const before = await list();
  t.match(before, [
    {
      account: 'ops',
      signs_in_by: 'github',
      members: [{ person: 1, name: '42', role: 'owner', providers: ['github'] }],
    },
    { account: 'acme' },
    { account: '7' },
  ]);
  t.match((await run('accounts', 'list')).stdout, /ops +github +42 \(owner\) +0 +1/);

  const plan = await run('accounts', 'merge', 'ops', 'acme', '--dry-run');
  t.match(plan, {
    status: 0,
    stdout:
      /^would merge "ops" \(number 1\) into "acme" \(number 2\)\n {2}services 1, .*\n {2}member 42 \(person 1\): stays owner\n {2}services: 2, over the limit of 1/,
  });
  t.same(await list(), before, 'a plan changes nothing');
  const merged = await run('accounts', 'merge', 'ops', 'acme', '--json');
  t.match(JSON.parse(merged.stdout), {
    merged: true,
    into: { id: 2, account: 'acme' },
    moved: { services: 1 },
    exceeded: [{ kind: 'services', count: 2, max: 1 }],
  });
  t.match(await list(), [{ account: 'acme', services: 2 }, { account: '7' }]);
  t.match(await run('accounts', 'merge', 'ops', 'acme'), { status: 1, stderr: /no account ops/ });
  t.match(await run('accounts', 'merge', 'acme', '2'), { status: 1, stderr: /into itself/ });
  const states = await withRegistry((registry) => registry.loadServices());
  t.same(
    states.map(({ service }) => service.accountId),
    [2, 2, 3],
  );
});
