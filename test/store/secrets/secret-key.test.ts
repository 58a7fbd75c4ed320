/** The key of secrets: which counts, and what to do where it is lost. */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { keyFile } from '../../../src/store/secrets/secret-key.ts';
import { testOverBoth } from '../../support/both-registries.ts';
import { NOON } from '../registry-fixtures.ts';
import { SECRET, URL, withWebhook } from '../webhook-secrets.ts';

testOverBoth('it takes the key of the setting before that of the file', async (t, makePlace) => {
  for (const key of [randomBytes(32).toString('hex'), randomBytes(32).toString('base64')]) {
    const place = await makePlace(t);
    const { registry, accountId } = await withWebhook(place.open({ secretKey: key }));
    t.throws(() => statSync(keyFile(place.dataDir)), 'no file is made');
    t.notMatch(JSON.stringify(await place.read('SELECT * FROM webhooks')), SECRET.slice(6));
    await registry.close();
    const without = await place.open();
    await t.rejects(without.checkSecrets(), { code: 'secrets_key', message: /is missing\..*secrets\.key/ });
    await without.close();
    const other = await place.open({ secretKey: randomBytes(32).toString('hex') });
    await t.rejects(other.checkSecrets(), { code: 'secrets_key', message: /does not fit/ });
    await t.rejects(other.webhooksOf(accountId), { code: 'secrets_key' });
    await other.close();
  }
});

testOverBoth(
  'it says what to do where the key is lost, and begins anew when it is told to',
  async (t, makePlace) => {
    const place = await makePlace(t);
    const { registry, accountId } = await withWebhook(place.open());
    await registry.close();
    for (const damage of [
      () => rmSync(keyFile(place.dataDir)),
      () => writeFileSync(keyFile(place.dataDir), 'no key'),
      () => writeFileSync(keyFile(place.dataDir), randomBytes(32).toString('hex')),
    ]) {
      damage();
      const broken = await place.open();
      await t.rejects(broken.checkSecrets(), {
        code: 'secrets_key',
        message: /backup.*npx upbeat secrets reset/,
      });
      await broken.close();
    }
    const reset = await place.open();
    t.same(await reset.resetSecrets(NOON), {
      webhooks: 1,
      channels: 0,
      subscriptions: 0,
      checks: 0,
      passwords: 0,
    });
    t.match(await reset.noticesOf(accountId), [
      { text: /webhook to https:\/\/hooks\.example\/1 was removed/ },
    ]);
    await reset.checkSecrets();
    t.same(await reset.webhooksOf(accountId), []);
    await reset.addWebhook({ accountId, url: URL, secret: SECRET, createdAt: NOON });
    t.match(await reset.webhooksOf(accountId), [{ secret: SECRET }]);
    await reset.close();
  },
);
