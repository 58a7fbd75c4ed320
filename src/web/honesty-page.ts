/** `/honesty`: how long vendors take to report outages, as a table with a picture of each vendor's lags. */
import { HOUR_MS, MINUTE_MS } from '../domain/durations.ts';
import { MIN_RANKED_OUTAGES } from '../domain/incident/honesty.ts';
import { enumParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { pageRoute, type Route } from '../http/route.ts';
import { time } from '../language/phrase.ts';
import { HONESTY_WINDOWS, type HonestVendor, type ReadHonesty } from '../view/honesty.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import { type Logos, markOf } from './home/logos.ts';
import { chooseLanguage, type Language } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { webAddress } from './parts/incidents.ts';
import type { RenderPage } from './parts/views.ts';

export interface HonestyPageSources {
  readonly directory: ShownDirectory;
  readonly readHonesty: ReadHonesty;
  readonly assets: AssetAddresses;
  readonly logos: Logos;
}

const QUERY = {
  window: enumParameter(HONESTY_WINDOWS, 'How far back it looks.', '90d'),
  offset: OFFSET_PARAMETER,
};
const PAGE_LENGTH = 50;
/** Maximum number of outages that a vendor is listed with. */
const MAX_ENTRIES = 20;
/** The picture in percent of its width: the vendor was first, a logarithmic part from 0 to a day, never. */
const ZERO_X = 12;
const DAY_X = 78;
const NEVER_X = 93;
const TICKS_MS = [0, 5 * MINUTE_MS, HOUR_MS, 24 * HOUR_MS];

export function honestyPage(
  render: RenderPage,
  { directory, readHonesty, assets, logos }: HonestyPageSources,
): Route {
  return pageRoute({ path: '/honesty' }, async (request) => {
    const language = chooseLanguage(request);
    const { texts, formats } = language;
    const { window, offset } = readParameters(request.query, QUERY);
    const { vendors, all } = await readHonesty(window);
    const pathOf = (start: number, name = window) =>
      `/honesty?${new URLSearchParams({ window: name, ...(start === 0 ? {} : { offset: String(start) }) })}`;
    const view = (vendor: HonestVendor) => ({
      ...viewVendor(vendor, language, (service) => directory.pageName(service)),
      page: directory.pageName(vendor.service),
      mark: markOf(vendor.service, logos),
    });
    return render('./honesty', {
      language,
      title: texts.honesty.title,
      styles: [assets.serviceStyle],
      window,
      windows: HONESTY_WINDOWS.map((name) => ({ name, path: pathOf(0, name) })),
      summary: texts.honesty.summary(
        { outages: all.outages, vendors: vendors.length, acknowledged: all.acknowledged },
        all.medianMs === null ? null : lagText(all.medianMs, language),
      ),
      rules: texts.honesty.rules(MIN_RANKED_OUTAGES),
      vendors: vendors.slice(offset, offset + PAGE_LENGTH).map(view),
      isEmpty: vendors.length === 0,
      ticks: [
        ...TICKS_MS.map((ms) => ({ x: xOf(ms), text: ms === 0 ? '0' : formats.length(ms) })),
        { x: NEVER_X, text: texts.honesty.never },
      ],
      newer: offset === 0 ? null : pathOf(Math.max(0, offset - PAGE_LENGTH)),
      older: vendors.length > offset + PAGE_LENGTH ? pathOf(offset + PAGE_LENGTH) : null,
    });
  });
}

function viewVendor(
  vendor: HonestVendor,
  language: Language,
  pageOf: (service: HonestVendor['service']) => string,
) {
  const { rank, name, url, outages, acknowledged, medianMs, worstMs, unreadMs, unreadSince, entries } =
    vendor;
  const { texts, formats } = language;
  const shown = entries.slice(0, MAX_ENTRIES);
  return {
    rank: rank === null ? null : formats.number(rank),
    name,
    url: webAddress(url),
    outages: formats.number(outages),
    acknowledged: formats.number(acknowledged),
    never: formats.number(outages - acknowledged),
    median: medianMs === null ? texts.honesty.mostlyNever : lagText(medianMs, language),
    worst: worstMs === null ? '–' : lagText(worstMs, language),
    unread: unreadMs === 0 ? null : texts.honesty.unread(formats.length(unreadMs), unreadSince !== null),
    heading: texts.honesty.entries(outages, shown.length),
    dots: shown.map(({ lagMs }) => ({ x: lagMs === null ? NEVER_X : xOf(lagMs), isNever: lagMs === null })),
    entries: shown.map(({ incidentId, service, startedAt, lagMs }) => ({
      path: `/status/${pageOf(service)}/incidents/${incidentId}`,
      name: service.name,
      at: [time(startedAt)],
      lag:
        lagMs === null
          ? texts.honesty.notReported
          : texts.honesty.reported(formats.length(Math.abs(lagMs)), lagMs < 0),
    })),
  };
}

/** `14 min`; before our first failed check `−14 min`. */
function lagText(lagMs: number, { formats }: Language): string {
  return `${lagMs < 0 ? '−' : ''}${formats.length(Math.abs(lagMs))}`;
}

/** The position of a lag in the picture, percent. */
function xOf(lagMs: number): number {
  const part = Math.log1p(Math.abs(lagMs) / MINUTE_MS) / Math.log1p((24 * HOUR_MS) / MINUTE_MS);
  const x =
    lagMs < 0 ? ZERO_X - part * (ZERO_X - 3) : Math.min(NEVER_X - 5, ZERO_X + part * (DAY_X - ZERO_X));
  return Math.round(x * 10) / 10;
}
