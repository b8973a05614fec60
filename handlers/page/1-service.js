// Calls to the service, and small helpers of the whole page.

const $ = id => document.getElementById(id);

// el makes an element: el('p', {class: 'x'}, 'text', child …). Texts are set as
// text, never as HTML.
function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes)) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, '');
    else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c !== null && c !== undefined));
  return e;
}

// A problem is a refusal of the service.
class Problem extends Error {
  constructor(status, body) {
    super(body.detail || 'The service answered with status ' + status + '.');
    this.status = status;
    this.errors = body.errors || [];
  }
}

let apiKey = sessionStorage.getItem('retry-planner-key') || '';

// ask gives the service's answer as text. It throws a Problem for a refusal.
async function ask(path, body, signal) {
  const headers = {Accept: 'application/json'};
  if (apiKey) headers.Authorization = 'Bearer ' + apiKey;
  const options = {headers, signal};
  if (body !== undefined) {
    options.method = 'POST';
    options.body = JSON.stringify(body);
    headers['Content-Type'] = 'application/json';
  }
  const response = await fetch(path, options);
  const text = await response.text();
  if (response.ok) return text;
  let problem = {};
  try { problem = JSON.parse(text); } catch { /* a proxy's own page */ }
  if (response.status === 401) askForKey();
  throw new Problem(response.status, problem);
}

// keyMissing tells whether the service wants a key that the page does not have.
const keyMissing = () => document.body.dataset.key !== '' && !apiKey;

function askForKey() {
  $('key').hidden = false;
  if (apiKey) $('key-hint').textContent = 'The service does not know this key. Try another.';
}

$('key').addEventListener('submit', event => {
  event.preventDefault();
  apiKey = $('key-value').value.trim();
  sessionStorage.setItem('retry-planner-key', apiKey);
  $('key').hidden = true;
  start();
});

// latest gives a function that runs work after a short rest, and drops what is
// still running when it is called again.
function latest(work) {
  let timer, running;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (running) running.abort();
      running = new AbortController();
      const {signal} = running;
      work(signal).catch(error => { if (!signal.aborted) throw error; });
    }, 90);
  };
}

function say(text) {
  $('said').textContent = text;
  $('said').classList.add('on');
  clearTimeout(say.timer);
  say.timer = setTimeout(() => $('said').classList.remove('on'), 1600);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no clipboard without HTTPS: take the old way
    const area = el('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('Copied');
}

document.addEventListener('click', event => {
  const button = event.target.closest('[data-copy]');
  if (button) copy($(button.dataset.copy).textContent);
});

// seconds words a duration: 0.25 s, 30 s, 2 min 5 s, 3 h.
function seconds(s) {
  if (s === null || s === undefined) return 'endless';
  if (s < 120) return trim(s) + ' s';
  if (s < 7200) return Math.floor(s / 60) + ' min' + (Math.round(s % 60) ? ' ' + Math.round(s % 60) + ' s' : '');
  if (s < 172800) return trim(s / 3600, 1) + ' h';
  return trim(s / 86400, 1) + ' days';
}

const trim = (n, digits = 3) => String(Number(n.toFixed(digits)));

// typed gives what a field says as the service shall see it: a number where it
// is one, the text itself where it is not, so that the service says what is
// wrong with it; undefined when it is empty.
function typed(text) {
  text = text.trim().replace(',', '.');
  if (text === '') return undefined;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}

// wrong gives what fields say that the service cannot even be asked about,
// such as one that is empty while it is being typed in.
function wrong(fields) {
  const faults = [...fields].filter(f => !f.validity.valid);
  for (const f of faults) f.setAttribute('aria-invalid', 'true');
  return faults.map(f => `${f.labels[0].firstChild.textContent.trim()} ${f.validity.valueMissing ? 'is missing' : f.title}`);
}
