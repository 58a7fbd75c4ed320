// Shows times in the reader's time zone; the server writes them in UTC, which stays in the title. Ages (`data-age`),
// lengths (`data-length`) and times ahead (`data-ahead`) count on. `data-second` is a time with seconds. Elements that are added later are treated alike.
(() => {
  /** Times that count on. */
  const RELATIVE = 'time[data-age], time[data-length], time[data-ahead]';
  const { lang, dataset } = document.documentElement;
  const skewMs = Number(dataset.now ?? Date.now()) - Date.now();
  /** @type {Intl.DateTimeFormatOptions} */
  const parts = {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  };
  const time = new Intl.DateTimeFormat(dataset.dates ?? lang, parts);
  const second = new Intl.DateTimeFormat(dataset.dates ?? lang, { ...parts, second: '2-digit' });
  const relative = new Intl.RelativeTimeFormat(lang);
  /**
   * @param {string} unit
   * @param {'short' | 'long'} unitDisplay
   */
  const units = (unit, unitDisplay = 'short') =>
    new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay });
  const minutes = units('minute');
  const hours = units('hour');
  const days = units('day', 'long');

  /** @param {number} ms */
  const formatLength = (ms) => {
    if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
    if (ms < 3_600_000) return minutes.format(Math.floor(ms / 60_000));
    if (ms >= 172_800_000) return days.format(Math.floor(ms / 86_400_000));
    const rest = Math.floor((ms % 3_600_000) / 60_000);
    const first = hours.format(Math.floor(ms / 3_600_000));
    return rest === 0 ? first : `${first} ${minutes.format(rest)}`;
  };
  /**
   * @param {number} ms
   * @param {1 | -1} sign 1: ahead; -1: past
   */
  const formatRelative = (ms, sign) => {
    const whole = sign === 1 ? Math.round : Math.floor;
    if (ms < 60_000) return relative.format(sign * whole(ms / 1_000), 'second');
    if (ms < 3_600_000) return relative.format(sign * whole(ms / 60_000), 'minute');
    if (ms < 172_800_000) return relative.format(sign * whole(ms / 3_600_000), 'hour');
    return relative.format(sign * whole(ms / 86_400_000), 'day');
  };
  /**
   * @param {HTMLElement} element
   * @param {string} text
   */
  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  /** @param {HTMLTimeElement} element */
  const update = (element) => {
    const passedMs = Date.now() + skewMs - Date.parse(element.dateTime);
    if ('ahead' in element.dataset) return setText(element, formatRelative(Math.max(0, -passedMs), 1));
    const ms = Math.max(0, passedMs);
    setText(element, 'age' in element.dataset ? formatRelative(ms, -1) : formatLength(ms));
  };
  /** @param {HTMLTimeElement} element */
  const show = (element) => {
    if (element.dataset.shown !== undefined || Number.isNaN(Date.parse(element.dateTime))) return;
    element.dataset.shown = '';
    if (element.matches(RELATIVE)) {
      element.title = `${time.format(new Date(element.dateTime))} · ${element.title}`;
      return update(element);
    }
    element.title ||= element.textContent;
    setText(element, ('second' in element.dataset ? second : time).format(new Date(element.dateTime)));
  };
  /** @param {ParentNode} within */
  const showAll = (within) => findElements(HTMLTimeElement, 'time[datetime]', within).forEach(show);

  showAll(document);
  for (const note of findElements(HTMLElement, '[data-times-note]'))
    note.textContent = note.dataset.timesNote ?? '';
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) {
        if (node instanceof HTMLTimeElement && node.hasAttribute('datetime')) show(node);
        if (node instanceof Element) showAll(node);
      }
  }).observe(document.body, { childList: true, subtree: true });
  setInterval(() => {
    if (document.hidden) return;
    findElements(HTMLTimeElement, RELATIVE).forEach(update);
  }, 1_000);
})();
