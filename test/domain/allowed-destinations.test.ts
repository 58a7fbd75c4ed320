/** The host of a URL that owners name. */
import t from 'tap';
import { ANY_DESTINATION, refuseUrl } from '../../src/domain/allowed-destinations.ts';

t.test('it judges the host of a URL, an address without its brackets, and no text without one', async (t) => {
  const asked: string[] = [];
  const rules = {
    ...ANY_DESTINATION,
    refuseHost: (host: string) => {
      asked.push(host);
      return host === 'bad.example' ? ({ code: 'format' } as never) : null;
    },
  };
  t.same(refuseUrl(rules, 'https://bad.example:8443/x'), { code: 'format' });
  t.equal(refuseUrl(rules, 'https://good.example'), null);
  t.equal(refuseUrl(rules, 'http://[::1]/'), null);
  t.equal(refuseUrl(rules, 'http://0x7f.1/'), null);
  for (const text of ['', 'no url', 'mailto:ada@example.com']) t.equal(refuseUrl(rules, text), null);
  t.same(asked, ['bad.example', 'good.example', '::1', '127.0.0.1'], 'in the form that connects');
});
