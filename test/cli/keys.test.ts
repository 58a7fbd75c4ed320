/** `upbeat keys`. */
import t from 'tap';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

t.test(
  'it makes keys for accounts by name or number, and warns where a person signs in',

  async (t) => {
    const { run, withRegistry } = await setUp(t);
    await withRegistry((registry) =>
      registry.ensureIdentity({ provider: 'github', subject: '42', name: 'ops' }, 1),
    );
    const create = (...words: string[]) => run('keys', 'create', '--name', 'laptop', ...words);
    const KEY = /^upb_[0-9A-Za-z]{38}\n$/;
    const [own, signedIn, byNumber] = [
      await create('--account', 'Ada'),
      await create('--account', 'ops'),
      await create('--account-id', '1'),
    ];
    t.match(own, { status: 0, stdout: KEY, stderr: '' });
    t.match(signedIn, {
      status: 0,
      stdout: KEY,
      stderr: /^warning: account "ops" \(number 1\) belongs to a person/,
    });
    t.match(byNumber, { status: 0, stdout: KEY, stderr: '' }, 'a number says that it is meant');
    t.match(await create('--account', 'ada'), { status: 0, stderr: /there is "Ada" \(number 2\) too/ });
    t.match(await create('--account', 'ada'), { status: 0, stderr: '' }, 'and it is new only once');
    t.match(JSON.parse((await run('accounts', 'list', '--json')).stdout), [
      { id: 1, account: 'ops', signs_in_by: 'github', keys: 2, services: 0 },
      { id: 2, account: 'Ada', signs_in_by: null, keys: 1, services: 0 },
      { id: 3, account: 'ada', signs_in_by: null, keys: 2, services: 0 },
    ]);
    t.match(await run('services', 'add', 'shop.example.com', '--account', 'ops'), {
      ...{ status: 0, stdout: 'shop-example-com\n', stderr: /belongs to a person/ },
    });
  },
);
