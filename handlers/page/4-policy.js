// The policy's fields, and what the service makes of them.

// Each number: field of the item, label, unit, first value, stops of the slider.
const numbers = [
  ['base', 'First wait', 's', 2, [0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 30, 60]],
  ['exp_cap', 'Exponential part grows to', 's', 60, [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]],
  ['max_attempts', 'Calls in all', '', 8, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50]],
  ['total_wait_budget', 'Budget for all waits', 's', 300, [0, 5, 10, 30, 60, 120, 180, 300, 450, 600, 900, 1800, 3600, 7200, 21600, 86400]],
  ['policy.spread', 'Spread on top', 's', 0, [0, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300]],
];

$('numbers').append(...numbers.map(([field, label, unit, value, stops]) => {
  const id = 'n-' + field.replace('.', '-');
  const nearest = v => stops.reduce((best, s, n) => Math.abs(s - v) < Math.abs(stops[best] - v) ? n : best, 0);
  const above = field === 'policy.spread' || field === 'total_wait_budget' ? '' : '(?=.*[1-9])'; // more than 0
  const input = el('input', {id, 'data-field': field, inputmode: 'decimal', value, required: field !== 'policy.spread',
    pattern: `\\s*${above}\\d*[.,]?\\d*\\s*`, title: above ? 'must be a number above 0' : 'must be a number'});
  const slider = el('input', {type: 'range', min: 0, max: stops.length - 1, value: nearest(value), 'aria-label': label, 'aria-valuetext': value + ' ' + unit});
  const settle = () => {
    slider.value = nearest(Number(typed(input.value)) || 0);
    slider.setAttribute('aria-valuetext', input.value + ' ' + unit);
  };
  slider.addEventListener('input', () => { input.value = stops[slider.value]; settle(); });
  input.addEventListener('input', settle);
  input.addEventListener('settle', settle);
  return el('div', {class: 'field'}, el('label', {class: 'name', for: id}, label), el('span', {class: 'value'}, input, el('span', {class: 'unit'}, unit)), slider);
}));

// stateAndPolicy gives the attempt state of the first call and the policy.
function stateAndPolicy() {
  const policy = {}, item = {attempts: 1};
  for (const [field] of numbers) {
    const value = typed($('n-' + field.replace('.', '-')).value);
    if (!field.startsWith('policy.')) item[field] = value;
    else if (value) policy[field.slice(7)] = value;
  }
  item.elapsed_wait = 0;
  item.method = $('method').value || undefined;
  if ($('idempotency').checked) item.idempotency_key = 'retry-{{ $execution.id }}';
  item.task_id = $('task_id').value.trim() || undefined;
  const jitter = document.querySelector('[name=jitter]:checked').value;
  if (jitter !== 'none') policy.jitter = jitter;
  policy.provider = $('provider').value || undefined;
  policy.max_wait = typed($('max_wait').value);
  const deadline = typed($('deadline').value);
  if (deadline !== undefined) policy.deadline = typeof deadline === 'number' ? Math.floor(Date.now() / 1000) + deadline : deadline;
  policy.clock = $('clock').value || undefined;
  if ($('safe').value) policy.safe_to_retry = $('safe').value === 'true';
  const list = $('statuses').value.split(/[\s,;]+/).filter(Boolean);
  if (list.length) policy.retry_statuses = list.map(typed);
  if (Object.values(policy).some(v => v !== undefined)) item.policy = policy;
  return item;
}

// takeState moves the fields to the state that a pasted item brings along.
function takeState(item) {
  const set = (input, value) => { if (value !== undefined && value !== null) { input.value = String(value); input.dispatchEvent(new Event('settle')); } };
  for (const [field] of numbers) set($('n-' + field.replace('.', '-')), field.startsWith('policy.') ? item.policy?.[field.slice(7)] : item[field]);
  const choose = (select, value) => { if ([...select.options].some(o => o.value === value)) select.value = value; };
  choose($('method'), String(item.method ?? item.error?.options?.method ?? $('method').value).toUpperCase());
  choose($('provider'), item.policy?.provider);
  if (item.idempotency_key) $('idempotency').checked = true;
  set($('task_id'), item.task_id);
  set($('max_wait'), item.policy?.max_wait);
  const jitter = document.querySelector(`[name=jitter][value="${CSS.escape(item.policy?.jitter ?? '')}"]`);
  if (jitter) jitter.checked = true;
}

let timeline = null; // the last answer of /v1/preview
let asked = null;    // and what it was asked about

const update = latest(async signal => {
  if (keyMissing()) return;
  showFaults([]);
  const faults = wrong($('controls').querySelectorAll('[pattern]'));
  if (faults.length) return notValid(faults);
  const item = stateAndPolicy();
  drawRequest(item);
  try {
    const answer = JSON.parse(await ask('/v1/preview', {...item, script: scriptEntries()}, signal));
    timeline = answer;
    asked = item;
    showFaults([]);
    drawVerdict(timeline);
    drawChart(timeline, $('chart'));
    drawTable(timeline);
    drawWhich(timeline);
    await drawAnswer(signal);
  } catch (error) {
    if (signal.aborted) return;
    showFaults(error.errors || []);
    notValid(error.errors?.length ? error.errors.map(e => e.message) : [error.message]);
  }
});

function notValid(faults) {
  timeline = null;
  setVerdict('bad', el('div', {class: 'word'}, el('strong', {}, 'Not valid yet')), el('ul', {}, ...faults.map(f => el('li', {}, f))));
  $('chart').replaceChildren();
  $('table').replaceChildren();
  $('answer').textContent = '';
}

