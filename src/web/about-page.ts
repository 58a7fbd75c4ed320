/** `/about`: what this installation is, how and from where it checks, how much, and who runs it. */
import { type Quorum, regionsOf } from '../domain/node.ts';
import { pageRoute, type Route } from '../http/route.ts';
import type { ApiLimits, Readiness } from '../view/monitor.ts';
import type { SiteSources } from '../view/site-sources.ts';
import { chooseLanguage, type Language } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { webAddress } from './parts/incidents.ts';
import type { RenderPage } from './parts/views.ts';

/** The settings that the page shows. Times are milliseconds. */
export interface AboutSettings {
  readonly timeoutMs: number;
  /** Delays of the re-checks of a failed attempt. */
  readonly confirmAfterMs: readonly number[];
  /** The number of regions that must confirm a failure. */
  readonly quorum: Quorum;
  /** The `User-Agent` of checks. */
  readonly userAgent: string;
  /** Who runs the installation; members are null where the operator names none. */
  readonly operator: {
    readonly name: string | null;
    /** An `https:` URL. */
    readonly url: string | null;
    /** An `https:` or `mailto:` URL. */
    readonly contact: string | null;
  };
  /** A line of the operator at the top of every page; null or absent: there is none. */
  readonly notice?: string | null;
}

interface AboutPageSources extends SiteSources {
  readonly about: AboutSettings;
  readonly assets: AssetAddresses;
  /** Maximum response time of a check that is not slow, milliseconds. */
  readonly slowOverMs: number;
  /** The contact for vulnerabilities; null or absent: the operator names no contact. */
  readonly securityContact?: string | null;
  readonly readiness: () => Readiness;
  readonly limits: () => ApiLimits;
}

export function aboutPage(render: RenderPage, sources: AboutPageSources): Route {
  return pageRoute({ path: '/about' }, (request) => {
    const language = chooseLanguage(request);
    return render('./about', {
      language,
      title: language.texts.about.title,
      styles: [sources.assets.serviceStyle],
      ...viewAbout(sources, language),
    });
  });
}

function viewAbout(sources: AboutPageSources, { texts, formats }: Language) {
  const { directory, about, intervalMs, slowOverMs, vendorOf, securityContact = null } = sources;
  const { timeoutMs, confirmAfterMs, quorum, operator, userAgent } = about;
  const words = texts.about;
  const services = directory.all().filter(({ verified }) => verified);
  const vendors = services.filter((service) => vendorOf(service) !== null).length;
  const nodes = sources.readiness().nodes;
  const regions = regionsOf(nodes);
  const perMinute = Math.round(60 * nodes.reduce((sum, { checksPerSecond }) => sum + checksPerSecond, 0));
  return {
    lead: words.lead(services.length, formats.number(services.length)),
    figures: [
      { name: words.services, value: formats.number(services.length) },
      { name: words.every, value: formats.length(intervalMs) },
      ...(perMinute === 0 ? [] : [{ name: words.perMinute, value: formats.number(perMinute) }]),
      { name: words.regions, value: formats.number(regions.length) },
    ],
    how: [
      words.slow(slowOverMs, timeoutMs),
      words.confirm(confirmAfterMs.length),
      words.errors,
      words.offline,
      words.heartbeats(formats.length(sources.limits().silenceMs)),
      ...(vendors === 0 ? [] : [words.vendors(vendors, formats.number(vendors))]),
    ],
    regions: regions.map(({ region, online, nodes: count }) => ({
      region,
      nodes: words.nodes(count),
      isOffline: !online,
    })),
    quorum: regions.length < 2 ? null : words.quorum(quorum),
    userAgent,
    operator: {
      name: operator.name,
      url: operator.url === null ? null : webAddress(operator.url),
      contact: operator.contact,
      // An address is shown as such.
      contactText: operator.contact?.replace(/^mailto:/i, '') ?? null,
    },
    securityContact,
    securityText: securityContact?.replace(/^mailto:/i, '') ?? null,
  };
}
