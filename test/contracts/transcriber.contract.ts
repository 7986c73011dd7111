import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EncodedWindow } from '../../server/encode/speech-encoder.js';
import type { Transcriber } from '../../server/encode/transcriber.js';

export interface TranscriberCase {
  readonly transcriber: Transcriber;
  /** Windows of one utterance in which a person speaks. */
  readonly speech: readonly EncodedWindow[];
  /** Windows without speech. */
  readonly silence: readonly EncodedWindow[];
}

/** What every transcriber must do. */
export function transcriberContract(name: string, open: () => Promise<TranscriberCase>): void {
  describe(`the transcriber contract: ${name}`, () => {
    let opened: TranscriberCase;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened.transcriber.close();
    });

    it('hears words in speech, and its text is that of its tokens', async () => {
      const { transcriber, speech } = opened;
      const transcript = await transcriber.transcribe(speech);
      expect(transcript.text).toMatch(/\p{L}/u);
      expect(
        transcript.tokens
          .map((token) => token.text)
          .join('')
          .trim(),
      ).toBe(transcript.text);
    });

    it('gives each token a probability and the whole their geometric mean', async () => {
      const { tokens, confidence } = await opened.transcriber.transcribe(opened.speech);
      for (const token of tokens) {
        expect(token.confidence).toBeGreaterThan(0);
        expect(token.confidence).toBeLessThanOrEqual(1);
      }
      const product = tokens.reduce((soFar, token) => soFar * token.confidence, 1);
      expect(confidence).toBeCloseTo(product ** (1 / tokens.length), 5);
    });

    it('invents nothing in silence', async () => {
      const transcript = await opened.transcriber.transcribe(opened.silence);
      expect(transcript).toEqual({ text: '', tokens: [], confidence: 0 });
    });

    it('hears nothing where there are no windows', async () => {
      expect((await opened.transcriber.transcribe([])).text).toBe('');
    });

    it('refuses to start under an aborted signal', async () => {
      const stopped = AbortSignal.abort();
      await expect(opened.transcriber.transcribe(opened.speech, stopped)).rejects.toMatchObject({
        code: 'aborted',
      });
    });

    it('stops before the next token when it is aborted, and works afterwards', async () => {
      const { transcriber, speech } = opened;
      const before = await transcriber.transcribe(speech);
      const stop = new AbortController();
      const running = transcriber.transcribe(speech, stop.signal);
      stop.abort();
      await expect(running).rejects.toMatchObject({ code: 'aborted' });
      expect((await transcriber.transcribe(speech)).text).toBe(before.text);
    });

    it('keeps utterances apart that are decoded at the same time', async () => {
      const { transcriber, speech, silence } = opened;
      const alone = await transcriber.transcribe(speech);
      const [first, quiet, second] = await Promise.all([
        transcriber.transcribe(speech),
        transcriber.transcribe(silence),
        transcriber.transcribe(speech),
      ]);
      expect(first).toEqual(alone);
      expect(second).toEqual(alone);
      expect(quiet.text).toBe('');
    });
  });
}
