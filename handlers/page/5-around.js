// Pace, workflows and providers.

const updatePace = latest(async signal => {
  if (keyMissing()) return;
  const request = {}, inputs = document.querySelectorAll('[data-pace]');
  for (const input of inputs) {
    input.removeAttribute('aria-invalid');
    let value = typed(input.value);
    if (input.dataset.pace === 'share' && typeof value === 'number') value = value / 100;
    request[input.dataset.pace] = value;
  }
  const box = $('pace-result');
  const faults = wrong(inputs);
  if (faults.length) {
    box.replaceChildren(...faults.map(f => el('p', {class: 'fault'}, f)));
    return;
  }
  try {
    const p = JSON.parse(await ask('/v1/pace', request, signal));
    const tile = (name, value) => el('div', {}, el('dt', {}, name), el('dd', {}, value));
    box.replaceChildren(
      el('dl', {class: 'tiles'}, tile('Between calls', p.spacing < 10 ? trim(p.spacing * 1000) + ' ms' : seconds(p.spacing)), tile('All done in', seconds(p.total)),
        tile('In flight', String(p.in_flight)), tile('Rate', trim(p.rate * 60, 1) + ' / min')),
      el('div', {class: 'recipe'}, el('p', {}, 'Type into n8n’s HTTP Request node, ', el('em', {}, 'Options → Batching'), ':'),
        el('dl', {class: 'tiles'}, tile('Items per Batch', String(p.batching.items_per_batch)), tile('Batch Interval (ms)', String(p.batching.batch_interval_ms))),
        ...p.warnings.map(w => el('p', {class: 'warn', role: 'alert'}, w.message)),
        el('p', {class: 'hint'}, 'Batching paces one execution. When several run at once, let them share one pace: give each its part of the limit.')));
  } catch (error) {
    if (signal.aborted) return;
    for (const f of error.errors || []) document.querySelector(`[data-pace="${CSS.escape(f.field)}"]`)?.setAttribute('aria-invalid', 'true');
    box.replaceChildren(el('p', {class: 'fault'}, error.message));
  }
});
$('pace-form').addEventListener('input', updatePace);
$('pace-form').addEventListener('submit', event => event.preventDefault());

async function loadWorkflows() {
  const {workflows} = JSON.parse(await ask('/workflows'));
  $('workflow-list').replaceChildren(...workflows.map((w, n) => el('li', {},
    el('div', {}, el('em', {}, w.title), el('div', {class: 'address'}, el('a', {href: w.url, id: 'workflow-' + n}, w.url))),
    el('button', {type: 'button', class: 'copy', 'data-copy': 'workflow-' + n, 'aria-label': 'Copy the address of ' + w.title}, 'Copy address'))));
}

let providers = [];
let allProviders = false;

async function loadProviders() {
  const all = JSON.parse(await ask('/v1/providers')).providers;
  providers = all.filter(p => !p.alias_of).map(p => ({...p, aliases: all.filter(a => a.alias_of === p.name).map(a => a.name)}));
  const kept = $('provider').value;
  $('provider').replaceChildren(el('option', {value: ''}, 'standard'), ...providers.filter(p => p.name !== 'standard').map(p => el('option', {}, p.name)));
  $('provider').value = kept;
  drawProviders();
}

function drawProviders() {
  const wanted = $('provider-search').value.trim().toLowerCase();
  const found = providers.filter(p => [p.name, p.title, ...p.aliases].some(s => s.toLowerCase().includes(wanted)));
  const shown = wanted || allProviders ? found : found.slice(0, 12);
  $('all-providers').hidden = shown.length === found.length;
  $('all-providers').textContent = `Show all ${found.length}`;
  $('provider-list').replaceChildren(...shown.map(p => el('li', {},
    el('em', {}, p.title), ' ', el('code', {class: 'badge'}, p.name),
    el('p', {}, 'reads ' + p.reads.map(r => r.field.replace(/^header /, '')).join(', ')),
    el('p', {}, ...p.docs.flatMap((d, n) => [n ? ' · ' : '', el('a', {href: d, rel: 'noreferrer noopener', target: '_blank'}, n ? 'more' : 'its documentation')])))),
    found.length ? '' : el('li', {}, 'No such provider. Without one the planner reads Retry-After.'));
}
$('all-providers').addEventListener('click', () => { allProviders = true; drawProviders(); $('provider-list').querySelector('a').focus(); });
$('provider-search').addEventListener('input', drawProviders);

// start asks for everything; again when a key has been given.
function start() {
  if (keyMissing()) askForKey();
  update();
  updatePace();
  const loads = !keyMissing() ? [loadWorkflows, loadProviders] : document.body.dataset.key === 'all' ? [] : [loadWorkflows];
  for (const load of loads) {
    load().catch(error => { if (error.status !== 401) say(error.message); });
  }
}

mark('A bad patch');
drawScript();
start();
