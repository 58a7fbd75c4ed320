/**
 * The ids of events of `GET /api/v1/events`: positions in the registry's feed, encrypted under a key of the installation. The feed contains
 * changes of services that a reader may not see, so a reader who could compare positions would learn how many there were.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomInt } from 'node:crypto';

/** Writes and reads ids. */
export type EventIds = ReturnType<typeof createEventIds>;

/** One block of AES: the position, a salt, and zeros by which an id is recognized as one of this installation. */
const BLOCK_BYTES = 16;
const POSITION_BYTES = 6;
const SALT_BYTES = 6;
const MAX_SALT = 2 ** 47;
const KEY_BYTES = 32;
/** The ids of earlier versions were the positions. */
const FORMER_ID = /^\d{1,15}$/;
/** Base64url of a block. */
const ID = /^[A-Za-z0-9_-]{22}$/;

/** Creates the ids of an installation from its key of secrets. */
export function createEventIds(secretKey: Uint8Array) {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'upbeat ids of events', KEY_BYTES));
  const idOf = (position: number, salt: number): string => {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.writeUIntBE(position, 0, POSITION_BYTES);
    block.writeUIntBE(salt, POSITION_BYTES, SALT_BYTES);
    const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
  };
  return {
    /** The id of an event, the same from every node. */
    ofEvent: (position: number): string => idOf(position, 0),
    /** An id after which a stream resumes. It is a new one each time, and so does not tell that the feed has moved. */
    ofPlace: (position: number): string => idOf(position, randomInt(1, MAX_SALT)),
    /**
     * The position in an id. Null: it is an id of another installation or key, or of an earlier version, after which nothing can be told;
     * undefined: it is not an id. `0` is before the first event.
     */
    read(id: string): number | null | undefined {
      if (FORMER_ID.test(id)) return Number(id) === 0 ? 0 : null;
      if (!ID.test(id)) return undefined;
      const bytes = Buffer.from(id, 'base64url');
      const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
      const block = Buffer.concat([decipher.update(bytes), decipher.final()]);
      const isOurs = block.subarray(POSITION_BYTES + SALT_BYTES).every((byte) => byte === 0);
      return isOurs ? block.readUIntBE(0, POSITION_BYTES) : null;
    },
  };
}
