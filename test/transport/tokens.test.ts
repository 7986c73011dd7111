import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTokenVerifier, signToken } from '../../server/transport/tokens.js';
import { createFakeClock } from '../fakes/fake-clock.js';

const SECRET = 'a secret of thirty-two characters';

describe('tokens', () => {
  it('a signed token gives its subject and scopes until it expires', async () => {
    const clock = createFakeClock(1_000_000);
    const verifier = createTokenVerifier({ clock, secret: SECRET, staticTokens: [] });
    const token = signToken({ subject: 'ward 3', scopes: ['live', 'read'] }, 1_000_100, SECRET);
    expect(verifier.verify(token)).toEqual({ subject: 'ward 3', scopes: ['live', 'read'] });
    await clock.advance(100);
    expect(verifier.verify(token)).toBeNull();
  });

  it('fits a subprotocol: letters, digits, minus, underscore and one dot', () => {
    expect(signToken({ subject: 'ö?=&', scopes: ['live'] }, 9e15, SECRET)).toMatch(/^[\w-]+\.[\w-]+$/);
  });

  it('a static token gives what the configuration says', () => {
    const verifier = createTokenVerifier({
      clock: createFakeClock(),
      secret: null,
      staticTokens: [
        { token: 'one', subject: 'a', scopes: ['live'] },
        { token: 'two', subject: 'b', scopes: ['ingest'] },
      ],
    });
    expect(verifier.verify('two')).toEqual({ subject: 'b', scopes: ['ingest'] });
    for (const wrong of ['three', '', 'on', 'onee', 'one ', 'ONE']) expect(verifier.verify(wrong)).toBeNull();
  });

  it('a signed token means nothing without a secret, or with another', () => {
    const clock = createFakeClock();
    const token = signToken({ subject: 's', scopes: ['live'] }, 9e15, SECRET);
    expect(createTokenVerifier({ clock, secret: null, staticTokens: [] }).verify(token)).toBeNull();
    expect(createTokenVerifier({ clock, secret: `${SECRET}!`, staticTokens: [] }).verify(token)).toBeNull();
  });

  it('no token with any character changed, added or left out is valid', () => {
    const verifier = createTokenVerifier({ clock: createFakeClock(), secret: SECRET, staticTokens: [] });
    const token = signToken({ subject: 's', scopes: ['live'] }, 9e15, SECRET);
    fc.assert(
      fc.property(
        fc.nat({ max: token.length - 1 }),
        fc.constantFrom('', '.', 'A', 'AA', '=', '-'),
        (at, piece) => {
          const changed = token.slice(0, at) + piece + token.slice(at + 1);
          if (changed !== token) expect(verifier.verify(changed)).toBeNull();
        },
      ),
      { numRuns: 2_000 },
    );
    expect(verifier.verify(`${token}.x`)).toBeNull();
  });

  it('says whether any token can be valid at all', () => {
    const clock = createFakeClock();
    expect(createTokenVerifier({ clock, secret: null, staticTokens: [] }).configured).toBe(false);
    expect(createTokenVerifier({ clock, secret: SECRET, staticTokens: [] }).configured).toBe(true);
  });
});
