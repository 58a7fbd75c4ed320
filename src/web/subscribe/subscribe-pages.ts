/**
 * Subscriptions of visitors by e-mail, without JavaScript. Requests for the pages of links change nothing, because programs follow
 * links too: only their buttons confirm and unsubscribe. Mail programs unsubscribe by the same address (RFC 8058).
 */

import { readMailAddress } from '../../domain/mail-address.ts';
import { fullName, isCategory } from '../../domain/service.ts';
import type { OwnedPage } from '../../domain/status-page.ts';
import type { SubscriptionTopic } from '../../domain/subscription.ts';
import { readForm } from '../../http/body.ts';
import { HttpError, retryLater } from '../../http/problem.ts';
import type { RateLimiter } from '../../http/rate-limits.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { PageReads } from '../../store/ports/status-pages.ts';
import type { SubscriptionStore, TopicName } from '../../store/ports/subscriptions.ts';
import { pathFor } from '../../view/page-address.ts';
import type { ShownDirectory } from '../../view/service-directory.ts';
import { type ChosenLanguage, chooseLanguage } from '../language/language.ts';
import { listPath, type RenderPage, renderMissing, withSecrecy } from '../parts/views.ts';
import { framePage } from '../status-page/page-content.ts';

export interface SubscribeSources {
  readonly registry: SubscriptionStore;
  /** Null: this site has no status pages. */
  readonly ownedPages: PageReads | null;
  readonly directory: ShownDirectory;
  /** Public URL of this site. */
  readonly siteUrl: string;
  /** As of the pages. */
  readonly home?: string;
  readonly now: () => number;
  /** Makes a limit for each client by its address, which all processes of the site share if they share Redis. */
  readonly limitForms: (name: string, maxPerMinute: number) => Pick<RateLimiter, 'charge'>;
}

/** Maximum number of forms that an address of a client sends in a minute. */
const MAX_FORMS_PER_MINUTE = 5;

interface FormTopic {
  readonly topic: SubscriptionTopic;
  readonly what: string;
  /** The form's own address. */
  readonly action: string;
  readonly back: string;
  /** The page that it is about, whose brand the form has; absent: it is about no page. */
  readonly page?: OwnedPage;
}

/** The routes of the form, and of the links in messages. */
export function subscribePages(render: RenderPage, sources: SubscribeSources): Route[] {
  const views = new SubscribePages(render, sources);
  const route = (
    path: string,
    access: 'everyone' | 'secret',
    handle: (request: HttpRequest) => Promise<HttpResponse>,
  ): Route => ({
    ...{ path, access, handle, bucket: 'pages', open: 'page', anyMethod: true, sameOrigin: true },
  });
  return [
    route('/subscribe', 'everyone', (request) => views.form(request)),
    route('/subscribe/confirm/:secret', 'secret', (request) => views.confirm(request)),
    route('/subscribe/end/:secret', 'secret', (request) => views.end(request)),
    route('/alerts/confirm/:secret', 'secret', (request) => views.channel(request)),
    route('/alerts/stop/:secret', 'secret', (request) => views.stop(request)),
  ];
}

/** The views of subscriptions. */
class SubscribePages {
  readonly #render: RenderPage;
  readonly #sources: SubscribeSources;
  readonly #limiter: Pick<RateLimiter, 'charge'>;

  constructor(render: RenderPage, sources: SubscribeSources) {
    this.#render = render;
    this.#sources = sources;
    this.#limiter = sources.limitForms('subscribe', MAX_FORMS_PER_MINUTE);
  }

