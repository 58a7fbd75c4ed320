// Brings news to an open page by Server-Sent Events. <main data-live-of="NAMES" data-live-at="POSITION"> says what the
// page shows and up to where it knows; src/web/live/live-news.ts describes the attributes of elements that change.
(() => {
  const main = document.querySelector('[data-live-at]');
  if (main === null || !('EventSource' in window)) return;
  const WATCH_MS = 35_000;
  const PATIENCE_MS = 20_000;
  const LONGEST_WAIT_MS = 60_000;
  const PARTS_EVERY_MS = 10_000;
  const BAR_KINDS = ['none', 'up', 'slow', 'down'];
  const lost = document.querySelector('[data-live-lost]');
  const shown = new WeakMap();
  let position = main.dataset.liveAt;
  let source = null;
  let failures = 0;
  let watch = 0;
  let retry = 0;
  let patience = 0;
  let partsDue = 0;

  const each = (selector, task) => {
    for (const element of document.querySelectorAll(selector)) task(element);
  };

  function fill(element, html) {
    if (shown.get(element) === html) return;
    shown.set(element, html);
    const open = [...element.querySelectorAll('details')].map((details) => details.open);
    const focused = element.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
    element.innerHTML = html;
    if ('hidden' in element) element.hidden = html.trim() === '';
    const details = [...element.querySelectorAll('details')];
    if (details.length === open.length) details.forEach((one, index) => (one.open = open[index]));
    // A script may have made the title of a drawn thing its label.
    const title = element.hasAttribute('aria-label') ? element.querySelector(':scope > title') : null;
    if (title !== null) {
      element.setAttribute('aria-label', title.textContent);
      title.remove();
    }
    if (focused !== null) element.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  function setStatus(element, status) {
    if (element.classList.contains(status)) return;
    element.classList.remove('up', 'slow', 'down', 'unknown', 'changed');
    // The next frame sees the class anew, so that the sign of a change shows again.
    requestAnimationFrame(() => element.classList.add('changed'));
    element.classList.add(status);
  }

  function takeStatuses(statuses, others) {
    const byPage = new Map();
    for (const [status, pages] of Object.entries(statuses)) for (const page of pages) byPage.set(page, status);
    const take = (element, page) => {
      const status = byPage.get(page) ?? others;
      if (status !== undefined) setStatus(element, status);
    };
    each('[data-live-status]', (element) => take(element, element.dataset.liveStatus));
    each('[data-live-list] > li', (item) =>
      take(item, item.querySelector('a')?.getAttribute('href').slice('/status/'.length)),
    );
  }

  function takeCheck({ page, status, at }) {
    each(`[data-live-bar="${CSS.escape(page)}"]`, (bar) => {
      if (bar.dataset.day !== undefined && bar.dataset.day !== at.slice(0, 10)) return;
      const known = BAR_KINDS.find((kind) => bar.classList.contains(`bar-${kind}`)) ?? 'none';
      if (BAR_KINDS.indexOf(status) <= BAR_KINDS.indexOf(known)) return;
      bar.classList.replace(`bar-${known}`, `bar-${status}`);
    });
  }

  // Parts that are too rich for an event are taken from the page as it is now, seldom.
  async function refreshParts() {
    partsDue = 0;
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null);
    if (!response?.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    each('[data-live-part]', (part) => {
      const other = fresh.querySelector(`[data-live-part="${CSS.escape(part.dataset.livePart)}"]`);
      if (other === null) return;
      for (const name of ['class', 'href'])
        if (other.hasAttribute(name)) part.setAttribute(name, other.getAttribute(name));
      fill(part, other.innerHTML);
    });
    document.title = fresh.title;
    document.dispatchEvent(new CustomEvent('upbeat:parts'));
  }

  function take(news) {
    for (const [key, html] of Object.entries(news.html ?? {}))
      each(`[data-live="${CSS.escape(key)}"]`, (element) => fill(element, html));
    if (news.statuses !== undefined) takeStatuses(news.statuses, news.others);
    news.checks?.forEach(takeCheck);
    const isNews = news.checks?.length > 0 || news.statuses !== undefined;
    if (isNews && partsDue === 0 && document.querySelector('[data-live-part]') !== null)
      partsDue = setTimeout(refreshParts, PARTS_EVERY_MS * (0.2 + 0.8 * Math.random()));
    document.dispatchEvent(new CustomEvent('upbeat:news', { detail: news }));
  }

  function disconnect() {
    source?.close();
    source = null;
    clearTimeout(watch);
    clearTimeout(retry);
  }

  function fail() {
    disconnect();
    const waitMs = Math.min(LONGEST_WAIT_MS, 1_000 * 2 ** failures) * (0.5 + Math.random() / 2);
    failures += 1;
    retry = setTimeout(connect, waitMs);
    if (patience === 0 && lost !== null)
      patience = setTimeout(() => {
        lost.hidden = false;
        main.dataset.liveState = 'lost';
      }, PATIENCE_MS);
  }

  function heard() {
    failures = 0;
    clearTimeout(patience);
    patience = 0;
    if (lost !== null) lost.hidden = true;
    main.dataset.liveState = 'connected';
    clearTimeout(watch);
    watch = setTimeout(fail, WATCH_MS);
  }

  function connect() {
    disconnect();
    const query = new URLSearchParams({ after: position, lang: document.documentElement.lang });
    if (main.dataset.liveOf !== undefined) query.set('of', main.dataset.liveOf);
    source = new EventSource(`/live?${query}`);
    watch = setTimeout(fail, WATCH_MS);
    source.onmessage = (event) => {
      heard();
      position = event.lastEventId || position;
      take(JSON.parse(event.data));
    };
    source.onerror = fail;
  }

  function follow() {
    if (document.hidden) {
      disconnect();
      clearTimeout(patience);
      patience = 0;
    } else if (source === null) {
      failures = 0;
      connect();
    }
  }

  document.addEventListener('visibilitychange', follow);
  addEventListener('online', () => document.hidden || connect());
  addEventListener('pagehide', disconnect);
  addEventListener('pageshow', follow);
  follow();
})();
