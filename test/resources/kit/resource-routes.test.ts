/** Ids in addresses of the API for writing. */
import t from 'tap';
import { start } from '../../site/owned-account.ts';

t.test('an id that is no number is named as it was sent', async (t) => {
  const { ada, send } = await start(t);
  for (const what of ['key', 'webhook', 'channel', 'rule']) {
    const message = `There is no ${what} "abc": ids are numbers.`;
    t.match(await send('DELETE', `/api/v1/${what}s/abc`, undefined, ada), {
      status: 404,
      json: {
        code: `${what}_not_found`,
        detail: message,
        errors: [{ field: null, code: `no_${what}`, message }],
      },
    });
  }
  t.match(await send('POST', '/api/v1/channels/abc/messages/1/replay', undefined, ada), {
    status: 404,
    json: { code: 'channel_not_found' },
  });
  t.match(await send('POST', '/api/v1/channels/1/messages/abc/replay', undefined, ada), {
    status: 404,
    json: { code: 'message_not_found', detail: 'There is no message "abc": ids are numbers.' },
  });
});