function setVerdict(tone, ...children) {
  $('verdict').className = 'card verdict ' + tone;
  $('verdict').replaceChildren(...children);
}

// showFaults marks the fields that the service found fault with.
function showFaults(faults) {
  for (const e of document.querySelectorAll('#controls [aria-invalid]')) e.removeAttribute('aria-invalid');
  for (const f of faults) {
    const entry = f.field.match(/^script\.(\d+)/);
    const at = entry ? document.querySelector(`#script li[data-entry="${entry[1]}"] input, #script li[data-entry="${entry[1]}"] select`)
      : document.querySelector(`#controls [data-field="${CSS.escape(f.field)}"]`);
    if (at) at.setAttribute('aria-invalid', 'true');
  }
}

const meanings = {
  success: 'the call did what it should',
  retry: 'the script ends here, the policy would go on',
  defer: 'worth trying later, outside this execution',
  exhausted: 'no calls left',
  stop: 'repeating cannot help',
  escalate: 'a person or a reconciliation must look first',
};

function drawVerdict(t) {
  const last = t.attempts[t.attempts.length - 1], calls = t.attempts.length;
  const count = `${calls} call${calls === 1 ? '' : 's'}`;
  const random = t.total.runs > 1;
  const tile = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
  const tiles = el('dl', {class: 'tiles'}, tile('Calls', String(calls)),
    tile(random && !asked.task_id ? 'Waits, middle draw' : 'Waits', seconds(t.total.planned)));
  if (random) {
    tiles.append(tile('Least', seconds(t.total.least)), tile('Expected', '≈ ' + seconds(Math.round(t.total.expected * 10) / 10)), tile('Worst', seconds(t.total.worst)));
  }
  const parts = [
    el('div', {class: 'word'}, el('strong', {}, last.decision), el('span', {}, meanings[last.decision]), last.error_code ? el('code', {class: 'badge'}, last.error_code) : null),
    el('p', {class: 'say'}, t.ended_by === 'decision' ? `After ${count} and ${seconds(t.total.planned)} of waiting. ${last.reason}`
      : t.ended_by === 'script' ? `After ${count} the script says no more. Add a call, or let the last one repeat.` : `The timeline is cut after ${count}.`),
    tiles,
  ];
  if (t.results.length > 1) {
    parts.push(el('p', {class: 'shares'}, `Of ${t.total.runs} runs with random draws:`,
      ...t.results.map(r => el('span', {class: 'badge'}, `${percent(r.share)} ${r.decision ?? 'still retrying'}${r.error_code ? ' · ' + r.error_code : ''}`))));
  }
  setVerdict(tones[last.decision], ...parts);
}

const percent = share => (share >= 0.995 && share < 1 ? '> 99' : share < 0.005 ? '< 1' : Math.round(share * 100)) + ' %';

function drawTable(t) {
  const n = v => v === null ? '–' : trim(v);
  const head = ['Call', 'Outcome', 'Starts', 'Exponential', 'Jitter', 'Minimum', 'Wait', 'Elapsed', 'Decision'];
  const rows = t.attempts.map(a => [a.attempt, outcomeName(a), n(a.start), n(a.exponential),
    a.jitter_low === null ? '–' : a.jitter_low === a.jitter_high ? 'none' : `${n(a.jitter_low)}–${n(a.jitter_high)}`,
    a.floor_source ? n(a.floor) : '–', a.decision === 'retry' || a.decision === 'defer' ? n(a.wait_seconds) : '–', n(a.elapsed_wait), a.error_code ?? a.decision]);
  $('table').replaceChildren(el('caption', {class: 'hint'}, 'All durations in seconds'),
    el('thead', {}, el('tr', {}, ...head.map(h => el('th', {scope: 'col'}, h)))),
    el('tbody', {}, ...rows.map(r => el('tr', {}, ...r.map(c => el('td', {}, String(c)))))));
}

// drawRequest writes the JSON that the workflow's Request node holds.
function drawRequest(item) {
  const {attempts, elapsed_wait, method, ...rest} = item;
  const request = {url: 'https://api.example.com/items', method: method ?? 'GET', attempts, ...rest, elapsed_wait,
    task_id: item.task_id ?? 'retry-{{ $execution.id }}', planner_url: location.origin};
  $('request').textContent = JSON.stringify(request, null, 2);
}

function drawWhich(t) {
  const kept = Math.min(Number($('which').value) || 1, t.attempts.length);
  $('which').replaceChildren(...t.attempts.map(a => el('option', {selected: a.attempt === kept}, String(a.attempt))));
}

// drawAnswer shows what /v1/plan says at the chosen call.
async function drawAnswer(signal) {
  const n = Number($('which').value), a = timeline.attempts[n - 1], before = timeline.attempts[n - 2];
  const item = {...asked, attempts: a.attempt, elapsed_wait: before ? before.elapsed_wait : 0, ...envelopeOf(a.entry)};
  if (before) item.wait_seconds = before.wait_seconds;
  if (item.policy?.deadline) item.policy = {...item.policy, deadline: item.policy.deadline - a.start}; // as if that call ended now
  const answer = JSON.parse(await ask('/v1/plan', item, signal));
  if (item.policy?.deadline && answer.policy) answer.policy = asked.policy;
  $('answer').textContent = JSON.stringify(answer, null, 2);
}

$('which').addEventListener('change', latest(async signal => { if (timeline) await drawAnswer(signal); }));
$('controls').addEventListener('submit', event => event.preventDefault());
$('controls').addEventListener('input', event => { if (!event.target.closest('fieldset:first-of-type')) update(); });
new ResizeObserver(() => { if (timeline) drawChart(timeline, $('chart')); }).observe($('chart'));
