/**
 * Links by which the receiver of an alert takes it without signing in. A link proves by its code that this installation made it
 * for the thread of an account, so nothing has to be stored.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../domain/credential-seal.ts';

export interface AcknowledgedThread {
  readonly accountId: number;
  readonly thread: string;
}

export type AcknowledgeLinks = ReturnType<typeof createAcknowledgeLinks>;

const TOKEN = /^([1-9]\d{0,15})\.([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{43})$/;

/** Creates the links of an installation from its key of secrets. `siteUrl` is without a slash at its end. */
export function createAcknowledgeLinks(secretKey: Uint8Array, siteUrl: string) {
  const key = deriveKey(secretKey, 'acknowledge links');
  const codeOf = ({ accountId, thread }: AcknowledgedThread) =>
    createHmac('sha256', key).update(`${accountId}.${thread}`).digest();
  return {
    /** The page with the button. */
    urlOf(of: AcknowledgedThread): string {
      const token = `${of.accountId}.${of.thread}.${codeOf(of).toString('base64url')}`;
      return `${siteUrl}/alerts/acknowledge/${token}`;
    },
    /** The thread that the last part of the path stands for; null: this installation did not make it. */
    read(token: string): AcknowledgedThread | null {
      const [, account, thread, code] = TOKEN.exec(token) ?? [];
      if (account === undefined || thread === undefined || code === undefined) return null;
      const of = { accountId: Number(account), thread };
      return timingSafeEqual(codeOf(of), Buffer.from(code, 'base64url')) ? of : null;
    },
  };
}
