/** The simulated formats by kind: how a page is written, its URLs, and how much of a script the format can express. */

import { renderApple } from './apple.ts';
import { AWS_PATH, AWS_REGION_NAME, renderAws } from './aws.ts';
import { renderBetterStack } from './betterstack.ts';
import { renderCachet } from './cachet.ts';
import { renderCState } from './cstate.ts';
import { renderFireHydrant } from './firehydrant.ts';
import { renderGcp } from './gcp.ts';
import { renderHeroku } from './heroku.ts';
import { renderInstatus } from './instatus.ts';
import { renderMicrosoft365 } from './microsoft365.ts';
import { NINTENDO_PAGE, renderNintendo } from './nintendo.ts';
import { OKTA_PATH, renderOkta } from './okta.ts';
import { renderPagerDuty } from './pagerduty.ts';
import type { Render } from './render.ts';
import { renderSalesforce, SALESFORCE_PATH } from './salesforce.ts';
import type { SimulatedKind, ToldSeverity, Vendor } from './script.ts';
import { renderSlack } from './slack.ts';
import { renderSorry } from './sorry.ts';
import { renderAzureDevOps, renderMeta } from './states.ts';
import { renderStatusIo, statusIoPath } from './statusio.ts';
import { renderIncidentIo, renderStatuspage } from './statuspage.ts';
import { renderStatuspal, STATUSPAL_PATH } from './statuspal.ts';
import {
  ATOM_PATH,
  AZURE_PAGE,
  RSS_PATH,
  renderAtom,
  renderAzure,
  renderRss,
  renderStatusCast,
} from './syndication.ts';
import { renderUpbeat, UPBEAT_PAGE } from './upbeat.ts';
import { renderUptimeKuma, UPTIMEKUMA_PAGE } from './uptimekuma.ts';
import { renderUptimeRobot, UPTIMEROBOT_PATH } from './uptimerobot.ts';
import { renderZscaler, ZSCALER_PATH } from './zscaler.ts';

/** How much of an incident a format can express. */
export interface Fidelity {
  /** `each`: the four statuses; `open`: only open or resolved. */
  readonly statuses: 'each' | 'open';
  /** `all` updates with their times, only the `newest` text, or `none`. */
  readonly texts: 'all' | 'newest' | 'none';
  /** `told`: the format contains the time; `read`: it is the time of the first reading with, or without, the entry. */
  readonly start: 'told' | 'read';
  readonly end: 'told' | 'read';
  /** The title in the format; null: it has none. */
  readonly title: ((title: string) => string) | null;
  /** The severities that a reader may conclude; a format without severities has one for all. */
  readonly severities: Readonly<Record<ToldSeverity, readonly string[]>>;
  readonly maintenances: boolean;
  /** Whether maintenances name the components that they concern. */
  readonly maintainedParts: boolean;
}

/** A simulated format. */
interface VendorKind {
  readonly render: Render;
  /** Path of the page for people; default: the root. */
  readonly pagePath?: string;
  /** Path of the feed; absent: it follows from the page. */
  readonly feedPath?: (vendor: Vendor) => string;
  readonly fidelity: Fidelity;
}

const EXACT = { minor: ['minor'], major: ['major'], critical: ['critical'] } as const;
const NO_CRITICAL = { minor: ['minor'], major: ['major'], critical: ['major'] } as const;
const FULL: Fidelity = {
  statuses: 'each',
  texts: 'all',
  start: 'told',
  end: 'told',
  title: (title) => title,
  severities: EXACT,
  maintenances: false,
  maintainedParts: true,
};

const ALWAYS_MINOR = { minor: ['minor'], major: ['minor'], critical: ['minor'] } as const;
/** Of pages that show states of their parts alone. */
const STATES: Fidelity = {
  ...FULL,
  statuses: 'open',
  texts: 'none',
  start: 'read',
  end: 'read',
  title: null,
  severities: NO_CRITICAL,
};

