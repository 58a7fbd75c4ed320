/** `upbeat accounts`, and accounts that commands name. */
import t from 'tap';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

t.test('it names accounts whose names are close to one that is not there', async (t) => {
  const { run } = await setUp(t);
  const page = ['pages', 'add', 'acme', '--title', 'Acme', '--account'];
  t.match(await run(...page, 'acme'), { status: 0 }, 'the first account of all');
  t.match(await run('keys', 'create', '--account', 'acme labs', '--name', 'x'), { status: 0, stderr: '' });
  const lists = [['export'], ['rules', 'list'], ['accounts', 'setup-link'], ['maintenances', 'list']];
  for (const words of [['pages', 'add', 'more', '--title', 'More'], ...lists])
    t.match(
      await run(...words, '--account', 'acem'),
      { status: 1, stdout: '', stderr: /no account acem\. Did you mean "acme" \(number 1\)\?/ },
      words.join(' '),
    );
  t.match(await run('export', '--account', 'Acme  Labs'), {
    status: 1,
    stderr: /mean "acme labs" \(number 2\)/,
  });
  t.match(await run('export', '--account', 'nobody'), {
    status: 1,
    stderr: /no account nobody\. "upbeat accounts list"/,
  });
  t.match(await run('keys', 'create', '--account', 'acme lab', '--name', 'x'), {
    ...{ status: 0, stderr: /account "acme lab" \(number 3\) is new; there is "acme labs" \(number 2\) too/ },
  });
});

t.test('it leaves no account behind where a command is refused', async (t) => {
  const { run, withRegistry, write } = await setUp(t);
  t.match(await run('services', 'add', 'taken.example.org', '--account', 'ada'), { status: 0 });
  t.match(await run('pages', 'add', 'taken', '--title', 'Taken', '--account', 'ada'), { status: 0 });
  const accounts = await withRegistry((registry) => registry.listAccounts());
  const document = write(
    'document.yaml',
    'services: [{ domain: new.example.org }, { domain: taken.example.org }]',
  );
  const list = write('list.csv', 'domain,name\ntaken.example.org,taken.example.org\n');
  for (const [words, said] of [
    [['services', 'add', 'taken.example.org'], /registered already/],
    [['services', 'add', 'new.example.org', '--setting', 'port=x'], /setting/],
    [
      ['services', 'add', 'new.example.org', '--url', 'http://[::1]/'],
      /The URL leads to ::1, which is not public/,
    ],
    [['services', 'import', list], /registered by another account/],
    [['pages', 'add', 'newer', '--title', 'New'], /no account Ada\. Did you mean "ada" \(number 1\)\?/],
    [['channels', 'add', '--name', 'Ops', '--kind', 'ntfy', '--setting', 'topic=abc'], /Did you mean "ada"/],
    [['keys', 'create', '--name', ' '], /name/],
    [['keys', 'create', '--name', 'laptop', '--expires', 'soon'], /expires/],
    [['apply', '--file', document], /registered already/],
  ] as const) {
    const outcome = await run(...words, '--account', 'Ada');
    t.match(outcome.stderr, said, words.join(' '));
    t.not(outcome.status, 0, words.join(' '));
    t.notMatch(outcome.stderr, 'is new', 'no account is told of that is not there');
    t.same(await withRegistry((registry) => registry.listAccounts()), accounts, words.join(' '));
  }
});

t.test('it trusts an account and ends that, and says who gave it', async (t) => {
  const { run } = await setUp(t);
  for (const account of ['home', '1', 'other'])
    await run('keys', 'create', '--account', account, '--name', 'k');
  const add = (host: string, account: string) => run('services', 'add', host, '--account', account);
  t.match(await add('192.168.1.5', 'home'), { status: 1, stderr: /must not be an IP address/ });
  t.match(await run('accounts', 'trust', '1'), {
    status: 1,
    stderr: /number of "home" and the name of number 2/,
  });
  t.match(await run('accounts', 'trust', 'nobody'), { status: 1, stderr: /no account nobody/ });
  t.match(await run('accounts', 'trust', 'home'), {
    status: 0,
    stderr: /"home" \(number 1\) is trusted: it needs no proof/,
  });
  const list = async () => JSON.parse((await run('accounts', 'list', '--json')).stdout);
  t.match(await list(), [
    { account: 'home', trusted: { since: /^2\d{3}-/, by: /^command:./ } },
    { trusted: null },
    { trusted: null },
  ]);
  t.match((await run('accounts', 'list')).stdout, /since 2\d{3}-\d\d-\d\d by command of /);
  for (const [host, slug] of [
    ['192.168.1.5', '192-168-1-5'],
    ['nas', 'nas'],
    ['grafana.internal.', 'grafana-internal'],
    ['[FD00::5]', 'fd00--5'],
  ] as const)
    t.match(await add(host, 'home'), { status: 0, stdout: `${slug}\n` }, host);
  for (const host of ['127.0.0.1', '0x7f.1', '::1', '169.254.169.254', '[::ffff:a9fe:a9fe]', '0.0.0.0'])
    t.match(await add(host, 'home'), { status: 1, stderr: /which is not public/ }, host);
  t.match(await add('192.168.1.5', 'other'), { status: 1, stderr: /must not be an IP address/ });
  t.match(JSON.parse((await run('accounts', 'trust', 'home', '--off', '--json')).stdout), { trusted: null });
  t.match(await add('10.0.0.1', 'home'), { status: 1, stderr: /must not be an IP address/ });
});
