/** What the scripts of pages get from elsewhere: from the server, from the chart library, and from each other. */
import type * as WebAuthn from '@simplewebauthn/browser';
import type UPlot from 'uplot';
import type * as messages from '../../src/web/parts/page-messages.ts';

declare global {
  /** The chart library; pages load it before service.js. */
  const uPlot: typeof UPlot;
  type uPlot = UPlot;

  /** The browser's part of passkeys; pages load it before passkeys.js. */
  const SimpleWebAuthnBrowser: typeof WebAuthn;

  type LiveUpdate = messages.LiveUpdate;
  type SearchRow = messages.SearchRow;
  type ResponseTimes = messages.ResponseTimes;

  interface DocumentEventMap {
    /** An update of the open page, after live.js has shown them. */
    'upbeat:news': CustomEvent<LiveUpdate>;
    /** live.js has replaced parts of the page by newer ones. */
    'upbeat:parts': CustomEvent<null>;
  }
}
