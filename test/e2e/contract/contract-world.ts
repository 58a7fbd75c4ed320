/** A running program as a client of the contract sees it: by HTTP alone. */
import { createApiKey } from '../../../src/auth/api-keys.ts';
import type { Registry } from '../../../src/store/ports/registry.ts';
import type { RunningProgram } from '../../support/program.ts';

/** An answer with its body read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The body as JSON; null where it is none. */
  readonly json: unknown;
}

/** What a promise of the contract is tried on. */
export interface ContractWorld {
  readonly program: RunningProgram;
  /** What `upbeat keys` and `upbeat services` work on: started as programs they would take most of the time. */
  readonly registry: Registry;
  /** Begins every domain and name that this world's owners use. */
  readonly name: string;
  /** False: the store of samples takes them and answers no questions, as VictoriaMetrics. */
  readonly hasHistory: boolean;
  /** The simulated site by name: what it answers from now on. */
  answer(site: SiteName, status: number): void;
  /** The word in the body of the site with a health endpoint, from now on. */
  say(word: string): void;
  get(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Reply>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Asks until it holds; returns the last body. Throws with it after 60 s. */
  until(path: string, accept: (body: unknown) => boolean): Promise<unknown>;
  /** A key of an account, as its header, and its number. */
  key(
    account: string,
  ): Promise<{ readonly id: number; readonly headers: { readonly authorization: string } }>;
}

/** The sites of the catalogue. */
export const SITES = ['quick', 'turning', 'broken'] as const;
/** One of them. */
export type SiteName = (typeof SITES)[number];

const PATIENCE_MS = 60_000;
const ADDRESSES = { next: 1 };

/** A client's address that no other client has: each has its own limits. */
export function newAddress(): string {
  const number = ADDRESSES.next++;
  return `203.0.${number >> 8}.${number & 255}`;
}

/** Makes the world of a running program. */
export function createContractWorld(
  given: Pick<ContractWorld, 'program' | 'registry' | 'name' | 'hasHistory' | 'answer' | 'say'>,
): ContractWorld {
  const { program, registry } = given;
  const ask = async (path: string, init: RequestInit): Promise<Reply> => {
    const response = await fetch(program.siteUrl + path, { redirect: 'manual', ...init });
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && bytes.length > 0;
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      json: isJson ? JSON.parse(bytes.toString()) : null,
    };
  };
  const world: ContractWorld = {
    ...given,
    get: (path, headers = {}, method = 'GET') =>
      ask(path, { method, headers: { 'x-forwarded-for': newAddress(), ...headers } }),
    post: (path, body, headers = {}) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress(), ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async until(path, accept) {
      for (const deadline = performance.now() + PATIENCE_MS; ; ) {
        const { json } = await world.get(path);
        if (json !== null && accept(json)) return json;
        if (performance.now() > deadline)
          throw new Error(`${path} still answers ${JSON.stringify(json)}\n${program.output().slice(-3_000)}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    async key(account) {
      const { key, record } = await createApiKey(registry, {
        account: `${given.name}-${account}`,
        name: 'laptop',
        expiresAt: null,
        now: Date.now(),
      });
      return { id: record.id, headers: { authorization: `Bearer ${key}` } };
    },
  };
  return world;
}
