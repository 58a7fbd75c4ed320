/** The simulated formats by kind: how a page is written, where it is, and how much of the script the format can tell. */
import type { FeedKindName } from '../../src/feeds/feed-kind.ts';
import { AWS_PATH, AWS_REGION_NAME, renderAws } from './aws.ts';
import { renderBetterStack } from './betterstack.ts';
import { renderGcp } from './gcp.ts';
import { renderHeroku } from './heroku.ts';
import { renderInstatus } from './instatus.ts';
import type { Render } from './render.ts';
import { renderSalesforce, SALESFORCE_PATH } from './salesforce.ts';
import type { ToldSeverity, Vendor } from './script.ts';
import { renderSlack } from './slack.ts';
import { renderStatusIo, statusIoPath } from './statusio.ts';
import { renderIncidentIo, renderStatuspage } from './statuspage.ts';
import { ATOM_PATH, AZURE_PAGE, RSS_PATH, renderAtom, renderAzure, renderRss } from './syndication.ts';

/** How much of an incident a format tells. */
export interface Fidelity {
  /** `each`: the four statuses; `open`: no more than open or resolved. */
  readonly statuses: 'each' | 'open';
  /** `all` updates with their times, the `newest` text alone, or `none`. */
  readonly texts: 'all' | 'newest' | 'none';
  /** Whether a start and an end are told, or are the first reading with, and without, the entry. */
  readonly start: 'told' | 'read';
  readonly end: 'told' | 'read';
  /** What becomes of the title; null: it is not told. */
  readonly title: ((title: string) => string) | null;
  /** What a reader may call each severity; a format without severities has one word for all. */
  readonly severities: Readonly<Record<ToldSeverity, readonly string[]>>;
  readonly maintenances: boolean;
}

/** A simulated format. */
export interface VendorKind {
  readonly render: Render;
  /** The page for people below the server's address; default: the address itself. */
  readonly pagePath?: string;
  /** The feed below the server's address, where it does not follow from the page. */
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
};

/** Every kind that has a feed. */
export const VENDOR_KINDS: Readonly<Record<FeedKindName, VendorKind>> = {
  statuspage: { render: renderStatuspage, fidelity: { ...FULL, maintenances: true } },
  incidentio: {
    render: renderIncidentIo,
    fidelity: { ...FULL, severities: NO_CRITICAL, maintenances: true },
  },
  instatus: {
    render: renderInstatus,
    fidelity: { ...FULL, texts: 'none', end: 'read', severities: NO_CRITICAL, maintenances: true },
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
    fidelity: {
      ...FULL,
      statuses: 'open',
      texts: 'none',
      start: 'read',
      end: 'read',
      title: null,
      severities: NO_CRITICAL,
    },
  },
  rss: {
    render: renderRss,
    feedPath: () => RSS_PATH,
    fidelity: {
      ...FULL,
      severities: { minor: ['minor'], major: ['minor'], critical: ['minor'] },
    },
  },
  atom: {
    render: renderAtom,
    feedPath: () => ATOM_PATH,
    fidelity: {
      ...FULL,
      severities: { minor: ['minor'], major: ['minor'], critical: ['minor'] },
    },
  },
};

/** Events of AWS are titled without their region, which readers add. */
function withRegion(title: string): string {
  return `${title} (${AWS_REGION_NAME})`;
}
