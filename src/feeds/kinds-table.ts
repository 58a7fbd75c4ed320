/** The kinds of status pages that have a feed, by their names in the catalogue. */
import type { FeedKind, FeedKindName } from './feed-kind.ts';
import { apple } from './kinds/apple.ts';
import { aws } from './kinds/aws.ts';
import { azuredevops } from './kinds/azuredevops.ts';
import { betterstack } from './kinds/betterstack.ts';
import { cachet } from './kinds/cachet.ts';
import { cstate } from './kinds/cstate.ts';
import { firehydrant } from './kinds/firehydrant.ts';
import { gcp } from './kinds/gcp.ts';
import { heroku } from './kinds/heroku.ts';
import { instatus } from './kinds/instatus.ts';
import { meta } from './kinds/meta.ts';
import { microsoft365 } from './kinds/microsoft365.ts';
import { nintendo } from './kinds/nintendo.ts';
import { okta } from './kinds/okta.ts';
import { pagerduty } from './kinds/pagerduty.ts';
import { atom, azure, rss, statuscast } from './kinds/rss.ts';
import { salesforce } from './kinds/salesforce.ts';
import { slack } from './kinds/slack.ts';
import { sorry } from './kinds/sorry.ts';
import { statusio } from './kinds/statusio.ts';
import { incidentio, statuspage } from './kinds/statuspage.ts';
import { statuspal } from './kinds/statuspal.ts';
import { upbeat } from './kinds/upbeat.ts';
import { uptimekuma } from './kinds/uptimekuma.ts';
import { uptimerobot } from './kinds/uptimerobot.ts';
import { zscaler } from './kinds/zscaler.ts';

export const FEED_KINDS: Readonly<Record<FeedKindName, FeedKind>> = {
  statuspage,
  incidentio,
  instatus,
  betterstack,
  statusio,
  gcp,
  aws,
  azure,
  slack,
  heroku,
  salesforce,
  microsoft365,
  azuredevops,
  apple,
  meta,
  uptimerobot,
  sorry,
  pagerduty,
  statuscast,
  statuspal,
  cachet,
  cstate,
  uptimekuma,
  upbeat,
  firehydrant,
  okta,
  nintendo,
  zscaler,
  rss,
  atom,
};