  async form(request: HttpRequest): Promise<HttpResponse> {
    const language = chooseLanguage(request);
    const topic = await readFormTopic(request, this.#sources, language);
    if (topic === null) {
      const error = new HttpError('route_not_found', 'There is nothing of that name to subscribe to.');
      const message = language.texts.subscribe.gone;
      return renderMissing(this.#render, request, language, { error, message });
    }
    if (request.method !== 'POST') return this.#showForm(request, language, topic);
    const typed = (await readForm(request)).get('address') ?? '';
    await this.#charge(request.client, language);
    const address = readMailAddress(typed);
    if (address === null)
      return this.#showForm(request, language, topic, {
        problem: language.texts.subscribe.invalid,
        typed: typed.slice(0, 254),
      });
    const { client } = request;
    await this.#sources.registry.requestSubscription({
      topic: topic.topic,
      address,
      language: language.code,
      client,
      now: this.#sources.now(),
    });
    return this.#showForm(request, language, topic, { sent: true });
  }

  async confirm(request: HttpRequest): Promise<HttpResponse> {
    const language = chooseLanguage(request);
    const { subscribe: words } = language.texts;
    const { secret = '' } = request.params;
    const isSent = request.method === 'POST';
    const found = isSent
      ? await this.#sources.registry.confirmSubscription(secret, this.#sources.now())
      : await this.#sources.registry.findSubscription(secret);
    if (found === null) return this.#gone(language);
    const what = nameOf(found.topic, language);
    const frame = await this.#frameOf(request, found.topic, language);
    if (found.isConfirmed)
      return this.#show(language, { ...frame, title: words.confirmedTitle, text: words.confirmed(what) });
    return this.#show(language, {
      ...frame,
      title: words.confirmTitle,
      text: words.confirmLead(what),
      button: words.confirm,
    });
  }

  async end(request: HttpRequest): Promise<HttpResponse> {
    const language = chooseLanguage(request);
    const { subscribe: words } = language.texts;
    const { secret = '' } = request.params;
    const found = await this.#sources.registry.findSubscription(secret);
    const frame = found === null ? {} : await this.#frameOf(request, found.topic, language);
    if (request.method === 'POST') {
      await this.#sources.registry.endSubscription(secret);
      // Mail programs may send it twice.
      return this.#show(language, { ...frame, title: words.endedTitle, text: words.ended });
    }
    if (found === null) return this.#gone(language);
    const text = words.endLead(nameOf(found.topic, language));
    return this.#show(language, { ...frame, title: words.endTitle, text, button: words.end });
  }

  async channel(request: HttpRequest): Promise<HttpResponse> {
    const language = chooseLanguage(request);
    const { subscribe: words } = language.texts;
    const { secret = '' } = request.params;
    const isSent = request.method === 'POST';
    const found = isSent
      ? await this.#sources.registry.confirmChannel(secret, this.#sources.now())
      : await this.#sources.registry.findAskedChannel(secret);
    if (found === null) return this.#gone(language, words.channelGone);
    const { account, channel, isConfirmed } = found;
    if (isConfirmed)
      return this.#show(language, {
        title: words.confirmedTitle,
        text: words.channelConfirmed(account, channel),
      });
    const text = words.channelLead(account, channel);
    return this.#show(language, { title: words.channelTitle, text, button: words.channelConfirm });
  }

  /** Mail programs send the POST without a button (RFC 8058); the button of who stopped it takes that back. */
  async stop(request: HttpRequest): Promise<HttpResponse> {
    const language = chooseLanguage(request);
    const { subscribe: words } = language.texts;
    const { secret = '' } = request.params;
    const isSent = request.method === 'POST';
    const isResumed = new URLSearchParams(request.query).get('do') === 'resume';
    const found = isSent
      ? await this.#sources.registry.stopChannel(secret, !isResumed, this.#sources.now())
      : await this.#sources.registry.findChannelOfStop(secret);
    if (found === null) return this.#gone(language, words.channelGone);
    const { account, channel, isConfirmed, isStopped } = found;
    const names = [account, channel] as const;
    if (isStopped)
      return this.#show(language, {
        ...{ title: words.stoppedTitle, text: words.stopped(...names) },
        ...{ button: words.resume, action: '?do=resume', isDone: true },
      });
    if (!isConfirmed) return this.#gone(language, words.channelGone);
    if (isResumed)
      return this.#show(language, { title: words.confirmedTitle, text: words.channelConfirmed(...names) });
    return this.#show(language, {
      title: words.endTitle,
      text: words.stopLead(...names),
      button: words.stop,
    });
  }

  async #charge(client: string, { texts }: ChosenLanguage): Promise<void> {
    const { allowed, retryAfterSeconds } = await this.#limiter.charge(client);
    if (!allowed)
      throw retryLater('rate_limited', retryAfterSeconds, texts.subscribe.tooMany(retryAfterSeconds));
  }

  #showForm(
    request: HttpRequest,
    language: ChosenLanguage,
    { what, action, back, page }: FormTopic,
    { sent = false, problem = null as string | null, typed = '' } = {},
  ): HttpResponse {
    const { sentTitle, title } = language.texts.subscribe;
    const frame = page === undefined ? {} : framePage(request, this.#sources.siteUrl, page, language);
    const shown = { ...frame, what, action, back, sent, problem, typed };
    const data = { language, title: sent ? sentTitle : title(what), ...shown };
    return withoutStore(this.#render('./subscribe', data, problem === null ? 200 : 400));
  }

  /** The look of the owner's page that a subscription is about; empty: it is about something else. */
  async #frameOf(request: HttpRequest, { kind, plainName }: TopicName, language: ChosenLanguage) {
    if (kind !== 'page') return {};
    const page = (await this.#sources.ownedPages?.findPage(plainName.replace('/p/', ''))) ?? null;
    return page === null || page.access !== undefined
      ? {}
      : framePage(request, this.#sources.siteUrl, page, language);
  }

  /** A page with a text, and a button that sends a POST to the same address. */
  #show(
    language: ChosenLanguage,
    data: {
      readonly title: string;
      readonly text: string;
      readonly button?: string;
      /** The path to which the button sends its POST. */
      readonly action?: string;
      /** The text says what was done. */
      readonly isDone?: boolean;
    },
    status = 200,
  ): HttpResponse {
    const shown = { button: null, action: null, isDone: data.button === undefined, ...data };
    return withSecrecy(this.#render('./subscription', { language, ...shown }, status));
  }

  #gone(language: ChosenLanguage, text = language.texts.subscribe.gone): HttpResponse {
    return this.#show(language, { title: language.texts.subscribe.goneTitle, text }, 404);
  }
}

/** The topic of the form of a request; null: there is no such service, category or page. */
async function readFormTopic(
  request: HttpRequest,
  sources: SubscribeSources,
  language: ChosenLanguage,
): Promise<FormTopic | null> {
  const { directory, ownedPages } = sources;
  const parameters = new URLSearchParams(request.query);
  const [kind, name] = (['page', 'service', 'category'] as const)
    .map((one) => [one, parameters.get(one)] as const)
    .find(([, value]) => value !== null) ?? ['service', ''];
  if (name === null) return null;
  const action = `/subscribe?${new URLSearchParams({ [kind]: name })}`;
  if (kind === 'category')
    return isCategory(name)
      ? {
          topic: `category:${name}`,
          what: nameOf({ kind, name }, language),
          action,
          back: `${listPath(sources)}?category=${name}`,
        }
      : null;
  if (kind === 'page') {
    const page = (await ownedPages?.findPage(name.toLowerCase())) ?? null;
    return page === null || page.access !== undefined
      ? null
      : {
          topic: `page:${page.id}`,
          what: page.title,
          action: request.atDomain === true ? '/subscribe' : action,
          back: pathFor(request, page.slug),
          page,
        };
  }
  const service = directory.byPageName(name);
  if (service === null) return null;
  const back = `/status/${directory.pageName(service)}`;
  return { topic: `service:${service.id}`, what: fullName(service), action, back };
}

/** The topic of a subscription, in words. */
function nameOf({ kind, name }: Pick<TopicName, 'kind' | 'name'>, { texts }: ChosenLanguage): string {
  if (kind !== 'category') return name;
  return texts.subscribe.category(isCategory(name) ? texts.category[name] : name);
}

function withoutStore(answer: HttpResponse): HttpResponse {
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'no-store' } };
}
