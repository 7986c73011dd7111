import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AuscultError } from '../../server/errors.js';
import type { HttpServer } from '../../server/transport/http-server.js';
import type { HttpRoute } from '../../server/transport/http-route.js';
import { createClipRoute } from '../../server/transport/clip-route.js';
import { connectLive } from '../fixtures/live-client.js';
import { startLiveServer, type LiveServerOptions } from '../fixtures/live-server.js';
import { until } from '../fixtures/until.js';

let server: HttpServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});
async function start(options: LiveServerOptions = {}): Promise<HttpServer> {
  return (server = await startLiveServer({ drainDeadlineMs: 200, ...options }));
}

/** Sends a request as it stands, which a client library would tidy up, and gives the answer's first line and the rest. */
function raw(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => (answer += data.toString('latin1')));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.end(request);
  });
}

describe('the page', () => {
  let folder = '';
  beforeAll(async () => {
    const parent = await mkdtemp(join(tmpdir(), 'page-'));
    folder = join(parent, 'client');
    await mkdir(join(folder, 'assets'), { recursive: true });
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>Page</title>');
    await writeFile(join(folder, 'assets', 'main-1a2b.js'), 'export {};');
    await writeFile(join(folder, '.env'), 'SECRET=1');
    await writeFile(join(parent, 'outside.txt'), 'SECRET');
    await symlink(join(parent, 'outside.txt'), join(folder, 'link.txt'));
  });
  afterAll(() => rm(join(folder, '..'), { recursive: true }));

  it('is served with its type, and its hashed files are kept for ever', async () => {
    const { url } = await start({ clientDir: folder });
    const page = await fetch(url);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('<title>Page</title>');
    const script = await fetch(`${url}/assets/main-1a2b.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  });

  it.each([
    '/../outside.txt',
    '/%2e%2e/outside.txt',
    '/assets/../../outside.txt',
    '/..%2foutside.txt',
    '/..%5coutside.txt',
    '/assets/..%2f..%2foutside.txt',
    '//outside.txt',
    '/%00/outside.txt',
    '/%ff',
    '/.env',
    '/link.txt',
    '/assets',
    'http://127.0.0.1/../outside.txt',
    '/etc/passwd',
  ])('never serves what lies outside it: %s', async (path) => {
    const { port } = await start({ clientDir: folder });
    const answer = await raw(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
    expect(answer).not.toContain('SECRET');
  });

  it('says what to do when it is not built', async () => {
    const { url } = await start();
    const answer = await fetch(url);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('npm run build');
  });
});

describe('headers', () => {
  it.each(['/', '/healthz', '/v1/nothing', '/v1/broken'])('protect every answer: %s', async (path) => {
    const broken: HttpRoute = {
      method: 'GET',
      path: '/v1/broken',
      scope: null,
      handle: () => Promise.reject(new Error('inner words')),
    };
    const { url } = await start({ routes: [broken] });
    const answer = await fetch(url + path);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
    expect(policy).not.toContain('unsafe-inline');
    expect(policy).not.toContain("'unsafe-eval'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('permissions-policy')).toContain('microphone=(self)');
    expect(await answer.text()).not.toContain('inner words');
  });
});

describe('health', () => {
  it('tells alive from ready', async () => {
    let ready = false;
    const { url } = await start({
      readiness: () => (ready ? { ready } : { ready, waitingFor: ['the speech encoder'] }),
    });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const waiting = await fetch(`${url}/readyz`);
    expect([waiting.status, await waiting.json()]).toEqual([
      503,
      { ready: false, waitingFor: ['the speech encoder'] },
    ]);
    ready = true;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('gives the metrics of the registry', async () => {
    const { url } = await start({
      metrics: { contentType: 'text/plain; version=0.0.4', metrics: async () => 'auscult_sessions 3\n' },
    });
    expect(await (await fetch(`${url}/metrics`)).text()).toBe('auscult_sessions 3\n');
  });
});

describe('endpoints that are added', () => {
  const answers: HttpRoute = {
    method: 'POST',
    path: '/v1/answers/:name',
    scope: 'read',
    maxBodyBytes: 100,
    handle: async (request, { params, peer }) =>
      Response.json({ body: (await request.json()) as unknown, params, subject: peer.subject }),
  };
  const token = { token: 'reader-token', subject: 'ward 3', scopes: ['read'] as const };
  const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { method: 'POST', body, headers });

  it('get the body, the parameters and who asks', async () => {
    const { url } = await start({ routes: [answers], staticTokens: [token] });
    const answer = await post(`${url}/v1/answers/a%20b`, '{"x":1}', { authorization: 'Bearer reader-token' });
    expect(await answer.json()).toEqual({ body: { x: 1 }, params: { name: 'a b' }, subject: 'ward 3' });
  });

  it('are closed to a wrong token, a token in the address and another site', async () => {
    const { url } = await start({ routes: [answers], staticTokens: [token] });
    const wrong = await post(`${url}/v1/answers/x`, '{}', { authorization: 'Bearer other' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await post(`${url}/v1/answers/x?token=reader-token`, '{}')).status).toBe(400);
    const foreign = await post(`${url}/v1/answers/x`, '{}', {
      authorization: 'Bearer reader-token',
      origin: 'https://elsewhere.example',
    });
    expect(foreign.status).toBe(403);
  });

  it('answer 413 to a body over their limit', async () => {
    const { url } = await start({ routes: [answers] });
    expect((await post(`${url}/v1/answers/x`, 'y'.repeat(101))).status).toBe(413);
  });

  it('answer a thrown error with its code', async () => {
    const failing: HttpRoute = {
      method: 'GET',
      path: '/v1/answers',
      scope: 'read',
      handle: () => {
        throw new AuscultError('not_found', { message: 'There is no such answer; ask first.' });
      },
    };
    const { url } = await start({ routes: [failing] });
    const answer = await fetch(`${url}/v1/answers`);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'not_found', message: 'There is no such answer; ask first.', retryable: false } },
    ]);
  });
});

describe('clips', () => {
  const clips = createClipRoute(async (id) =>
    id === 'talk#3' ? { bytes: new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7]), mediaType: 'audio/wav' } : null,
  );
  const get = (url: string, range?: string): Promise<Response> =>
    fetch(`${url}/v1/clips/talk%233`, range === undefined ? {} : { headers: { range } });

  it('play whole and in ranges', async () => {
    const { url } = await start({ routes: [clips] });
    const whole = await get(url);
    expect([whole.status, whole.headers.get('content-type'), whole.headers.get('accept-ranges')]).toEqual([
      200,
      'audio/wav',
      'bytes',
    ]);
    expect((await whole.arrayBuffer()).byteLength).toBe(8);
    const part = await get(url, 'bytes=2-4');
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 2-4/8']);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(new Uint8Array([2, 3, 4]));
    const tail = await get(url, 'bytes=-3');
    expect(tail.headers.get('content-range')).toBe('bytes 5-7/8');
    expect((await get(url, 'bytes=8-')).status).toBe(416);
    expect((await get(url, 'bytes=4-2')).status).toBe(416);
    expect((await get(url, 'bytes=0-1,4-5')).status).toBe(200);
  });

  it('that do not exist are 404', async () => {
    const { url } = await start({ routes: [clips] });
    expect((await fetch(`${url}/v1/clips/other`)).status).toBe(404);
  });
});

describe('the live socket', () => {
  it('opens with our subprotocol and carries events and sound', async () => {
    const { url } = await start();
    const client = await connectLive(url);
    expect(client.socket.protocol).toBe('auscult.v1');
    client.send({ type: 'ping', id: 'p1' });
    client.sendAudio(new Uint8Array(1_000), 640);
    expect(await client.waitFor('pong')).toMatchObject({ replyTo: 'p1' });
    await until(() => client.events.length === 3);
    expect(client.events.slice(1).map((event) => event.type === 'gap' && event.ms)).toEqual([640, 360]);
    client.close();
  });

  it('is nowhere else', async () => {
    const { url } = await start();
    await expect(connectLive(`${url}/v1/other`)).rejects.toThrow('refused: 404');
    await expect(connectLive(`${url}/v1/live/`)).rejects.toThrow('refused: 404');
  });

  it('is not opened without our subprotocol, nor compressed', async () => {
    const { url } = await start();
    await expect(connectLive(url, { protocols: [] })).rejects.toThrow('refused: 400');
    await expect(connectLive(url, { protocols: ['auscult.v2'] })).rejects.toThrow('refused: 400');
    const client = await connectLive(url);
    expect(client.socket.extensions).toBe('');
  });

  it('a wrong origin is refused with 403 before the upgrade; the own host and listed origins are let in', async () => {
    const { url } = await start({ allowedOrigins: ['https://ward.example'] });
    await expect(connectLive(url, { origin: 'https://elsewhere.example' })).rejects.toThrow('refused: 403');
    await expect(connectLive(url, { origin: 'null' })).rejects.toThrow('refused: 403');
    await expect(connectLive(url, { origin: 'https://ward.example.evil' })).rejects.toThrow('refused: 403');
    (await connectLive(url, { origin: url })).close();
    (await connectLive(url, { origin: 'https://ward.example' })).close();
  });

  it('a name that was rebound to loopback is refused where no token is configured', async () => {
    const { url } = await start();
    const client = await connectLive(url, {
      origin: 'http://rebound.example',
      headers: { host: 'rebound.example' },
    });
    expect(await client.waitForClose()).toEqual({ code: 4401, reason: 'unauthorised' });
  });

  it('a start without a token is closed with 4401 and nothing of it is heard', async () => {
    const heard: string[] = [];
    const { url } = await start({
      staticTokens: [{ token: 'a-good-token', subject: 's', scopes: ['live'] }],
      onConnection: () => heard.push('connection'),
    });
    for (const token of [undefined, 'a-bad-token']) {
      const client = await connectLive(url, token === undefined ? {} : { token });
      client.start();
      expect(await client.waitForClose()).toEqual({ code: 4401, reason: 'unauthorised' });
    }
    expect(heard).toEqual([]);
  });

  it('["bearer", token] as subprotocols is accepted without echo, as is the header', async () => {
    const subjects: Array<string | null> = [];
    const { url } = await start({
      staticTokens: [{ token: 'a-good-token', subject: 'ward 3', scopes: ['live'] }],
      onConnection(connection) {
        subjects.push(connection.peer.subject);
        connection.listen(() => undefined);
      },
    });
    const browser = await connectLive(url, { token: 'a-good-token' });
    expect(browser.socket.protocol).toBe('auscult.v1');
    const other = await connectLive(url, { headers: { authorization: 'Bearer a-good-token' } });
    expect(other.socket.protocol).toBe('auscult.v1');
    expect(subjects).toEqual(['ward 3', 'ward 3']);
    browser.close();
    other.close();
  });

  it('a token in the query string is refused', async () => {
    const { url } = await start({
      staticTokens: [{ token: 'a-good-token', subject: 's', scopes: ['live'] }],
    });
    await expect(connectLive(`${url}/v1/live?token=a-good-token`)).rejects.toThrow('refused: 400');
    await expect(connectLive(`${url}/v1/live?Access_Token=a`, { token: 'a-good-token' })).rejects.toThrow(
      'refused: 400',
    );
  });

  it('the sockets of one address are limited with 4429, and a place that is given back is free', async () => {
    const { url } = await start({ limits: { sessionsPerAddress: 1 } });
    const first = await connectLive(url);
    const second = await connectLive(url);
    const third = await connectLive(url);
    expect(await third.waitForClose()).toEqual({ code: 4429, reason: 'limit_exceeded' });
    first.close();
    await first.waitForClose();
    let fourth = await connectLive(url);
    // The server hears of the close a moment after the client.
    for (let tries = 0; tries < 50 && fourth.closed !== null; tries += 1) fourth = await connectLive(url);
    fourth.send({ type: 'ping' });
    await fourth.waitFor('pong');
    second.close();
    fourth.close();
  });

  it('an address that opens sockets too fast gets 429 before the upgrade', async () => {
    const { url } = await start({ limits: { connectionsPerMinute: 2 } });
    (await connectLive(url)).close();
    (await connectLive(url)).close();
    await expect(connectLive(url)).rejects.toThrow('refused: 429');
  });
});

describe('starting and stopping', () => {
  it('says which port is in use and what to do', async () => {
    const { port } = await start();
    const second = startLiveServer({ port });
    await expect(second).rejects.toMatchObject({ code: 'port_in_use' });
    await expect(second).rejects.toThrow(`Port ${port} is in use`);
    await expect(second).rejects.toThrow('--port');
  });

  it('listens on loopback unless told otherwise', async () => {
    expect((await start()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('lets the sessions end, closes each socket with 1001 after what they said, and frees the port', async () => {
    const open: Array<() => void> = [];
    const { url, close } = await start({
      onConnection(connection) {
        connection.listen(() => undefined);
        open.push(() => connection.send({ type: 'pong', seq: 7, atMs: 0 }));
      },
      drain: async () => open.forEach((say) => say()),
    });
    const clients = [await connectLive(url), await connectLive(url)];
    await close();
    for (const client of clients) {
      expect(await client.waitForClose()).toEqual({ code: 1001, reason: 'draining' });
      expect(client.events).toEqual([{ type: 'pong', seq: 7, atMs: 0 }]);
    }
    await expect(connectLive(url)).rejects.toThrow(/ECONNREFUSED/);
    server = null;
  });

  it('does not wait longer than its deadline for sessions that do not end', async () => {
    const { url, close } = await start({ drainDeadlineMs: 20, drain: () => new Promise(() => undefined) });
    const client = await connectLive(url);
    await close();
    expect((await client.waitForClose()).code).toBe(1001);
    server = null;
  });

  it('a second call ends everything at once', async () => {
    const { url, close } = await start({
      drainDeadlineMs: 600_000,
      drain: () => new Promise(() => undefined),
    });
    const client = await connectLive(url);
    const first = close();
    const second = close();
    expect((await client.waitForClose()).code).toBe(1006);
    await Promise.all([first, second]);
    server = null;
  });

  it('a half-closed peer does not hold it up', async () => {
    const { url, close } = await start();
    const client = await connectLive(url);
    // Reads nothing, so never answers the closing handshake.
    client.socket.pause();
    await close();
    server = null;
  });
});
