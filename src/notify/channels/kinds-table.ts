/** Every kind of channel by its name. */
import type { ChannelKind } from '../../domain/alert/channel.ts';
import type { ChannelKindParts } from './define-channel.ts';
import { discordChannel } from './discord.ts';
import { emailChannel } from './email.ts';
import { googleChatChannel } from './google-chat.ts';
import { gotifyChannel } from './gotify.ts';
import { matrixChannel } from './matrix.ts';
import { mattermostChannel } from './mattermost.ts';
import { ntfyChannel } from './ntfy.ts';
import { opsgenieChannel } from './opsgenie.ts';
import { pagerdutyChannel } from './pagerduty.ts';
import { pushoverChannel } from './pushover.ts';
import { slackChannel } from './slack.ts';
import { teamsChannel } from './teams.ts';
import { telegramChannel } from './telegram.ts';
import { webhookChannel } from './webhook.ts';

export const CHANNEL_KINDS_TABLE: Readonly<Record<ChannelKind, ChannelKindParts>> = {
  email: emailChannel,
  slack: slackChannel,
  discord: discordChannel,
  teams: teamsChannel,
  mattermost: mattermostChannel,
  'google-chat': googleChatChannel,
  telegram: telegramChannel,
  matrix: matrixChannel,
  ntfy: ntfyChannel,
  gotify: gotifyChannel,
  pushover: pushoverChannel,
  pagerduty: pagerdutyChannel,
  opsgenie: opsgenieChannel,
  webhook: webhookChannel,
};
