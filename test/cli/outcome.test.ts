/** Whether a command was wrong, or the world, by its exit status. */
import t from 'tap';
import { setUp } from './command-world.ts';

t.setTimeout(300_000);

t.test('it says by its status whether the words or the world were wrong', async (t) => {
  const { run, write } = await setUp(t);
  const table: readonly [number, readonly string[]][] = [
    [2, ['keys', 'revoke', 'abc']],
    [2, ['keys', 'revoke', '1.5']],
    [2, ['keys', 'revoke', '0x1']],
    [1, ['keys', 'revoke', '999']],
    [2, ['keys', 'create', '--name', 'laptop']],
    [2, ['keys', 'create', '--name', 'laptop', '--account', 'ada', '--account-id', '1']],
    [2, ['keys', 'create', '--name', ' ', '--account', 'ada']],
    [2, ['keys', 'create', '--name', 'laptop', '--account', 'ada', '--scope', 'all']],
    [2, ['keys', 'create', '--name', 'laptop', '--account-id', 'ada']],
    [1, ['keys', 'create', '--name', 'laptop', '--account-id', '7']],
    [2, ['services', 'set', 'shop']],
    [2, ['services', 'set', 'shop', '--period', 'often']],
    [1, ['services', 'set', 'shop', '--paused']],
    [2, ['services', 'add']],
    [1, ['services', 'add', 'localhost', '--account', 'ada']],
    [2, ['services', 'export', '--format', 'xml']],
    [1, ['services', 'import', '/nowhere.csv']],
    [1, ['services', 'import', write('bad.csv', 'a,b\n')]],
    [1, ['services', 'remove', 'shop']],
    [2, ['pages', 'add', 'Not A Slug', '--account', 'ada', '--title', 'x']],
    [1, ['pages', 'remove', 'acme']],
    [1, ['pages', 'domain', 'acme', 'status.example.com']],
    [2, ['pages', 'domain', 'acme', 'co.uk']],
    [2, ['pages']],
    [2, ['probe']],
    [2, ['doctor', '--colour']],
  ];
  for (const [expected, words] of table) {
    const { status, stdout, stderr } = await run(...words);
    t.equal(status, expected, words.join(' '));
    t.equal(stdout, '', `${words.join(' ')}: nothing on standard output`);
    t.not(stderr, '', words.join(' '));
  }
  t.match((await run('services', 'set', 'shop')).stderr, /name what is to change/);
  for (const lifetime of ['soon', '0d', '90', '1001y']) {
    const wrong = await run('keys', 'create', '--account', 'ada', '--name', 'laptop', '--expires', lifetime);
    t.match(wrong, { status: 2, stdout: '', stderr: /90d/ }, lifetime);
  }
  t.equal((await run('keys', 'list', '--json')).stdout.trim(), '[]', 'no key was made');
});
