/** Requests with any `Host`, which `fetch` does not allow. */
import { request as sendRequest } from 'node:http';

/** A response. */
export interface AnswerAt {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** Makes requests to a server on loopback under any `Host`. */
export function requestAt(port: number) {
  return (host: string, path: string, { method = 'GET', body = '', headers = {} } = {}) =>
    new Promise<AnswerAt>((resolve, reject) => {
      const url = { host: '127.0.0.1', port, path, method };
      const sent = sendRequest({ ...url, headers: { ...headers, host } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
}
