/** What the simulated vendors say when, and the cast of the demonstration. */
import fc from 'fast-check';
import t from 'tap';
import { DEMO_FEED_INTERVAL_MS, DEMO_TIMING } from '../../demo/demo.ts';
import { isCutOff } from '../../demo/script.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';
import { DEMO_VENDORS } from '../../demo/vendor-cast.ts';
import { type Vendor, vendorIncidentsAt, vendorMaintenancesAt } from '../../demo/vendors/script.ts';
import { VENDOR_KINDS } from '../../demo/vendors/vendor-kinds.ts';
import { sampleVendor } from './sample-vendor.ts';
import { concernsService, incidentsOf, knownBy, servedServices } from './vendor-expectation.ts';

const SECOND = 1_000;

const idAt = (vendor: Vendor, seconds: number) => vendorIncidentsAt(vendor, seconds * SECOND)[0]?.id ?? '';

t.test('it reports an incident update by update, and anew in each period', async (t) => {
  const vendor = sampleVendor('statuspage');
  const at = (seconds: number) =>
    vendorIncidentsAt(vendor, seconds * SECOND).map(({ startedAt, resolvedAt, updates }) => [
      startedAt / SECOND,
      resolvedAt,
      updates.map(({ at, status }) => [at / SECOND, status]),
    ]);
  const first = [
    [20, 'investigating'],
    [40, 'identified'],
    [60, 'resolved'],
  ];
  t.same(at(-1), []);
  t.same(at(Number.NEGATIVE_INFINITY), [], 'before the play has a beginning');
  t.same(at(19.999), []);
  t.same(at(20), [[15, null, first.slice(0, 1)]]);
  t.same(at(59), [[15, null, first.slice(0, 2)]]);
  t.same(at(60), [[15, 60_000, first]]);
  t.same(at(121), [
    [115, null, [[120, 'investigating']]],
    [15, 60_000, first],
  ]);
  t.not(idAt(vendor, 121), idAt(vendor, 60));
  t.equal(idAt(vendor, 121), idAt(vendor, 170));
  const maintenances = (seconds: number) =>
    vendorMaintenancesAt(vendor, seconds * SECOND).map(({ state }) => state);
  t.same([9, 10, 30, 90, 110].map(maintenances), [
    [],
    ['planned'],
    ['running'],
    ['done'],
    ['planned', 'done'],
  ]);
});

t.test('it never takes back what it has told, and never has two of one identifier', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...DEMO_VENDORS),
      fc.integer({ min: 0, max: 3_000_000 }),
      fc.integer({ min: 0, max: 300_000 }),
      (vendor, elapsedMs, laterMs) => {
        const before = vendorIncidentsAt(vendor, elapsedMs);
        const after = new Map(vendorIncidentsAt(vendor, elapsedMs + laterMs).map((each) => [each.id, each]));
        const numbers = vendorIncidentsAt(vendor, elapsedMs).map(({ number }) => number);
        return (
          new Set(before.map(({ id }) => id)).size === before.length &&
          new Set(numbers).size === numbers.length &&
          before.every(({ id, updates, startedAt }) => {
            const later = after.get(id);
            return (
              later === undefined ||
              (later.startedAt === startedAt &&
                JSON.stringify(later.updates.slice(0, updates.length)) === JSON.stringify(updates))
            );
          })
        );
      },
    ),
  );
});

t.test('its cast has every kind, and each incident is over before the prober is cut off', async (t) => {
  t.same([...new Set(DEMO_VENDORS.map(({ kind }) => kind))].sort(), Object.keys(VENDOR_KINDS).sort());
  t.equal(new Set(DEMO_VENDORS.map(({ slug }) => slug)).size, DEMO_VENDORS.length);
  const timing = { ...DEMO_TIMING, feedIntervalMs: DEMO_FEED_INTERVAL_MS };
  const served = servedServices(DEMO_SCRIPT);
  t.same(
    DEMO_SCRIPT.services.filter(({ statusPage }) => statusPage !== undefined).map(({ slug }) => slug),
    served.map(({ service }) => service.slug),
    'every page that a service names exists',
  );
  for (const one of served) {
    const { slug, periodMs, incidents, maintenances, components } = one.vendor;
    t.equal(periodMs, DEMO_SCRIPT.periodMs, slug);
    for (const name of one.service.statusPage?.components ?? [])
      t.ok(components.includes(name), `${slug}: ${name}`);
    for (const { title, updates, startsAt } of incidents) {
      t.equal(updates.at(-1)?.status, 'resolved', title);
      t.ok(startsAt <= (updates[0]?.at ?? 0), `${title} does not begin after it is told of`);
      for (const [index, { at }] of updates.entries()) {
        const due = knownBy(DEMO_SCRIPT, one, at, timing);
        t.ok(
          due < (updates[index + 1]?.at ?? 245 * SECOND),
          `${title}: what is told at ${at} is known in time`,
        );
        t.notOk(isCutOff(DEMO_SCRIPT, at));
      }
    }
    for (const { title, announcedAt, startsAt, endsAt } of maintenances) {
      t.ok(knownBy(DEMO_SCRIPT, one, announcedAt, timing) < startsAt, `${title} is known ahead`);
      t.ok(endsAt < 245 * SECOND, title);
    }
  }
  const storage = served.find(({ service }) => service.slug === 'nimbus-storage');
  t.same(
    storage && incidentsOf(storage, 240 * SECOND).map(({ title }) => title),
    ['Delayed invoices', 'Errors when reading & writing objects'],
    'a service hears of its own parts and of the whole page',
  );
  t.notOk(storage === undefined || concernsService(storage, ['Console']));
});
