/** The product that requests name. */
import t from 'tap';
import { userAgentOf } from '../../src/outbound/send-request.ts';

t.test('it names the product, its version and the address of the site', async (t) => {
  t.equal(userAgentOf('1.2.0', 'https://status.example'), 'Upbeat/1.2.0 (+https://status.example)');
  t.equal(userAgentOf('1.2.0\r\n', 'https://x/(a)\r\nb'), 'Upbeat/1.2.0 (+https://x/%28a%29%0D%0Ab)');
});
