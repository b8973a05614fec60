// The timeline as a picture: one lane a call, time from left to right.

const shownCalls = 60; // more lanes help nobody; the table has them all

const tones = {success: 'good', retry: '', defer: 'defer', exhausted: 'bad', stop: 'bad', escalate: 'person'};

function outcomeName(a) {
  if (a.last_status !== null) return String(a.last_status);
  return {unknown: 'no reply', never_reached: 'not reached', permanent: 'bad call', cancelled: 'cancelled'}[a.outcome] || a.outcome;
}

// niceStep gives a step of a scale in seconds that people read easily.
function niceStep(span, count) {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];
  let step = steps.find(s => span / s <= count);
  for (let days = 1; !step; days *= 2) if (span / (days * 86400) <= count) step = days * 86400;
  return step;
}

function tickName(s) {
  if (s < 120) return trim(s) + ' s';
  if (s < 7200) return trim(s / 60, 1) + ' min';
  return s < 172800 ? trim(s / 3600, 1) + ' h' : trim(s / 86400, 1) + ' d';
}

function drawChart(t, box) {
  const calls = t.attempts.slice(0, shownCalls);
  const width = Math.max(280, box.clientWidth);
  const narrow = width < 520;
  const left = narrow ? 84 : 98, right = narrow ? 58 : 84, lane = 30, top = 26;
  const height = top + calls.length * lane + 26;
  const first = calls[0], budget = first.limits.budget_left;
  const reach = calls.map(a => a.start + (a.decision === 'retry' || a.decision === 'defer' ? Math.max(a.wait_high ?? 0, a.wait_seconds ?? 0) : 0));
  let end = Math.max(...calls.map(a => a.start + (a.decision === 'retry' ? a.wait_high : 0)), 0);
  if (budget !== null && budget <= end * 1.7) end = Math.max(end, budget);
  // A wait that does not fit may be days long: it is cut off where the budget has long ended.
  end = Math.max(end, Math.min(Math.max(...reach), Math.max(end * 1.5, budget === null ? 0 : budget * 1.15))) || 1;
  const x = s => left + Math.min(1.02, s / end) * (width - left - right);
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': spoken(t)});

  const step = niceStep(end, narrow ? 4 : 8);
  for (let s = 0; s <= end * 1.0001; s += step) {
    picture.append(svg('line', {class: 'grid', x1: x(s), x2: x(s), y1: top - 6, y2: height - 20}),
      svg('text', {class: 'tick', x: x(s), y: height - 5, 'text-anchor': s === 0 ? 'start' : 'middle'}, tickName(s)));
  }
  if (budget !== null && budget <= end) {
    const atEnd = x(budget) > width - 44;
    picture.append(svg('line', {class: 'budget', x1: x(budget), x2: x(budget), y1: top - 8, y2: height - 20}),
      svg('text', {class: 'budget-name', x: x(budget) + (atEnd ? 2 : 0), y: 12, 'text-anchor': atEnd ? 'end' : 'middle'}, 'budget ' + tickName(budget)));
  } else if (budget !== null) {
    picture.append(svg('text', {class: 'budget-name', x: width, y: 12, 'text-anchor': 'end'}, 'budget ' + tickName(budget) + ' →'));
  }
  calls.forEach((a, n) => picture.append(laneOf(a, top + n * lane, x, width, narrow)));
  box.replaceChildren(picture);
  if (t.attempts.length > shownCalls) {
    box.append(el('p', {class: 'hint'}, `The first ${shownCalls} of ${t.attempts.length} calls are drawn; “The numbers” has them all.`));
  }
}

function laneOf(a, y, x, width, narrow) {
  const middle = y + 13, g = svg('g', {class: a.decision === 'success' ? 'ok' : ''});
  const name = outcomeName(a), pill = name.length * 7.2 + 14;
  g.append(svg('title', {}, `Call ${a.attempt}: ${name}. ${a.reason}`),
    svg('line', {class: 'lane', x1: x(0), x2: width, y1: middle, y2: middle}),
    svg('text', {class: 'soft', x: 0, y: middle + 4}, String(a.attempt)),
    svg('rect', {class: 'pill', x: 18, y: middle - 10, width: Math.min(pill, x(0) - 26), height: 20, rx: 6}),
    svg('text', {class: 'pill-text', x: 18 + Math.min(pill, x(0) - 26) / 2, y: middle + 4, 'text-anchor': 'middle'}, narrow ? name.slice(0, 9) : name));
  const from = x(a.start);
  const bar = (kind, start, end, top, height) => {
    if (end > start) g.append(svg('rect', {class: kind, x: x(start), y: middle - top, width: Math.max(2, x(end) - x(start)), height, rx: 3}));
  };
  let tip = from + 9, note = '', tone = '';
  if (a.decision === 'retry') {
    bar('band', a.start + a.wait_low, a.start + a.wait_high, 9, 18);
    bar('wait', a.start, a.start + a.wait_seconds, 5, 10);
    bar('floor', a.start, a.start + Math.min(a.floor, a.wait_seconds), 5, 10);
    tip = Math.max(x(a.start + a.wait_seconds), x(a.start + a.wait_high)) + 8;
    note = seconds(a.wait_seconds);
    if (a.wait_high > a.wait_low && !narrow) note += ` (${trim(a.wait_low)}–${trim(a.wait_high)})`;
  } else {
    if (a.decision === 'defer' && a.exponential !== null) {
      const end = a.wait_seconds === null ? Infinity : a.start + a.wait_seconds;
      const edge = Math.min(x(end), width - 4);
      g.append(svg('rect', {class: 'unfit', x: from, y: middle - 9, width: Math.max(2, edge - from), height: 18, rx: 4}));
      note = `${seconds(a.wait_seconds)} does not fit`;
      tip = edge + 8;
    } else {
      note = a.decision;
    }
    tone = ' end ' + tones[a.decision];
  }
  g.append(svg('circle', {class: 'dot', cx: from, cy: middle, r: 5.5}));
  const long = note.length * 7;
  const label = {class: 'note' + tone, y: middle + 4};
  if (tip + long <= width) g.append(svg('text', {...label, x: tip}, note));
  else if (tone.includes('defer') && tip - from > long + 24) g.append(svg('text', {...label, x: from + 14}, note));
  else if (from - long - 12 > x(0)) g.append(svg('text', {...label, x: from - 12, 'text-anchor': 'end'}, note));
  else g.append(svg('text', {...label, x: width, y: middle - 9, 'text-anchor': 'end'}, note));
  return g;
}

// spoken is the picture for those who cannot see it.
function spoken(t) {
  return t.attempts.slice(0, 12).map(a => `Call ${a.attempt} at ${seconds(a.start)}: ${outcomeName(a)}, ${a.decision}` +
    (a.decision === 'retry' ? ' after ' + seconds(a.wait_seconds) : '')).join('. ');
}
