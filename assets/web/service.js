// The page of a service: response times that change range without a reload.

// ---- Response times.

/** @param {HTMLElement} box */
function drawResponseTimes(box) {
  /** Minimum time between two reloads of the response times, milliseconds: some services are checked every second. */
  const REFRESH_MS = 15_000;
  /** What the chart covers while there is a single time. */
  const LONE_SPAN_SECONDS = 900;
  const plot = getElement(HTMLElement, '.plot', box);
  const label = getElement(HTMLElement, '.label span', box);
  const rows = getElement(HTMLTableSectionElement, 'tbody', box);
  const ranges = getElement(HTMLElement, '[data-ranges]');
  const language = document.documentElement.dataset.dates || document.documentElement.lang;
  const milliseconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'millisecond',
    maximumFractionDigits: 0,
  });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 });
  /** @param {number} share */
  const formatPercent = (share) => percent.format(share).replace(/\s%$/, '\u00a0%');
  const dateOf = new Intl.DateTimeFormat(language, {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  });
  const hourOf = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
  const secondOf = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
  const dayOf = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
  /** @type {readonly { readonly name: 'p50' | 'p95' | 'p99', readonly width: number, readonly dash: number[] }[]} */
  const lines = [
    { name: 'p50', width: 2.5, dash: [] },
    { name: 'p95', width: 1.5, dash: [6, 4] },
    { name: 'p99', width: 1.5, dash: [1.5, 4] },
  ];
  /** @type {ResponseTimes} */
  let times = JSON.parse(box.dataset.times ?? '');
  /** @type {uPlot | null} */
  let chart = null;

  /** @param {number | null | undefined} value */
  const formatMs = (value) => (value === null || value === undefined ? '–' : milliseconds.format(value));
  /** @param {number} at Unix seconds. */
  const dateAt = (at) => new Date(at * 1_000);
  /**
   * The colour of a token in the theme of the page, for the canvas.
   * @param {string} name
   */
  const colour = (name) => {
    box.style.color = `var(${name})`;
    const value = getComputedStyle(box).color;
    box.style.color = '';
    return value;
  };
  const sizeOf = () => ({ width: plot.clientWidth, height: window.innerWidth < 620 ? 220 : 260 });

  /**
   * Marks times with failed checks along the foot of the chart.
   * @param {uPlot} u
   */
  const drawFailures = (u) => {
    const { ctx, bbox } = u;
    const [first = 0, second = first + LONE_SPAN_SECONDS] = times.at;
    const height = 8 * devicePixelRatio;
    ctx.save();
    ctx.fillStyle = colour('--down');
    times.at.forEach((at, index) => {
      if (!times.failed[index]) return;
      const left = u.valToPos(at, 'x', true);
      const right = Math.min(u.valToPos(at + second - first, 'x', true), bbox.left + bbox.width);
      ctx.fillRect(left, bbox.top + bbox.height - height, Math.max(right - left - 1, 2), height);
    });
    ctx.restore();
  };

  /**
   * Indexes of values between two gaps: a line does not show them, so they are drawn as dots.
   * @param {readonly (number | null)[]} values
   */
  const lonePoints = (values) =>
    values.flatMap((value, index) =>
      value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null
        ? [index]
        : [],
    );

  /**
   * Shows the figures under the pointer beside the legend.
   * @param {number | null | undefined} index
   */
  const showFigures = (index) => {
    /**
     * @param {string} name
     * @param {string} text
     */
    const show = (name, text) => {
      getElement(HTMLElement, `[data-value="${name}"]`, box).textContent = text;
    };
    const at = times.at[index ?? -1];
    if (index === null || index === undefined || at === undefined) {
      for (const name of ['p50', 'p95', 'p99', 'failed', 'time']) show(name, '');
      return;
    }
    const failed = times.failed[index] ?? null;
    for (const { name } of lines) show(name, formatMs(times[name][index]));
    show('failed', failed === null ? '–' : formatPercent(failed));
    show('time', dateOf.format(dateAt(at)));
  };

  /** @param {readonly number[]} splits */
  const formatTimes = (splits) => {
    const [first = 0, second = first] = splits;
    const times = second - first < 60 ? secondOf : hourOf;
    return splits.map((at) => {
      const date = dateAt(at);
      const isDay = date.getHours() === 0 && date.getMinutes() === 0 && at % 60 === 0;
      return (isDay ? dayOf : times).format(date);
    });
  };

  const draw = () => {
    chart?.destroy();
    chart = null;
    plot.replaceChildren();
    if (times.empty) return;
    const axis = {
      stroke: colour('--soft'),
      font: `12px ${getComputedStyle(document.body).fontFamily}`,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line'), width: 1 },
    };
    chart = new uPlot(
      {
        ...sizeOf(),
        // Space for half of the last label.
        padding: [null, 32, null, null],
        cursor: { y: false },
        legend: { show: false },
        scales: {
          // Of a single time, uPlot would make an axis of several years.
          x: { range: (_u, min, max) => [min, times.at.length === 1 ? min + LONE_SPAN_SECONDS : max] },
          y: { range: (_u, _min, max) => [0, max * 1.1] },
        },
        axes: [
          { ...axis, space: 70, values: (_u, splits) => formatTimes(splits) },
          {
            ...axis,
            size: (_u, values) => 20 + 7.5 * Math.max(4, ...(values ?? []).map(({ length }) => length)),
            values: (_u, splits) => splits.map((ms) => milliseconds.format(ms)),
          },
        ],
        series: [
          {},
          ...lines.map(({ name, width, dash }) => ({
            stroke: colour(`--${name}`),
            width,
            dash,
            cap: /** @type {const} */ ('round'),
            spanGaps: false,
            points: { show: true, size: 5, filter: () => lonePoints(times[name]) },
          })),
        ],
        hooks: { draw: [drawFailures], setCursor: [(u) => showFigures(u.cursor.idx)] },
      },
      [[...times.at], [...times.p50], [...times.p95], [...times.p99]],
      plot,
    );
    // Screen readers use the sentence above the chart and the table below it instead.
    const canvas = getElement(HTMLCanvasElement, 'canvas', plot);
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', times.label);
  };

  const fillTable = () => {
    const filled = times.at.flatMap((at, index) => {
      const failed = times.failed[index] ?? null;
      if (failed === null) return [];
      const row = document.createElement('tr');
      const head = document.createElement('th');
      head.scope = 'row';
      // In the reader's time zone, as the axis and all other times of the page.
      head.textContent = dateOf.format(dateAt(at));
      row.append(head);
      for (const text of [
        ...lines.map(({ name }) => formatMs(times[name][index])),
        failed === 0 ? '–' : formatPercent(failed),
      ])
        row.insertCell().textContent = text;
      return [row];
    });
    rows.replaceChildren(...filled.reverse());
  };

  let newest = 0;
  /**
   * Loads the times of a range and shows them; a newer call overtakes an older one.
   * @param {HTMLAnchorElement} link
   */
  const choose = async (link, isQuiet = false) => {
    const number = ++newest;
    if (!isQuiet) ranges.setAttribute('aria-busy', 'true');
    try {
      const response = await fetch(`${box.dataset.from}${link.search}`);
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      const loaded = await response.json();
      if (number !== newest) return;
      times = loaded;
      for (const other of ranges.querySelectorAll('a')) other.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
      if (label.textContent !== times.label) label.textContent = times.label;
      draw();
      fillTable();
    } catch {
      if (number === newest && !isQuiet) label.textContent = box.dataset.problem ?? '';
    } finally {
      if (number === newest) ranges.removeAttribute('aria-busy');
    }
  };
  ranges.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link?.dataset.range === undefined) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    history.replaceState(null, '', link.search);
    void choose(link);
  });

  let refreshTimer = 0;
  document.addEventListener('upbeat:news', ({ detail: { checks = [] } }) => {
    if (refreshTimer !== 0 || checks.length === 0) return;
    refreshTimer = setTimeout(() => {
      refreshTimer = 0;
      const link = findElement(HTMLAnchorElement, '[aria-current]', ranges);
      if (!document.hidden && link !== null) void choose(link, true);
    }, REFRESH_MS);
  });

  draw();
  let width = plot.clientWidth;
  new ResizeObserver(() => {
    if (plot.clientWidth === width) return;
    width = plot.clientWidth;
    chart?.setSize(sizeOf());
  }).observe(plot);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
}

const responseTimes = findElement(HTMLElement, '#response-times');
if (responseTimes !== null) drawResponseTimes(responseTimes);

// ---- News: the first check of all adds parts to the page that were not there.
document.addEventListener('upbeat:news', ({ detail: { checks = [] } }) => {
  if (checks.length > 0 && document.querySelector('[data-reload-at-check]') !== null) location.reload();
});
