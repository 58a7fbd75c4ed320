// Applies Server-Sent Events to an open page. <main data-live-of="NAMES" data-live-at="POSITION"> names the services
// that the page shows and the position up to which it is current; src/web/live/live-changes.ts describes the attributes of
// elements that change.
(() => {
  const main = findElement(HTMLElement, 'main[data-live-at]');
  if (main === null || !('EventSource' in window)) return;
  /** Time without an event after which the connection counts as lost; the server sends one at least every 10 seconds. */
  const SILENCE_TIMEOUT_MS = 35_000;
  /** Time before a lost connection is shown to the reader, milliseconds. */
  const LOST_DELAY_MS = 20_000;
  const MAX_RETRY_MS = 60_000;
  const PARTS_DELAY_MS = 10_000;
  const lost = findElement(HTMLElement, '[data-live-lost]');
  /** @type {WeakMap<Element, string>} */
  const shown = new WeakMap();
  let position = main.dataset.liveAt ?? '';
  /** @type {EventSource | null} */
  let source = null;
  let failures = 0;
  /** Timers; 0: not set. */
  let silenceTimer = 0;
  let retryTimer = 0;
  let lostTimer = 0;
  let partsTimer = 0;

  /**
   * Replaces the content of an element and keeps what the reader opened and focused.
   * @param {Element} element
   * @param {string} html
   */
  function fill(element, html) {
    if (shown.get(element) === html) return;
    shown.set(element, html);
    const open = findElements(HTMLDetailsElement, 'details', element).map((details) => details.open);
    const active = document.activeElement;
    const focused = active !== null && element.contains(active) ? active.getAttribute('href') : null;
    element.innerHTML = html;
    if (element instanceof HTMLElement) element.hidden = html.trim() === '';
    const details = findElements(HTMLDetailsElement, 'details', element);
    if (details.length === open.length)
      details.forEach((one, index) => {
        one.open = open[index] ?? false;
      });
    // tips.js turns the title of a drawn day into its label.
    const title = element.hasAttribute('aria-label') ? element.querySelector(':scope > title') : null;
    if (title !== null) {
      element.setAttribute('aria-label', title.textContent ?? '');
      title.remove();
    }
    if (focused !== null) findElement(HTMLElement, `a[href="${CSS.escape(focused)}"]`, element)?.focus();
  }

  /**
   * @param {Element} element
   * @param {string} status
   */
  function setStatus(element, status) {
    if (element.classList.contains(status)) return;
    element.classList.remove('up', 'slow', 'down', 'unknown', 'changed');
    // Added in the next frame, so that the animation starts again.
    requestAnimationFrame(() => element.classList.add('changed'));
    element.classList.add(status);
  }

  /**
   * @param {NonNullable<LiveUpdate['statuses']>} statuses
   * @param {LiveUpdate['others']} others
   */
  function applyStatuses(statuses, others) {
    /** @type {Map<string, string>} */
    const byPage = new Map();
    for (const [status, pages] of Object.entries(statuses))
      for (const page of pages) byPage.set(page, status);
    /**
     * @param {Element} element
     * @param {string | undefined} page
     */
    const apply = (element, page) => {
      const status = byPage.get(page ?? '') ?? others;
      if (status !== undefined) setStatus(element, status);
    };
    for (const element of findElements(HTMLElement, '[data-live-status]'))
      apply(element, element.dataset.liveStatus);
    for (const item of findElements(HTMLLIElement, '[data-live-list] > li'))
      apply(item, item.querySelector('a')?.getAttribute('href')?.slice(`${BASE_PATH}/status/`.length));
  }

  /** Loads the page again and replaces the parts that are too large for an event. */
  async function refreshParts() {
    partsTimer = 0;
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => null);
    if (!response?.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live-part]')) {
      const name = part.getAttribute('data-live-part') ?? '';
      const other = fresh.querySelector(`[data-live-part="${CSS.escape(name)}"]`);
      if (other === null) continue;
      for (const attribute of ['class', 'href']) {
        const value = other.getAttribute(attribute);
        if (value !== null) part.setAttribute(attribute, value);
      }
      fill(part, other.innerHTML);
    }
    document.title = fresh.title;
    document.dispatchEvent(new CustomEvent('upbeat:parts'));
  }

  /** @param {LiveUpdate} update */
  function apply(update) {
    for (const [key, html] of Object.entries(update.html ?? {}))
      for (const element of document.querySelectorAll(`[data-live="${CSS.escape(key)}"]`))
        fill(element, html);
    if (update.statuses !== undefined) applyStatuses(update.statuses, update.others);
    const checks = update.checks ?? [];
    const isChange = checks.length > 0 || update.statuses !== undefined;
    if (isChange && partsTimer === 0 && document.querySelector('[data-live-part]') !== null)
      partsTimer = setTimeout(refreshParts, PARTS_DELAY_MS * (0.2 + 0.8 * Math.random()));
    document.dispatchEvent(new CustomEvent('upbeat:news', { detail: update }));
  }

  function disconnect() {
    source?.close();
    source = null;
    clearTimeout(silenceTimer);
    clearTimeout(retryTimer);
  }

  /** @param {'connected' | 'lost'} state */
  function setState(state) {
    if (main !== null) main.dataset.liveState = state;
    if (lost !== null) lost.hidden = state === 'connected';
  }

  function handleFailure() {
    disconnect();
    const waitMs = Math.min(MAX_RETRY_MS, 1_000 * 2 ** failures) * (0.5 + Math.random() / 2);
    failures += 1;
    retryTimer = setTimeout(connect, waitMs);
    if (lostTimer === 0) lostTimer = setTimeout(() => setState('lost'), LOST_DELAY_MS);
  }

  function handleEvent() {
    failures = 0;
    clearTimeout(lostTimer);
    lostTimer = 0;
    setState('connected');
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(handleFailure, SILENCE_TIMEOUT_MS);
  }

  function connect() {
    disconnect();
    const query = new URLSearchParams({ after: position, lang: document.documentElement.lang });
    if (main?.dataset.liveOf !== undefined) query.set('of', main.dataset.liveOf);
    if (main?.dataset.livePage !== undefined) query.set('page', main.dataset.livePage);
    source = new EventSource(`${BASE_PATH}/live?${query}`);
    silenceTimer = setTimeout(handleFailure, SILENCE_TIMEOUT_MS);
    source.onmessage = (event) => {
      handleEvent();
      position = event.lastEventId || position;
      apply(JSON.parse(event.data));
    };
    source.onerror = handleFailure;
  }

  /** Opens the stream while the page is visible and closes it otherwise. */
  function follow() {
    if (document.hidden) {
      disconnect();
      clearTimeout(lostTimer);
      lostTimer = 0;
    } else if (source === null) {
      failures = 0;
      connect();
    }
  }

  document.addEventListener('visibilitychange', follow);
  addEventListener('online', () => {
    if (!document.hidden) connect();
  });
  addEventListener('pagehide', disconnect);
  addEventListener('pageshow', follow);
  follow();
})();
