import t from 'tap';
import { isPublicHost, usualVisibility } from '../../src/domain/special-address.ts';

t.test('it says which hosts everybody can reach', (t) => {
  for (const host of [
    'example.com',
    'a.b.example',
    'xn--bcher-kva.de',
    '8.8.8.8',
    '2606:4700::1',
    '[2606:4700::1]',
  ])
    t.ok(isPublicHost(host), host);
  for (const host of [
    ...['nas', 'localhost', 'printer.local', 'grafana.internal', 'router.home.arpa', 'fritz.box', 'a.lan'],
    ...['10.0.0.1', '172.16.3.4', '192.168.1.5', '100.64.0.1', '127.0.0.1', '169.254.1.1', '203.0.113.7'],
    ...['::1', 'fd12::1', '[fe80::1]', '::ffff:192.168.1.5', '64:ff9b::c0a8:105'],
  ])
    t.notOk(isPublicHost(host), host);
  t.equal(usualVisibility('example.com'), 'public');
  t.equal(usualVisibility('nas'), 'private');
  t.end();
});
