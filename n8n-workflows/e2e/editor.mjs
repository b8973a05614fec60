// Imports workflows into n8n's editor as a new user would: log in, new workflow, menu, Import, From URL. n8n saves
// them by itself.
//
//   node editor.mjs N8N_FOLDER N8N_URL EMAIL PASSWORD JOBS
//
// JOBS is JSON: [{"url", "choose": {"node", "workflow"}, "run": true, "picture": "FILE.png"}, …]; all but url may be
// left out. choose opens an Execute Sub-workflow node and picks the workflow of that name from its list; run clicks
// "Execute workflow" and waits for the end; picture saves the canvas.
// Prints one object for each: {"id", "problems", "ran"}. problems are the editor's red marks and messages.
// playwright-core is n8n's own; CHROMIUM names the browser (default: chromium on PATH).
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

const [n8nFolder, n8nUrl, email, password, jobs] = process.argv.slice(2);
const { chromium } = createRequire(`${n8nFolder}/node_modules/`)('playwright-core');
const testId = (name) => `[data-test-id="${name}"]`;

// Ids of what was imported so far, by name.
const imported = {};

// What the picture of a workflow leaves out.
const chrome = ['canvas-controls', 'canvas-minimap', 'logs-panel', 'execute-workflow-button', 'radio-button-workflow',
  'radio-button-executions', 'radio-button-evaluation', 'node-creator-plus-button', 'command-bar-button',
  'add-sticky-button', 'toggle-focus-panel-button', 'instance-ai-canvas-action-button'].map(testId).join(', ');

// The canvas is as large as the workflow, so that a picture has no wide margins and its text can be read.
function viewportOf(workflow) {
  const edges = workflow.nodes.map(({ position: [x, y], parameters: { width = 100, height = 140 } }) => [x, y, x + width, y + height]);
  const span = (from, to) => Math.max(...edges.map((e) => e[to])) - Math.min(...edges.map((e) => e[from]));
  return { width: Math.round(span(0, 2) * 0.8) + 160, height: Math.round(span(1, 3) * 0.8) + 240 };
}

async function importWorkflow(page, { url, choose, run, picture }) {
  const workflow = await (await fetch(url)).json();
  const viewport = viewportOf(workflow);
  await page.setViewportSize(viewport);
  await page.goto(`${n8nUrl}/workflow/new`, { waitUntil: 'domcontentloaded' });
  await page.waitForSelector(testId('canvas-plus-button'));

  const saved = () => page.waitForResponse((r) => /\/rest\/workflows(\/|\?|$)/.test(r.url()) && ['POST', 'PATCH'].includes(r.request().method()) && r.ok());
  await page.click(testId('workflow-menu'));
  await page.hover(testId('workflow-menu-item-import'));
  await page.click(testId('workflow-menu-item-import-from-url'));
  await page.fill(`input${testId('workflow-url-import-input')}, ${testId('workflow-url-import-input')} input`, url);
  const first = saved();
  await page.click(testId('confirm-workflow-import-url-button'));
  const { data } = await (await first).json();
  await page.waitForFunction((n) => document.querySelectorAll('.vue-flow__node').length === n, workflow.nodes.length);
  await page.click(testId('zoom-to-fit'));

  if (choose) {
    await page.locator(`${testId('canvas-node')}[data-node-name="${choose.node}"]`).dblclick();
    await page.locator(testId('rlc-input')).first().click();
    // What stands in the file may be listed too, as selected; opening the node already saves once.
    const chosen = page.waitForResponse((r) => r.ok() && (r.request().postData() ?? '').includes(`"value":"${imported[choose.workflow]}"`));
    await page.locator(`${testId('rlc-item')}:not([class*="selected"])`).filter({ hasText: choose.workflow }).first().click();
    await chosen;
    await page.keyboard.press('Escape');
  }
  let ran = null;
  if (run) {
    await page.click(testId('execute-workflow-button'));
    ran = await Promise.any([
      page.getByText('Workflow executed successfully').first().waitFor().then(() => 'success'),
      page.getByText(/Problem in node|Error in workflow/).first().waitFor().then(() => 'error'),
    ]);
  }
  const problems = await page.$$eval(`${testId('node-issues')}, .el-notification--error, .el-notification--warning`,
    (marks) => marks.map((m) => m.innerText || m.closest('[data-node-name]')?.getAttribute('data-node-name') || 'an issue'));
  if (picture) {
    await page.addStyleTag({ content: `${chrome}, div:has(> ${testId('execute-workflow-button')}), .el-notification, [role="radiogroup"] { visibility: hidden !important }` });
    await page.mouse.click(70, viewport.height / 2); // an empty spot: nothing is selected
    await page.waitForTimeout(1000); // the zoom is animated
    await page.locator(testId('canvas')).first().screenshot({ path: picture });
  }
  imported[workflow.name] = data.id;
  return { id: data.id, problems, ran };
}

const executablePath = process.env.CHROMIUM ?? execFileSync('sh', ['-c', 'command -v chromium']).toString().trim();
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const context = await browser.newContext();
  const login = await context.request.post(`${n8nUrl}/rest/login`, { data: { emailOrLdapLoginId: email, password } });
  if (!login.ok()) throw new Error(`login: ${login.status()}`);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  page.setDefaultNavigationTimeout(180_000);
  const results = [];
  for (const job of JSON.parse(jobs)) {
    try {
      results.push(await importWorkflow(page, job));
    } catch (error) {
      await page.screenshot({ path: `${process.env.TMPDIR ?? '/tmp'}/editor-failed.png` });
      throw new Error(`${job.url}: ${error.message}`);
    }
  }
  console.log(JSON.stringify(results));
} finally {
  await browser.close();
}
