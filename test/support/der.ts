/** The few ASN.1 types of DER (ITU-T X.690) that a certificate is written in. */

/** One element: tag, length in the shortest form, content. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

/** SEQUENCE. */
export const sequence = (...items: readonly Uint8Array[]): Buffer => der(0x30, ...items);

/** SET of one item. */
export const setOf = (item: Uint8Array): Buffer => der(0x31, item);

/** INTEGER from big-endian bytes, not negative. */
export function integer(bytes: Uint8Array): Buffer {
  return der(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
}

/** OBJECT IDENTIFIER from its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

/** BOOLEAN true. */
export const yes = der(0x01, Buffer.of(0xff));

/** OCTET STRING. */
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes);

/** BIT STRING; `unused` bits at its end do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), bytes);

/** UTF8String. */
export const text = (value: string): Buffer => der(0x0c, Buffer.from(value, 'utf8'));

/** Time as RFC 5280, 4.1.2.5 wants it: UTCTime up to 2049, GeneralizedTime after. */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : der(0x18, Buffer.from(digits, 'ascii'));
}
