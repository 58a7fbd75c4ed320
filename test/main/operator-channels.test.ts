/** The channels of `alerts.operator`. */
import t from 'tap';
import { CHANNEL_KINDS } from '../../src/domain/alert/channel.ts';
import { operatorChannels } from '../../src/main/operator-channels.ts';
import { TEST_KINDS } from '../support/channel-kinds.ts';

const alerts = (...operator: readonly object[]) => ({
  alerts: { smtp: EMPTY, operator: JSON.parse(JSON.stringify(operator)) },
});
const EMPTY = { host: null, port: null, user: null, password: null, from: null, tls: 'starttls' } as const;
const GOTIFY = { kind: 'gotify', settings: { server: 'https://push.example.com', token: 'hunter2' } };

t.test('it reads channels as owners have them', async (t) => {
  const found = operatorChannels(alerts(GOTIFY, { ...GOTIFY, language: 'de' }), TEST_KINDS);
  t.match(found, [
    { name: 'alerts.operator.0', ...GOTIFY, language: 'en', confirmedAt: 0 },
    { name: 'alerts.operator.1', ...GOTIFY, language: 'de' },
  ]);
  t.strictSame(operatorChannels(alerts(), TEST_KINDS), []);
});

t.test('it names what is wrong with each entry, and shows no value', async (t) => {
  const wrong = { kind: 'gotify', settings: { server: 'hunter2', colour: 'hunter2' } };
  const other = CHANNEL_KINDS.find((kind) => TEST_KINDS[kind] === undefined);
  t.throws(() => operatorChannels(alerts(GOTIFY, wrong, { kind: other, settings: {} }), TEST_KINDS), {
    code: 'bad_config',
    problems: [
      { path: 'alerts.operator.1.settings.token', message: 'The setting token is missing.' },
      { path: 'alerts.operator.1.settings.colour' },
      {
        path: 'alerts.operator.1.settings.server',
        message: /^The setting server must be an address such as /,
      },
      { path: 'alerts.operator.2.kind', message: `there is no kind ${other}` },
    ],
  });
  let message = '';
  try {
    operatorChannels(alerts(wrong), TEST_KINDS);
  } catch (error) {
    message = String(error);
  }
  t.match(message, 'settings.token');
  t.notMatch(message, 'hunter2');
});
