// The page of a service: days that can be walked through, and response times that change their range without a reload.
'use strict';

// ---- Days: one stop for the Tab key, arrow keys within, and a tip at the day under the pointer.
for (const drawing of document.querySelectorAll('[data-days]')) {
  const days = [...drawing.querySelectorAll('g, :scope > use')];
  if (days.length === 0) continue;
  const columns = Number(drawing.dataset.columns);
  const rows = Number(drawing.dataset.rows);
  const offset = Number(drawing.dataset.offset);
  const head = Number(drawing.dataset.head ?? 0);
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  // The day's own label says the same to who does not see it.
  tip.setAttribute('aria-hidden', 'true');
  document.body.append(tip);
  drawing.setAttribute('role', 'group');
  drawing.setAttribute('aria-description', drawing.dataset.how);
  for (const day of days) {
    const title = day.querySelector('title');
    day.setAttribute('role', 'img');
    day.setAttribute('aria-label', title.textContent);
    day.setAttribute('tabindex', '-1');
    title.remove();
  }
  days.at(-1).setAttribute('tabindex', '0');

  const show = (day) => {
    hide();
    day.classList.add('here');
    tip.textContent = day.getAttribute('aria-label');
    tip.hidden = false;
    const place = day.getBoundingClientRect();
    const left = place.left + place.width / 2 - tip.offsetWidth / 2;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(left, most)) + window.scrollX}px`;
    tip.style.top = `${place.top + window.scrollY - tip.offsetHeight - 8}px`;
  };
  const hide = () => {
    tip.hidden = true;
    drawing.querySelector('.here')?.classList.remove('here');
  };
  const dayAt = ({ clientX, clientY }) => {
    const box = drawing.getBoundingClientRect();
    const units = drawing.viewBox.baseVal;
    const column = Math.floor(((clientX - box.left) / box.width) * columns);
    const y = ((clientY - box.top) / box.height) * units.height - head;
    const row = rows === 1 ? 0 : Math.floor((y / (units.height - head)) * rows);
    return row < 0 || row >= rows ? undefined : days[column * rows + row - offset];
  };
  const follow = (event) => {
    const day = dayAt(event);
    if (day === undefined) hide();
    else show(day);
  };
  drawing.addEventListener('pointermove', follow);
  drawing.addEventListener('pointerdown', follow);
  drawing.addEventListener('pointerleave', hide);
  drawing.addEventListener('focusin', (event) => show(event.target));
  drawing.addEventListener('focusout', hide);
  drawing.addEventListener('keydown', (event) => {
    const step = {
      ArrowLeft: -rows,
      ArrowRight: rows,
      ArrowUp: rows === 1 ? 1 : -1,
      ArrowDown: rows === 1 ? -1 : 1,
      Home: -days.length,
      End: days.length,
    }[event.key];
    if (event.key === 'Escape') hide();
    if (step === undefined) return;
    event.preventDefault();
    const here = days.indexOf(event.target);
    const next = Math.max(0, Math.min(days.length - 1, here + step));
    days[here].setAttribute('tabindex', '-1');
    days[next].setAttribute('tabindex', '0');
    days[next].focus();
  });
}

// ---- Response times.
const box = document.getElementById('response-times');
if (box !== null) {
    const plot = box.querySelector('.plot');
  const label = box.querySelector('.label span');
  const language = document.documentElement.dataset.dates || document.documentElement.lang;
  const milliseconds = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: 'millisecond',
    maximumFractionDigits: 0,
  });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 });
  const dateOf = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const shown = (value) => (value === null || value === undefined ? '–' : milliseconds.format(value));
  const lines = [
    { name: 'p50', width: 2.5, dash: [] },
    { name: 'p95', width: 1.5, dash: [6, 4] },
    { name: 'p99', width: 1.5, dash: [1.5, 4] },
  ];
  let times = JSON.parse(box.dataset.times);
  let chart = null;

  const sizeOf = () => ({ width: plot.clientWidth, height: window.innerWidth < 620 ? 220 : 260 });

  // Moments with failed checks, along the foot.
  const drawFailures = (u) => {
    const { ctx, bbox } = u;
    const step = times.at.length > 1 ? times.at[1] - times.at[0] : 900;
    ctx.save();
    ctx.fillStyle = colour('--down');
    times.failed.forEach((share, index) => {
      if (!share) return;
      const left = u.valToPos(times.at[index], 'x', true);
      const right = Math.min(u.valToPos(times.at[index] + step, 'x', true), bbox.left + bbox.width);
      const height = 8 * devicePixelRatio;
      ctx.fillRect(left, bbox.top + bbox.height - height, Math.max(right - left - 1, 2), height);
    });
    ctx.restore();
  };

  const lonePoints = (values) =>
    values.flatMap((value, index) =>
      value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
    );

  const widthOfLabels = (_u, values) => 20 + 7.5 * Math.max(4, ...(values ?? []).map(({ length }) => length));

  // What stands under the pointer, beside the legend.
  const tell = (index) => {
    const known = index !== null && index !== undefined;
    const say = (name, text) => {
      box.querySelector(`[data-value="${name}"]`).textContent = known ? text : '';
    };
    for (const { name } of lines) say(name, shown(times[name][index]));
    const failed = times.failed[index] ?? null;
    say('failed', failed === null ? '–' : percent.format(failed));
    say('time', known ? dateOf.format(new Date(times.at[index] * 1_000)) : '');
  };

  const colour = (name) => getComputedStyle(box).getPropertyValue(name).trim();

  const draw = () => {
    chart?.destroy();
    chart = null;
    if (times.empty) {
      plot.replaceChildren();
      return;
    }
    plot.replaceChildren();
    const font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const axis = {
      stroke: colour('--soft'),
      font,
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { stroke: colour('--line'), width: 1 },
    };
    const hourOf = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' });
    const secondOf = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
    const dayOf = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
    const isDay = (at) => new Date(at * 1_000).getHours() === 0 && new Date(at * 1_000).getMinutes() === 0 && at % 60 === 0;
    chart = new uPlot(
      {
        ...sizeOf(),
        // Room for half of the last label.
        padding: [null, 32, null, null],
        cursor: { y: false },
        legend: { show: false },
        scales: { y: { range: (_u, _least, most) => [0, most * 1.1] } },
        axes: [
          {
            ...axis,
            space: 70,
            values: (_u, splits) => {
              const hours = splits[1] - splits[0] < 60 ? secondOf : hourOf;
              return splits.map((at) => (isDay(at) ? dayOf : hours).format(new Date(at * 1_000)));
            },
          },
          { ...axis, size: widthOfLabels, values: (_u, splits) => splits.map((ms) => milliseconds.format(ms)) },
        ],
        series: [
          {},
          ...lines.map(({ name, width, dash }) => ({
            stroke: colour(`--${name}`),
            width,
            dash,
            cap: 'round',
            spanGaps: false,
            // A point between two gaps is no line; without a dot nobody would see it.
            points: { show: true, size: 5, filter: (_u, series) => lonePoints(times[lines[series - 1].name]) },
          })),
        ],
        hooks: { draw: [drawFailures], setCursor: [(u) => tell(u.cursor.idx)] },
      },
      [times.at, times.p50, times.p95, times.p99],
      plot,
    );
    // Numbers for the eye under a moving pointer; the sentence above and the table say it to everybody.
    const canvas = plot.querySelector('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', times.label);
  };

  const fillTable = () => {
    const body = box.querySelector('tbody');
    const digits = times.at.some((at) => at % 60 !== 0) ? 19 : 16;
    const rows = times.at.flatMap((at, index) => {
      const failed = times.failed[index];
      if (failed === null) return [];
      const row = document.createElement('tr');
      const time = document.createElement('th');
      time.scope = 'row';
      time.textContent = new Date(at * 1_000).toISOString().slice(0, digits).replace('T', ' ');
      row.append(time);
      for (const text of [
        ...lines.map(({ name }) => shown(times[name][index])),
        failed === 0 ? '–' : percent.format(failed),
      ]) {
        const cell = document.createElement('td');
        cell.textContent = text;
        row.append(cell);
      }
      return [row];
    });
    body.replaceChildren(...rows.reverse());
  };

  const ranges = document.querySelector('.ranges');
  let asked = 0;
  const choose = async (link, isQuiet = false) => {
    const mine = ++asked;
    if (!isQuiet) ranges.setAttribute('aria-busy', 'true');
    try {
      const answer = await fetch(`${box.dataset.from}?range=${link.dataset.range}`);
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      const loaded = await answer.json();
      if (mine !== asked) return;
      times = loaded;
      for (const other of ranges.querySelectorAll('a')) other.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
      if (label.textContent !== times.label) label.textContent = times.label;
      draw();
      fillTable();
    } catch {
      if (mine === asked && !isQuiet) label.textContent = box.dataset.problem;
    } finally {
      if (mine === asked) ranges.removeAttribute('aria-busy');
    }
  };
  ranges.addEventListener('click', (event) => {
    const link = event.target.closest('a[data-range]');
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    history.replaceState(null, '', `?range=${link.dataset.range}`);
    void choose(link);
  });

  // A check has ended: what is shown grows with it, seldom enough for a service that is checked each second.
  const EVERY_MS = 15_000;
  let due = 0;
  document.addEventListener('upbeat:news', ({ detail }) => {
    if (due !== 0 || !(detail.checks?.length > 0)) return;
    due = setTimeout(() => {
      due = 0;
      if (!document.hidden) void choose(ranges.querySelector('[aria-current]'), true);
    }, EVERY_MS);
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

// ---- News.
// The first check of all makes parts of the page that were not there.
document.addEventListener('upbeat:news', ({ detail }) => {
  if (detail.checks?.length > 0 && document.querySelector('[data-reload-at-check]') !== null) location.reload();
});
