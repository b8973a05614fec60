// What the API answers: the script of /v1/preview as a list of calls.

const statuses = [[200, 'OK'], [429, 'Too Many Requests'], [503, 'Unavailable'], [500, 'Server Error'], [502, 'Bad Gateway'],
  [504, 'Gateway Timeout'], [408, 'Request Timeout'], [401, 'Unauthorized'], [404, 'Not Found'], [422, 'Unprocessable']];
const failures = [['timeout', 'timeout'], ['refused', 'connection refused'], ['reset', 'connection reset'],
  ['dns', 'name not found'], ['bad_cert', 'bad certificate'], ['cancelled', 'cancelled']];

// A call of the script: {what: '429', after: '30', repeat: '1', given: envelope}
const call = (what, after = '', repeat = '1') => ({what: String(what), after: String(after), repeat: String(repeat)});

const presets = {
  'A bad patch': () => [call(429), call(429, 30), call(503), call('timeout'), call(200)],
  'Always 429': () => [call(429, '', 'always')],
  'Outage': () => [call(503, '', 5), call(200)],
  'Long Retry-After': () => [call(429, 900), call(200)],
  'Timeout': () => [call('timeout'), call(200)],
  'Not allowed': () => [call(401)],
};

// Replies as the providers document them; moments are made from the clock.
const epoch = s => String(Math.ceil(Date.now() / 1000) + s);
const examples = {
  'anthropic': ['POST', () => ({statusCode: 529, headers: {}, body: {type: 'error', error: {type: 'overloaded_error', message: 'Overloaded'}}})],
  'discord': ['GET', () => ({statusCode: 429, headers: {'retry-after': '7', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '6.457'}, body: {message: 'You are being rate limited.', retry_after: 6.457, global: false}})],
  'github': ['GET', () => ({statusCode: 403, headers: {'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': epoch(45)}, body: {message: 'API rate limit exceeded for 192.0.2.1.'}})],
  'google': ['GET', () => ({statusCode: 429, headers: {}, body: {error: {code: 429, status: 'RESOURCE_EXHAUSTED', details: [{'@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s'}]}}})],
  'hubspot': ['GET', () => ({statusCode: 429, headers: {'x-hubspot-ratelimit-daily-remaining': '0'}, body: {status: 'error', message: 'You have reached your daily limit.', errorType: 'RATE_LIMIT', policyName: 'DAILY'}})],
  'notion': ['GET', () => ({statusCode: 429, headers: {'retry-after': '12'}, body: {object: 'error', status: 429, code: 'rate_limited'}})],
  'openai': ['POST', () => ({statusCode: 429, headers: {'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '8.64s'}, body: {error: {message: 'Rate limit reached for requests', type: 'requests', code: 'rate_limit_exceeded'}}})],
  'shopify': ['GET', () => ({statusCode: 429, headers: {'retry-after': '2.0', 'x-shopify-shop-api-call-limit': '40/40'}, body: {errors: 'Exceeded 2 calls per second for api client.'}})],
  'slack': ['GET', () => ({statusCode: 429, headers: {'retry-after': '30'}, body: {ok: false, error: 'ratelimited'}})],
  'stripe': ['GET', () => ({statusCode: 429, headers: {}, body: {error: {type: 'invalid_request_error', code: 'rate_limit'}}})],
  'telegram': ['GET', () => ({statusCode: 429, headers: {}, body: {ok: false, error_code: 429, description: 'Too Many Requests: retry after 35', parameters: {retry_after: 35}}})],
};

let script = presets['A bad patch']();

// scriptEntries gives the script as /v1/preview takes it.
function scriptEntries() {
  return script.map((c, n) => {
    if (c.repeat === '1') return envelopeOf(n);
    return {...envelopeOf(n), repeat: c.repeat === 'always' ? 'always' : Number(c.repeat)};
  });
}

const failureCodes = {timeout: 'ECONNABORTED', refused: 'ECONNREFUSED', reset: 'ECONNRESET', dns: 'ENOTFOUND', bad_cert: 'CERT_HAS_EXPIRED', cancelled: 'ERR_CANCELED'};

// envelopeOf gives what n8n's HTTP Request node would give for an entry of the
// script.
function envelopeOf(entry) {
  const c = script[entry];
  if (c.given) return c.given;
  if (!/^\d/.test(c.what)) return {error: {code: failureCodes[c.what]}};
  const after = typed(c.after);
  return {statusCode: Number(c.what), headers: after === undefined ? {} : {'retry-after': String(after)}};
}

function drawScript() {
  $('script').replaceChildren(...script.map((c, n) => {
    const name = 'Call ' + (n + 1);
    const changed = key => event => { c[key] = event.target.value; mark(); update(); };
    const option = current => ([value, text]) => el('option', {value, selected: String(value) === current}, text);
    const what = c.given
      ? el('span', {class: 'given', title: JSON.stringify(c.given)}, c.label)
      : el('select', {'aria-label': name + ' gets', onchange: event => { c.what = event.target.value; mark(); drawScript(); update(); }},
        ...statuses.map(([s, t]) => [s, s + ' ' + t]).map(option(c.what)), el('optgroup', {label: 'no response'}, ...failures.map(option(c.what))));
    const after = c.given ? null : el('input', {'aria-label': name + ': Retry-After', placeholder: 'none', value: c.after,
      title: 'seconds, or an HTTP-date', disabled: !/^\d/.test(c.what), oninput: changed('after')});
    const repeat = el('select', {'aria-label': name + ': how often', onchange: changed('repeat')},
      ...[...new Set(['1', '2', '3', '5', '10', c.repeat, 'always'])].map(r => [r, r === 'always' ? 'always' : '× ' + r]).map(option(c.repeat)));
    const remove = el('button', {type: 'button', 'aria-label': 'Remove call ' + (n + 1), disabled: script.length === 1,
      onclick: () => { script.splice(n, 1); mark(); drawScript(); update(); $('add-call').focus(); }}, '×');
    return el('li', {'data-entry': n}, what, after, repeat, remove);
  }));
}

// mark shows which ready-made script is in use.
function mark(name) {
  for (const b of $('presets').children) b.setAttribute('aria-pressed', String(b.textContent === name));
  if (!name) $('example').value = '';
}

function takeEnvelope(envelope, label) {
  const fields = ['statusCode', 'headers', 'body', 'data', 'statusMessage', 'error', 'details'];
  const given = Object.fromEntries(fields.filter(f => envelope[f] !== undefined && envelope[f] !== null).map(f => [f, envelope[f]]));
  script = [{given, label, repeat: '1'}, call(200)];
  drawScript();
  update();
}

$('presets').append(...Object.entries(presets).map(([name, make]) => el('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
  script = make();
  $('example').value = '';
  mark(name);
  drawScript();
  update();
}}, name)));

$('add-call').addEventListener('click', () => {
  const last = script[script.length - 1];
  if (last.repeat === 'always') last.repeat = '1';
  script.push(call(200));
  mark();
  drawScript();
  update();
  $('script').lastElementChild.querySelector('select').focus();
});

$('example').append(...Object.keys(examples).map(name => el('option', {}, name)));
$('example').addEventListener('change', event => {
  const name = event.target.value;
  if (!name) return;
  const [method, make] = examples[name];
  $('provider').value = name;
  $('method').value = method;
  takeEnvelope(make(), name + ' · ' + make().statusCode);
  mark();
  event.target.value = name;
});

$('use-envelope').addEventListener('click', () => {
  $('envelope-fault').textContent = '';
  let given;
  try {
    given = JSON.parse($('envelope').value);
  } catch (error) {
    $('envelope-fault').textContent = 'That is not JSON: ' + error.message;
    return;
  }
  if (Array.isArray(given)) given = given[0];
  if (given && typeof given === 'object' && given.json && typeof given.json === 'object') given = given.json; // an n8n item
  if (!given || typeof given !== 'object' || (given.statusCode == null && given.error == null)) {
    $('envelope-fault').textContent = 'It needs a statusCode, or an error.';
    return;
  }
  takeState(given);
  takeEnvelope(given, 'pasted · ' + (given.error == null ? given.statusCode : 'error'));
  mark();
});
