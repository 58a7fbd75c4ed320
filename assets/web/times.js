// Times in the reader's zone: the server writes them in UTC, which stays to be seen by who points at them. Ages
// (data-age) and lengths (data-length) stay true. New elements are treated as they come.
(() => {
  const { lang, dataset } = document.documentElement;
  const skewMs = Number(dataset.now ?? Date.now()) - Date.now();
  const time = new Intl.DateTimeFormat(dataset.dates ?? lang, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
  const ago = new Intl.RelativeTimeFormat(lang, { style: 'short' });
  const units = (unit, unitDisplay = 'short') =>
    new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay });
  const [seconds, minutes, hours, days] = [units('second'), units('minute'), units('hour'), units('day', 'long')];

  const length = (ms) => {
    if (ms < 60_000) return seconds.format(Math.floor(ms / 1_000));
    if (ms < 3_600_000) return minutes.format(Math.floor(ms / 60_000));
    if (ms >= 172_800_000) return days.format(Math.floor(ms / 86_400_000));
    const rest = Math.floor((ms % 3_600_000) / 60_000);
    const first = hours.format(Math.floor(ms / 3_600_000));
    return rest === 0 ? first : `${first} ${minutes.format(rest)}`;
  };
  const age = (ms) => {
    if (ms < 60_000) return ago.format(-Math.floor(ms / 1_000), 'second');
    if (ms < 3_600_000) return ago.format(-Math.floor(ms / 60_000), 'minute');
    if (ms < 172_800_000) return ago.format(-Math.floor(ms / 3_600_000), 'hour');
    return ago.format(-Math.floor(ms / 86_400_000), 'day');
  };
  const set = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };
  const grow = (element) => {
    const passedMs = Math.max(0, Date.now() + skewMs - Date.parse(element.dateTime));
    set(element, 'age' in element.dataset ? age(passedMs) : length(passedMs));
  };
  const show = (element) => {
    if (element.dataset.shown !== undefined || Number.isNaN(Date.parse(element.dateTime))) return;
    element.dataset.shown = '';
    if ('age' in element.dataset || 'length' in element.dataset) {
      element.title = `${time.format(new Date(element.dateTime))} · ${element.title}`;
      return grow(element);
    }
    element.title ||= element.textContent;
    set(element, time.format(new Date(element.dateTime)));
  };
  const showAll = (root) => root.querySelectorAll?.('time[datetime]').forEach(show);

  showAll(document);
  for (const note of document.querySelectorAll('[data-times-note]')) note.textContent = note.dataset.timesNote;
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) {
        if (node.nodeName === 'TIME' && node.hasAttribute('datetime')) show(node);
        showAll(node);
      }
  }).observe(document.body, { childList: true, subtree: true });
  setInterval(() => {
    if (!document.hidden) document.querySelectorAll('time[data-age], time[data-length]').forEach(grow);
  }, 1_000);
})();