/** All kinds that are simulated. */
export const VENDOR_KINDS: Readonly<Record<SimulatedKind, VendorKind>> = {
  statuspage: { render: renderStatuspage, fidelity: { ...FULL, maintenances: true } },
  incidentio: {
    render: renderIncidentIo,
    fidelity: { ...FULL, severities: NO_CRITICAL, maintenances: true },
  },
  instatus: {
    render: renderInstatus,
    fidelity: {
      ...FULL,
      texts: 'none',
      end: 'read',
      severities: NO_CRITICAL,
      maintenances: true,
      maintainedParts: false,
    },
  },
  betterstack: {
    render: renderBetterStack,
    fidelity: { ...FULL, statuses: 'open', severities: NO_CRITICAL, maintenances: true },
  },
  statusio: {
    render: renderStatusIo,
    feedPath: statusIoPath,
    fidelity: { ...FULL, end: 'read', maintenances: true },
  },
  gcp: { render: renderGcp, fidelity: { ...FULL, statuses: 'open' } },
  aws: {
    render: renderAws,
    feedPath: () => AWS_PATH,
    fidelity: { ...FULL, statuses: 'open', title: withRegion },
  },
  azure: {
    render: renderAzure,
    pagePath: AZURE_PAGE,
    fidelity: {
      ...FULL,
      statuses: 'open',
      texts: 'newest',
      end: 'read',
      severities: { minor: ['major'], major: ['major'], critical: ['major'] },
    },
  },
  slack: { render: renderSlack, fidelity: { ...FULL, statuses: 'open', severities: NO_CRITICAL } },
  heroku: { render: renderHeroku, fidelity: { ...FULL, statuses: 'open', severities: NO_CRITICAL } },
  salesforce: {
    render: renderSalesforce,
    feedPath: () => SALESFORCE_PATH,
    fidelity: STATES,
  },
  azuredevops: { render: renderAzureDevOps, fidelity: STATES },
  meta: { render: renderMeta, fidelity: STATES },
  microsoft365: {
    render: renderMicrosoft365,
    fidelity: { ...STATES, texts: 'newest', title: (title) => title },
  },
  apple: {
    render: renderApple,
    fidelity: { ...FULL, statuses: 'open', texts: 'none', severities: NO_CRITICAL, maintenances: true },
  },
  uptimerobot: {
    render: renderUptimeRobot,
    feedPath: () => UPTIMEROBOT_PATH,
    fidelity: { ...FULL, statuses: 'open', texts: 'none', end: 'read', severities: ALWAYS_MINOR },
  },
  sorry: {
    render: renderSorry,
    fidelity: { ...FULL, severities: ALWAYS_MINOR, maintenances: true },
  },
  pagerduty: { render: renderPagerDuty, fidelity: { ...FULL, maintenances: true } },
  statuscast: {
    render: renderStatusCast,
    fidelity: { ...FULL, statuses: 'open', texts: 'newest', severities: ALWAYS_MINOR },
  },
  statuspal: {
    render: renderStatuspal,
    feedPath: () => STATUSPAL_PATH,
    fidelity: { ...FULL, end: 'read', severities: NO_CRITICAL, maintenances: true },
  },
  cachet: {
    render: renderCachet,
    fidelity: { ...FULL, severities: ALWAYS_MINOR, maintenances: true },
  },
  cstate: {
    render: renderCState,
    fidelity: { ...FULL, statuses: 'open', texts: 'none', end: 'read', severities: NO_CRITICAL },
  },
  uptimekuma: {
    render: renderUptimeKuma,
    pagePath: UPTIMEKUMA_PAGE,
    fidelity: {
      ...FULL,
      statuses: 'open',
      texts: 'newest',
      end: 'read',
      severities: NO_CRITICAL,
      maintenances: true,
      maintainedParts: false,
    },
  },
  upbeat: { render: renderUpbeat, pagePath: UPBEAT_PAGE, fidelity: { ...FULL, maintenances: true } },
  firehydrant: { render: renderFireHydrant, fidelity: FULL },
  okta: {
    render: renderOkta,
    feedPath: () => OKTA_PATH,
    fidelity: { ...FULL, statuses: 'open', texts: 'newest' },
  },
  nintendo: {
    render: renderNintendo,
    pagePath: NINTENDO_PAGE,
    fidelity: {
      ...FULL,
      statuses: 'open',
      texts: 'none',
      severities: { minor: ['major'], major: ['major'], critical: ['major'] },
      maintenances: true,
    },
  },
  zscaler: {
    render: renderZscaler,
    feedPath: () => ZSCALER_PATH,
    fidelity: { ...FULL, statuses: 'open', end: 'read', severities: NO_CRITICAL },
  },
  rss: {
    render: renderRss,
    feedPath: () => RSS_PATH,
    fidelity: {
      ...FULL,
      severities: ALWAYS_MINOR,
    },
  },
  atom: {
    render: renderAtom,
    feedPath: () => ATOM_PATH,
    fidelity: {
      ...FULL,
      severities: ALWAYS_MINOR,
    },
  },
};

/** AWS titles events without their region, which readers add. */
function withRegion(title: string): string {
  return `${title} (${AWS_REGION_NAME})`;
}
