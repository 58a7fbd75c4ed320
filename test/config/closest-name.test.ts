/** The known name that is closest to a misspelt one. */
import t from 'tap';
import { closest } from '../../src/config/closest-name.ts';

t.test('it finds the known name that is closest to a misspelt one', async (t) => {
  const table: readonly (readonly [string, string | null])[] = [
    ['prot', 'port'],
    ['PORT', 'port'],
    ['hots', 'host'],
    ['siteurl', 'siteUrl'],
    ['trustedProxy', 'trustedProxies'],
    ['colour', null],
    ['', null],
  ];
  for (const [name, meant] of table)
    t.equal(closest(name, ['host', 'port', 'siteUrl', 'trustedProxies']), meant, name);
});
