/** One-time codes of authenticator apps: TOTP (RFC 6238) by `otpauth`, with its QR code by `uqr`. */
import { TOTP_SECRET_BYTES } from './sign-in-secret.ts';

const ISSUER = 'Upbeat';
const PERIOD_SECONDS = 30;
/** The parameters that every authenticator app knows. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS } as const;
/** Codes of so many periods before and after the current one are accepted, because clocks differ (RFC 6238, 5.2). */
const WINDOW = 1;
const CODE_FORM = /^\d{6}$/;

/** The secret of an authenticator app, and its address. */
export interface TotpEnrolment {
  /** The secret in Base32, in groups of four for people who type it. */
  readonly shownSecret: string;
  /** The `otpauth:` URI, which the QR code contains. */
  readonly uri: string;
  /** The QR code as SVG markup. */
  readonly qrCode: string;
}

/** The enrolment of a secret. `label`: how the app names it, beside the name of this program. */
export async function describeTotp(secret: Uint8Array, label: string): Promise<TotpEnrolment> {
  const { Secret, TOTP } = await import('otpauth');
  const { renderSVG } = await import('uqr');
  const totp = new TOTP({
    ...PARAMETERS,
    issuer: ISSUER,
    label,
    secret: new Secret({ buffer: copyOf(secret) }),
  });
  const uri = totp.toString();
  return {
    shownSecret: totp.secret.base32.replaceAll(/.{4}(?=.)/g, '$& '),
    uri,
    qrCode: renderSVG(uri, { ecc: 'M', border: 4 }),
  };
}

/**
 * The period (Unix time divided by 30 s) whose code this is; null: the code is wrong, or of a period not after
 * `lastStep`, so that no code is accepted twice (RFC 6238, 5.2). `now`: epoch milliseconds.
 */
export async function findTotpStep(
  secret: Uint8Array,
  code: string,
  now: number,
  lastStep: number,
): Promise<number | null> {
  if (!CODE_FORM.test(code)) return null;
  const { Secret, TOTP } = await import('otpauth');
  const delta = TOTP.validate({
    ...PARAMETERS,
    token: code,
    secret: new Secret({ buffer: copyOf(secret) }),
    timestamp: now,
    window: WINDOW,
  });
  if (delta === null) return null;
  const step = Math.floor(now / 1_000 / PERIOD_SECONDS) + delta;
  return step > lastStep ? step : null;
}

/** A buffer of exactly these bytes; `otpauth` takes whole buffers. */
function copyOf(secret: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(TOTP_SECRET_BYTES);
  new Uint8Array(copy).set(secret.subarray(0, TOTP_SECRET_BYTES));
  return copy;
}
