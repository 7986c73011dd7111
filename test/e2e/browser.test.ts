import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../server/config.js';
import { startServer, type RunningServer } from '../../server/main.js';
import type { HttpServer } from '../../server/transport/http-server.js';
import { chromiumPath, isBrowserRequired, launchChromium } from '../fixtures/chromium.js';
import { startLiveServer } from '../fixtures/live-server.js';
import { createScript, type Script } from '../fixtures/scripted-session.js';
import { padWav } from '../fixtures/wav-file.js';

const root = resolve(import.meta.dirname, '../..');
const recording = join(root, 'client/public/samples/hypertension-hypotension.wav');
const isLeftOut = chromiumPath === null && !isBrowserRequired;
const why = isLeftOut ? ' (SKIPPED: no chromium or google-chrome in PATH)' : '';

let folder: string;
let browser: Browser;
const faults: string[] = [];

beforeAll(async () => {
  if (isLeftOut) return;
  folder = await mkdtemp(join(tmpdir(), 'auscult-page-'));
  const microphone = join(folder, 'microphone.wav');
  await padWav(recording, microphone, { beforeMs: 600, afterMs: 6_000 });
  browser = await launchChromium(microphone);
}, 120_000);

afterAll(async () => {
  if (isLeftOut) return;
  await browser.close();
  await rm(folder, { recursive: true, force: true });
});

/** A page whose script errors and policy violations fail the test. */
async function openPage(url: string, size = { width: 1_280, height: 900 }): Promise<Page> {
  const context = await browser.newContext({ viewport: size, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (fault) => faults.push(fault.message));
  page.on('console', (message) => {
    if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(url);
  return page;
}

afterEach(() => {
  expect(faults.splice(0)).toEqual([]);
});

describe.skipIf(isLeftOut)(`the page in Chromium, before a scripted server${why}`, () => {
  let server: HttpServer;
  let script: Script;
  let page: Page;

  beforeAll(async () => {
    const clientDir = join(folder, 'client');
    await build({
      configFile: join(root, 'vite.config.ts'),
      root: join(root, 'client'),
      logLevel: 'error',
      build: { outDir: clientDir },
    });
    const scripted = createScript();
    script = scripted.script;
    server = await startLiveServer({ clientDir, onConnection: scripted.accept });
    page = await openPage(server.url);
    await page.locator('#line[data-kind="open"]').waitFor();
  }, 120_000);

  afterAll(async () => {
    await page.context().close();
    await server.close();
  });

  it('asks with the microphone: faint evidence while it listens, then the answer, and the microphone is let go', async () => {
    await page.getByRole('button', { name: 'Ask', exact: true }).first().press('Space');
    await page.locator('.card.faint').first().waitFor();
    expect(await page.locator('#ask-label').textContent()).toBe('Stop');
    await page.locator('.answer .cite').waitFor();
    expect(await page.locator('.card').count()).toBe(3);
    expect(await page.locator('.card.faint').count()).toBe(0);
    expect(await page.locator('#ask-label').textContent()).toBe('Ask');
    const sent = script.audioMessages;
    await page.waitForTimeout(300);
    expect(script.audioMessages).toBe(sent);
  });

  it('shows the answer without its frame, what supports it, the terms, the rounds and the times', async () => {
    const text = await page.locator('.turn-body').first().innerText();
    expect(text).not.toContain('Answer: ');
    expect(text).not.toContain('[E1]');
    expect(text).toContain('Supported by the evidence');
    expect(await page.locator('.contrast').innerText()).toMatch(/hypertension\s*≠[^]*hypotension/);
    expect(text).toContain('not answered, because it found nothing nearer to the question');
    expect(text).toContain('Evidence 0.61 s after you stopped, 0.50 s of it waiting for silence.');
  });

  it('jumps from a citation to its card with the keyboard, marks the quoted words, and comes back', async () => {
    await page.locator('.cite').focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('card-1');
    expect(await page.locator('#card-1.glowing mark').textContent()).toContain('too high');
    await page.getByRole('button', { name: 'cited in the answer' }).press('Enter');
    expect(await page.evaluate(() => document.activeElement?.className)).toContain('answer');
  });

  it('plays recorded evidence with its neighbours, and says when it cannot', async () => {
    const clip = page.getByRole('group', { name: 'Recording of' });
    expect(await clip.getByRole('button', { name: 'before' }).isDisabled()).toBe(true);
    expect(await clip.getByRole('button', { name: 'after' }).isDisabled()).toBe(false);
    await clip.getByRole('button', { name: 'Play this part' }).click();
    await clip.getByText('This recording cannot be played.').waitFor();
  });

  it('takes a typed question and keeps the former one in the history', async () => {
    await page.getByLabel('Or type it').fill('What is hypertension?');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '“What is hypertension?”' }).waitFor();
    expect(await page.locator('.earlier').count()).toBe(1);
    expect(script.heard.at(-1)).toMatchObject({ type: 'question.text', text: 'What is hypertension?' });
  });

  it('switches the way of searching, and Escape drops what is being said', async () => {
    await page.getByText('Settings').click();
    await page.getByLabel(/Sound and words/).check();
    await expect
      .poll(() => script.heard.at(-1))
      .toMatchObject({ type: 'turn.configure', queryMode: 'speech+words' });
    await page.locator('#ask').click();
    await page.locator('body[data-source="microphone"]').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('body[data-source="off"]').waitFor();
    await expect.poll(() => script.heard.at(-1)?.type).toBe('input_audio.clear');
  });

  it('tells an emergency as an alert', async () => {
    const turnId = 'emergency';
    script.say({ type: 'turn.started', turnId, source: 'text', queryMode: 'text', windows: [] });
    script.say({ type: 'notice', turnId, kind: 'emergency', message: 'Call the emergency number now.' });
    await page.getByRole('alert').getByText('Call the emergency number now.').waitFor();
    script.say({ type: 'turn.cancelled', turnId, reason: 'client' });
    await page.getByText('You cancelled this question.').waitFor();
  });

  it('has no sideways scrolling at 360 px', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });

  it('says that the server went away, and that it cannot be reached', async () => {
    await server.close();
    await page
      .getByText(/shutting down or restarting|cannot be reached/)
      .first()
      .waitFor();
    await page.getByText('The server cannot be reached.').waitFor();
    expect(await page.locator('#ask').isDisabled()).toBe(true);
  });
});

describe.skipIf(isLeftOut)(`a spoken question in Chromium, before the real server${why}`, () => {
  let server: RunningServer;

  beforeAll(async () => {
    await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'error' });
    server = await startServer(loadConfig({ data: join(folder, 'data'), port: 0, logLevel: 'silent' }));
  }, 300_000);

  afterAll(async () => server.close());

  it('is heard by the microphone, gets evidence and an answer that points at it', async () => {
    const page = await openPage(server.url);
    await page.locator('#line[data-kind="open"]').waitFor();
    await page.locator('#ask').press('Enter');
    await page.locator('.card:not(.faint)').first().waitFor();
    await page.locator('.timing:not([hidden])').waitFor();
    await page.screenshot({ path: join(tmpdir(), 'auscult-page.png') });
    expect(await page.locator('.card').count()).toBe(8);
    const cite = page.locator('.cite').first();
    await cite.press('Enter');
    const number = await cite.textContent();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe(`card-${String(number)}`);
    await page.context().close();
  }, 120_000);
});
