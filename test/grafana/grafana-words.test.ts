/** What Grafana puts into queries. */
import t from 'tap';
import { influxQuery, milliseconds, prometheusQuery, type View, variableOptions } from './grafana-words.ts';

const VIEW: View = {
  from: 1_000,
  to: 61_000,
  interval: '5m',
  variables: { service: 'shop-example', category: { all: '.*' }, several: ['a.b', 'c'], dotted: 'a.b' },
};

t.test('it puts time, width and variables into a query to InfluxDB', async (t) => {
  const table: readonly (readonly [query: string, asked: string])[] = [
    ['WHERE $timeFilter', 'WHERE time >= 1000ms and time <= 61000ms'],
    [
      '$timeFilter OR $timeFilter',
      'time >= 1000ms and time <= 61000ms OR time >= 1000ms and time <= 61000ms',
    ],
    ['GROUP BY time($__interval) fill(0)', 'GROUP BY time(5m) fill(0)'],
    ['"x" / $__interval_ms', '"x" / 300000'],
    [`"service" = '$service'`, `"service" = 'shop-example'`],
    [`"service" = '\${service}'`, `"service" = 'shop-example'`],
    ['"category" =~ /^$category$/ AND 1', '"category" =~ /^.*$/ AND 1'],
    ['"service" =~ /^$several$/', '"service" =~ /^(a\\.b|c)$/'],
    ['"service" =~ /^$dotted$/', '"service" =~ /^a\\.b$/'],
    [`"service" =~ /^$service$/ AND "x" = '$dotted'`, `"service" =~ /^shop-example$/ AND "x" = 'a.b'`],
  ];
  for (const [query, asked] of table) t.equal(influxQuery(query, VIEW), asked);
});

t.test('it takes text and value of an option out of what a variable finds', async (t) => {
  t.same(variableOptions(['ai', 'cloud', 'ai']), [
    { text: 'ai', value: 'ai' },
    { text: 'cloud', value: 'cloud' },
  ]);
  const keys = [
    'm,service=shop,service_id=1',
    'm,service=bank,service_id=2',
    'm,service=new,service_id=1',
    'm',
  ];
  t.same(variableOptions(keys, '/service=(?<text>[^,]+),service_id=(?<value>\\d+)/'), [
    { text: 'shop', value: '1' },
    { text: 'bank', value: '2' },
  ]);
});

t.test('it puts widths into a query to Prometheus', async (t) => {
  const table: readonly (readonly [expr: string, asked: string])[] = [
    ['rate(x[$__rate_interval])', 'rate(x[315000ms])'],
    ['x[$__interval]', 'x[5m]'],
    ['increase(x[$__range])', 'increase(x[60s])'],
    ['x{service=~"$several"}', 'x{service=~"(a\\.b|c)"}'],
  ];
  for (const [expr, asked] of table) t.equal(prometheusQuery(expr, VIEW, '15s'), asked);
  t.equal(prometheusQuery('x[$__rate_interval]', { ...VIEW, interval: '15s' }, '15s'), 'x[60000ms]');
});

t.test('queries have neither unknown variables nor several values as one', async (t) => {
  t.throws(() => influxQuery('"x" = $nothing', VIEW), { message: 'the variable nothing has no value' });
  t.throws(() => influxQuery(`"x" = '$several'`, VIEW), { message: /outside of a regular expression/ });
  t.throws(() => milliseconds('soon'), { message: 'soon is no width' });
  t.equal(milliseconds('250ms'), 250);
});
