/** Notifications of Uptime Kuma as channels with their secrets. */
import t from 'tap';
import { readKumaChannel } from '../../../src/cli/import/kuma-channels.ts';
import type { Row } from '../../../src/cli/import/listed-service.ts';
import { config } from './kuma-household.ts';

t.test('notifications become channels with their secrets', async (t) => {
  const hook = 'https://hooks.slack.com/services/T0/B0/x';
  const rows: readonly (readonly [Row, kind: string, settings: object, lost?: readonly string[]])[] = [
    [
      config('discord', { discordWebhookUrl: 'https://discord.com/api/webhooks/1/x', discordUsername: 'K' }),
      'discord',
      { url: 'https://discord.com/api/webhooks/1/x' },
      ['discordUsername'],
    ],
    [
      config('slack', { slackwebhookURL: hook, slackiconemo: ':robot_face:', slackchannel: '#a' }),
      'slack',
      { url: hook },
      ['slackchannel'],
    ],
    [
      config('webhook', {
        webhookURL: 'https://a.example/x',
        webhookContentType: 'json',
        httpMethod: 'post',
      }),
      'webhook',
      { url: 'https://a.example/x' },
      ['webhookContentType'],
    ],
    [config('teams', { webhookUrl: 'https://a.example/t' }), 'teams', { url: 'https://a.example/t' }],
    [
      config('mattermost', { mattermostWebhookUrl: 'https://a.example/m' }),
      'mattermost',
      { url: 'https://a.example/m' },
    ],
    [
      config('GoogleChat', { googleChatWebhookURL: 'https://a.example/g' }),
      'google-chat',
      { url: 'https://a.example/g' },
    ],
    [
      config('matrix', {
        homeserverUrl: 'https://m.example',
        internalRoomId: '!a:m.example',
        accessToken: 't',
      }),
      'matrix',
      { server: 'https://m.example', room: '!a:m.example', token: 't' },
    ],
    [
      config('ntfy', {
        ntfytopic: 'home',
        ntfyserverurl: 'https://ntfy.sh',
        ntfyAuthenticationMethod: 'accessToken',
        ntfyaccesstoken: 'tk_1',
      }),
      'ntfy',
      { topic: 'home', token: 'tk_1' },
    ],
    [
      config('gotify', {
        gotifyserverurl: 'https://g.example',
        gotifyapplicationToken: 'A',
        gotifyPriority: 8,
      }),
      'gotify',
      { server: 'https://g.example', token: 'A' },
      ['gotifyPriority'],
    ],
    [
      config('pushover', { pushoveruserkey: 'u', pushoverapptoken: 'a', pushoverpriority: '2' }),
      'pushover',
      { user: 'u', token: 'a', emergency: true },
    ],
    [
      config('PagerDuty', {
        pagerdutyIntegrationKey: 'k',
        pagerdutyIntegrationUrl: 'https://events.eu.pagerduty.com/v2/enqueue',
      }),
      'pagerduty',
      { key: 'k', region: 'eu' },
    ],
    [
      config('Opsgenie', { opsgenieApiKey: 'k', opsgenieRegion: 'eu' }),
      'opsgenie',
      { key: 'k', region: 'eu' },
    ],
  ];
  for (const [row, kind, settings, lost = []] of rows) {
    const reading = readKumaChannel(row);
    if ('problem' in reading) t.fail(`${kind}: ${reading.problem}`);
    else
      t.same(
        [reading.kind, reading.settings, reading.lost.map(({ field }) => field)],
        [kind, [settings], lost],
        kind,
      );
  }
});
