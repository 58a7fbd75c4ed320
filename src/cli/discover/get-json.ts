/** Asks a local API for JSON: at a socket of this machine, or at a URL, with the authority and the token of a cluster. */
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { messageOf } from '../../error.ts';
import { CommandError } from '../command.ts';

export interface ApiPlace {
  /** Its URL without a path; with a socket, `http://localhost`. */
  readonly origin: string;
  readonly socketPath?: string;
  /** PEM certificates of its authority; absent: the usual ones. */
  readonly ca?: string;
  readonly token?: string;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 67_108_864;

/** The document at a path. Throws {@link CommandError} if there is none. */
export async function getJson({ origin, socketPath, ca, token }: ApiPlace, path: string): Promise<unknown> {
  const url = new URL(path, origin);
  const where = socketPath ?? url.origin;
  const send = url.protocol === 'https:' ? requestSecure : requestPlain;
  return await new Promise((resolve, reject) => {
    const fail = (text: string) => reject(new CommandError(`${where} ${text}`));
    const request = send(
      url,
      {
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        timeout: TIMEOUT_MS,
        ...(socketPath === undefined ? {} : { socketPath }),
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes <= MAX_BYTES) return;
          request.destroy();
          fail('answers more than 64 MiB');
        });
        response.on('error', (error) => fail(`breaks off its answer (${error.message})`));
        response.on('end', () => {
          if (response.statusCode !== 200) return fail(`answers ${path} with status ${response.statusCode}`);
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()));
          } catch (error) {
            fail(`answers no JSON (${messageOf(error)})`);
          }
        });
      },
    );
    request.on('timeout', () => {
      request.destroy();
      fail(`does not answer within ${TIMEOUT_MS / 1_000} s`);
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      fail(`cannot be reached (${error.code ?? error.message})`),
    );
    request.end();
  });
}

export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}
