/** The rate limits of the application, which can change while it runs. */
import type { Clock } from '../clock.ts';
import type { BucketLimiters } from '../http/pipeline.ts';
import {
  type ChargeChange,
  createChangeCharge,
  createRateLimiter,
  LimitMemory,
  type RateLimiter,
} from '../http/rate-limits.ts';
import { createSharedRateLimiter, type LimitServer } from '../http/shared-rate-limits.ts';
import type { ApiLimits } from '../view/monitor.ts';

export type ChangedLimits = Pick<
  ApiLimits,
  'anonymousPerMinute' | 'authenticatedPerMinute' | 'changesPerAccount'
>;

/** Maximum number of requests per minute and address for pages and their files. */
const PAGES_PER_MINUTE = 600;

/** The limiters of one application. */
export class AppLimits {
  readonly #clock: Clock;
  readonly #server: LimitServer | null;
  readonly #addresses: LimitMemory;
  readonly #keys: LimitMemory;
  readonly #changes: RateLimiter;
  readonly limiters: Readonly<Record<'api' | 'pictures' | 'pages', BucketLimiters>>;
  readonly chargeChange: ChargeChange;
  inForce: ApiLimits;

  /** `server`: where processes share their limits; null: this process counts its own requests. */
  constructor(limits: ApiLimits, server: LimitServer | null, clock: Clock) {
    const { anonymousPerMinute, authenticatedPerMinute, changesPerAccount } = limits;
    const { silenceMs, domainsPerAccount } = limits;
    this.#clock = clock;
    this.#server = server;
    this.#addresses = new LimitMemory(clock);
    this.#keys = new LimitMemory(clock);
    this.#changes = this.#limiter('changes', 'key', changesPerAccount);
    this.chargeChange = createChangeCharge(this.#changes);
    this.inForce = {
      ...{ anonymousPerMinute, authenticatedPerMinute, changesPerAccount },
      ...{ silenceMs, domainsPerAccount },
    };
    this.limiters = {
      api: this.#both('api', anonymousPerMinute, authenticatedPerMinute),
      pictures: this.#both('pictures', anonymousPerMinute, authenticatedPerMinute),
      pages: this.#both('pages', PAGES_PER_MINUTE, PAGES_PER_MINUTE),
    };
  }

  /** The limit of a form, for each address of a client. */
  limitForms(name: string, max: number): RateLimiter {
    return this.#limiter(name, 'address', max);
  }

  set(limits: ChangedLimits): void {
    this.inForce = { ...this.inForce, ...limits };
    this.#changes.setMax(limits.changesPerAccount);
    for (const bucket of [this.limiters.api, this.limiters.pictures]) {
      bucket.anonymous.setMax(limits.anonymousPerMinute);
      bucket.authenticated.setMax(limits.authenticatedPerMinute);
    }
  }

  #limiter(name: string, who: 'address' | 'key', max: number): RateLimiter {
    const local = createRateLimiter(name, max, who === 'address' ? this.#addresses : this.#keys);
    if (this.#server === null) return local;
    return createSharedRateLimiter(`${name}:${who}`, max, {
      server: this.#server,
      local,
      clock: this.#clock,
    });
  }

  #both(name: string, ofAddress: number, ofKey: number): BucketLimiters {
    return {
      anonymous: this.#limiter(name, 'address', ofAddress),
      authenticated: this.#limiter(name, 'key', ofKey),
    };
  }
}
