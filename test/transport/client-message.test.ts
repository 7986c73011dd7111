import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAudioFrame, encodeAudioFrame, AUDIO_FRAME_HEADER_BYTES } from '../../shared/audio-frame.js';
import { clientEvent } from '../../shared/protocol.js';
import { parseClientMessage } from '../../server/transport/client-message.js';

/** Inputs of each fuzzing property: 100,000 together. */
const FUZZ_RUNS = 30_000;
/** Making arbitrary JSON is what costs time, not reading it. */
const FUZZ_FIELD_RUNS = 10_000;
/** For the slowest machine; nothing is measured. */
const FUZZ_TIMEOUT_MS = 180_000;

describe('a text message', () => {
  it.each([
    ['not json', 'bad_message'],
    ['', 'bad_message'],
    ['null', 'bad_message'],
    ['[]', 'bad_message'],
    ['"ping"', 'bad_message'],
    ['{}', 'bad_message'],
    ['{"type":7}', 'bad_message'],
    ['{"type":"no.such"}', 'unknown_type'],
    ['{"type":"__proto__"}', 'unknown_type'],
    ['{"type":"session.start"}', 'bad_message'],
    ['{"type":"session.start","version":"1"}', 'bad_message'],
    ['{"type":"session.start","version":2}', 'unsupported_version'],
    ['{"type":"session.start","version":2,"profile":"nonsense"}', 'unsupported_version'],
    ['{"type":"session.start","version":1,"audio":{"rateHz":44100.5}}', 'bad_message'],
    ['{"type":"session.start","version":1,"audio":{"channels":3}}', 'bad_message'],
    ['{"type":"question.text","text":"   "}', 'bad_message'],
    [`{"type":"question.text","text":"${'x'.repeat(2_001)}"}`, 'bad_message'],
  ])('%.70s is %s', (text, code) => {
    expect(parseClientMessage(text)).toMatchObject({ kind: 'invalid', code });
  });

  it('names the first wrong field and the request it answers', () => {
    expect(
      parseClientMessage('{"type":"session.start","version":1,"id":"r1","audio":{"rateHz":7999}}'),
    ).toMatchObject({
      kind: 'invalid',
      replyTo: 'r1',
      message: expect.stringContaining('audio.rateHz') as string,
    });
  });

  it('gives no id back that no request could carry', () => {
    expect(parseClientMessage('{"type":"no.such","id":7}')).not.toHaveProperty('replyTo');
    expect(parseClientMessage(`{"type":"no.such","id":"${'x'.repeat(129)}"}`)).not.toHaveProperty('replyTo');
  });

  it('gives back little of an unknown type', () => {
    const answer = parseClientMessage(JSON.stringify({ type: 'x'.repeat(60_000) }));
    expect(answer.kind === 'invalid' && answer.message.length).toBeLessThan(200);
  });

  it('survives nesting as deep as its size allows', () => {
    expect(parseClientMessage('['.repeat(65_536)).kind).toBe('invalid');
    const deep = `{"type":"ping","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(parseClientMessage(deep)).toEqual({ kind: 'event', event: { type: 'ping' } });
  });

  it(
    'whatever the text, is an event or says what is wrong',
    () => {
      fc.assert(
        fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (text) => {
          expect(['event', 'invalid']).toContain(parseClientMessage(text).kind);
        }),
        { numRuns: FUZZ_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'whatever the fields of a known type, is an event of the schema or says what is wrong',
    () => {
      const type = fc.constantFrom(...clientEvent.options.map((option) => option.shape.type.value));
      const field = fc.constantFrom(
        'id',
        'version',
        'audio',
        'vad',
        'resume',
        'text',
        'choices',
        'turnId',
        'heardMs',
        '__proto__',
      );
      const body = fc.dictionary(field, fc.jsonValue({ maxDepth: 1 }), { noNullPrototype: true });
      fc.assert(
        fc.property(type, body, (name, fields) => {
          const answer = parseClientMessage(JSON.stringify({ ...fields, type: name }));
          if (answer.kind === 'event') expect(clientEvent.safeParse(answer.event).success).toBe(true);
          else expect(answer.message).not.toBe('');
        }),
        { numRuns: FUZZ_FIELD_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );
});

describe('the header of binary messages', () => {
  it(
    'read back is what was written',
    () => {
      const frame = fc.record({
        kind: fc.constantFrom(1 as const, 2 as const),
        flags: fc.nat({ max: 0xffff }),
        sequence: fc.nat({ max: 0xffffffff }),
        sampleIndex: fc.maxSafeNat(),
        payload: fc.uint8Array({ maxLength: 64 }),
      });
      fc.assert(
        fc.property(frame, (written) => {
          expect(decodeAudioFrame(encodeAudioFrame(written))).toEqual(written);
        }),
        { numRuns: FUZZ_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );

  it(
    'whatever the bytes, at whatever offset, is a frame with the rest as payload or none',
    () => {
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 64 }),
        fc
          .uint8Array({ maxLength: 64 })
          .map((rest) => Uint8Array.from([0xa5, 1 + (rest.length % 3), ...rest])),
      );
      fc.assert(
        fc.property(bytes, fc.nat({ max: 7 }), (message, offset) => {
          const pool = new Uint8Array(offset + message.length);
          pool.set(message, offset);
          const frame = decodeAudioFrame(pool.subarray(offset));
          if (frame === null) return;
          expect(frame.payload).toEqual(message.slice(AUDIO_FRAME_HEADER_BYTES));
          expect(frame.payload.byteOffset).toBe(0);
          expect(Number.isSafeInteger(frame.sampleIndex)).toBe(true);
        }),
        { numRuns: FUZZ_RUNS },
      );
    },
    FUZZ_TIMEOUT_MS,
  );
});
