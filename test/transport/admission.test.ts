import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { LIMITS, type Limits } from '../../shared/limits.js';
import {
  addressGroup,
  isLoopbackHost,
  normaliseAddress,
  readPeerRequest,
  type PeerRequest,
} from '../../server/transport/address.js';
import {
  createAdmission,
  type Admission,
  type Admitted,
  type Refused,
} from '../../server/transport/admission.js';
import { createTokenVerifier, type Scope } from '../../server/transport/tokens.js';
import { createFakeClock } from '../fakes/fake-clock.js';

function admission(
  tokens: ReadonlyArray<readonly [string, Scope[]]>,
  limits: Partial<Limits> = {},
): Admission {
  return createAdmission({
    limits: { ...LIMITS, ...limits },
    allowedOrigins: [],
    tokens: createTokenVerifier({
      clock: createFakeClock(),
      secret: null,
      staticTokens: tokens.map(([token, scopes]) => ({ token, scopes, subject: `owner of ${token}` })),
    }),
  });
}

function request(changed: Partial<PeerRequest> = {}): PeerRequest {
  return {
    address: '127.0.0.1',
    forwarded: false,
    method: 'GET',
    host: 'localhost:8787',
    origin: null,
    authorization: null,
    protocols: ['auscult.v1'],
    url: new URL('http://peer/v1/live'),
    ...changed,
  };
}
const outcome = (verdict: Admitted | Refused): unknown =>
  verdict.ok ? verdict.subject : [verdict.status, verdict.closeCode];

describe('without any token', () => {
  it.each<[string, Partial<PeerRequest>, unknown]>([
    ['this machine is served', {}, null],
    ['over IPv6 too', { address: '::1', host: '[::1]:8787' }, null],
    ['another machine is not', { address: '10.0.0.7' }, [401, 4401]],
    ['nor one behind a proxy on this machine', { forwarded: true }, [401, 4401]],
    ['nor a page that rebound its name', { host: 'evil.example' }, [401, 4401]],
    ['nor a page of another site', { origin: 'http://evil.example' }, [403, null]],
    ['a page of its own is', { origin: 'http://localhost:8787' }, null],
    ['a page on another port is not', { origin: 'http://localhost:1' }, [403, null]],
  ])('%s', async (_name, changed, expected) => {
    expect(outcome(await admission([]).admitSocket(request(changed)))).toEqual(expected);
  });
});

describe('with tokens', () => {
  const door = (): Admission =>
    admission([
      ['live-token', ['live']],
      ['read-token', ['read']],
    ]);

  it.each<[string, Partial<PeerRequest>, unknown]>([
    ['none given', {}, [401, 4401]],
    ['in the header', { authorization: 'Bearer live-token' }, 'owner of live-token'],
    ['in the header, in small letters', { authorization: 'bearer live-token' }, 'owner of live-token'],
    ['as a subprotocol', { protocols: ['auscult.v1', 'bearer', 'live-token'] }, 'owner of live-token'],
    ['"bearer" with nothing behind it', { protocols: ['auscult.v1', 'bearer'] }, [401, 4401]],
    ['of another scheme', { authorization: 'Basic live-token' }, [401, 4401]],
    ['of another scope', { authorization: 'Bearer read-token' }, [401, 4401]],
    ['in the address', { url: new URL('http://peer/v1/live?token=live-token') }, [400, null]],
    [
      'in the address beside a good one',
      { authorization: 'Bearer live-token', url: new URL('http://peer/v1/live?AUTH=x') },
      [400, null],
    ],
    ['from elsewhere', { address: '10.0.0.7', authorization: 'Bearer live-token' }, 'owner of live-token'],
  ])('%s', async (_name, changed, expected) => {
    expect(outcome(await door().admitSocket(request(changed)))).toEqual(expected);
  });

  it('over HTTP the scope of the endpoint is asked for', async () => {
    const read = request({ authorization: 'Bearer read-token' });
    expect(outcome(await door().admitRequest(read, 'read'))).toBe('owner of read-token');
    expect(outcome(await door().admitRequest(read, 'ingest'))).toEqual([401, null]);
  });
});

describe('places and rates', () => {
  it('are counted for each address, and given back once', async () => {
    const door = admission([], { sessionsPerAddress: 1 });
    const first = await door.admitSocket(request());
    await door.admitSocket(request());
    expect(outcome(await door.admitSocket(request()))).toEqual([429, 4429]);
    if (first.ok) {
      first.release();
      first.release();
    }
    expect(outcome(await door.admitSocket(request()))).toBeNull();
    expect(outcome(await door.admitSocket(request()))).toEqual([429, 4429]);
  });

  it('neighbours in one IPv6 subnet count as one', async () => {
    const door = admission([['t', ['live']]], { connectionsPerMinute: 1 });
    const from = (address: string): Promise<Admitted | Refused> =>
      door.admitSocket(request({ address, authorization: 'Bearer t' }));
    expect((await from('2001:db8::1')).ok).toBe(true);
    expect(outcome(await from('2001:db8::ffff'))).toEqual([429, null]);
    expect((await from('2001:db8:0:1::1')).ok).toBe(true);
  });
});

describe('addresses', () => {
  it('are written in one way', () => {
    expect(normaliseAddress('::ffff:10.0.0.7')).toBe('10.0.0.7');
    expect(normaliseAddress('fe80::1%eth0')).toBe('fe80::1');
    expect(addressGroup('10.0.0.7')).toBe('10.0.0.7');
    expect(addressGroup('2001:0db8::7')).toBe('2001:db8:0:0::/64');
    expect(addressGroup('1:2:3:4:5:6:7:8')).toBe('1:2:3:4::/64');
  });

  it.each([
    ['localhost', true],
    ['LOCALHOST:8787', true],
    ['127.0.0.1:80', true],
    ['[::1]:80', true],
    ['localhost.evil.example', false],
    ['127.0.0.1.evil.example', false],
    ['', false],
  ])('the host %s is this machine: %s', (host, expected) => {
    expect(isLoopbackHost(host)).toBe(expected);
  });

  it('a forwarded address is believed only from a trusted proxy, and only its last entry', () => {
    const raw = {
      headers: { 'x-forwarded-for': '1.1.1.1, 2.2.2.2', host: 'h' },
      socket: { remoteAddress: '::ffff:127.0.0.1' },
      url: '//evil.example/v1/live?x=1',
    } as unknown as IncomingMessage;
    expect(readPeerRequest(raw, true)).toMatchObject({ address: '2.2.2.2', forwarded: false });
    expect(readPeerRequest(raw, false)).toMatchObject({ address: '127.0.0.1', forwarded: true });
    expect(readPeerRequest(raw, false).url.pathname).toBe('/evil.example/v1/live');
  });
});
