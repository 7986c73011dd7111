import { describe, expect, it } from 'vitest';
import type { OnnxSession, Outputs } from '../../server/encode/onnx-session.js';
import { WordsDecoder } from '../../server/encode/words-decoder.js';
import type { WordsTokenizer } from '../../server/encode/words-tokenizer.js';

const VOCABULARY = 51_865;
const END = 50_257;
const tokenizer: WordsTokenizer = {
  endOfText: END,
  noSpeech: 50_362,
  prompt: [50_258, 50_259, 50_359, 50_363],
  suppress: [13],
  suppressAtBegin: [220, END],
  texts: (ids) => ids.map((id) => ` ${id}`),
};
const window = { features: new Float32Array(512 * 50), frames: 50 };

/** A model that gives the scripted logits ({id: value}, all others 0), one entry a step; the last is given again. */
function scripted(
  steps: readonly Record<number, number>[],
  onStep: (step: number) => void = () => undefined,
) {
  const kept = new Set<number>();
  const asked: number[][] = [];
  let handle = 0;
  const keep = (): { kept: number; dims: number[] } => {
    kept.add(++handle);
    return { kept: handle, dims: [] };
  };
  const session: OnnxSession = {
    inputNames: [],
    outputNames: [],
    async run(feeds, options) {
      const ids = feeds['tokens'];
      if (!ids || 'kept' in ids) throw new Error('no tokens');
      for (const released of options?.release ?? []) kept.delete(released);
      const outputs: Outputs = {};
      for (const name of options?.keep ?? []) outputs[name] = keep();
      if (ids.data.length === 0) return outputs;
      const data = new Float32Array(ids.data.length * VOCABULARY);
      const row = data.subarray(data.length - VOCABULARY);
      const script = steps[Math.min(asked.length, steps.length - 1)] ?? {};
      for (const [id, value] of Object.entries(script)) row[Number(id)] = value;
      asked.push([...ids.data].map(Number));
      onStep(asked.length);
      outputs['logits'] = { type: 'float32', data, dims: [1, ids.data.length, VOCABULARY] };
      return outputs;
    },
    forget: (handles) => handles.forEach((one) => kept.delete(one)),
    close: async () => undefined,
  };
  return { session, kept, asked };
}

describe('the greedy word decoder', () => {
  it('asks with the prompt, then with each token, and ends at the end token', async () => {
    const model = scripted([{ 5: 30 }, { 6: 30 }, { [END]: 30 }]);
    const decoded = await new WordsDecoder(model.session, tokenizer).decode(window);
    expect(decoded.ids).toEqual([5, 6]);
    expect(model.asked).toEqual([tokenizer.prompt, [5], [6]]);
  });

  it('never gives a suppressed or a control token, nor a blank or the end first', async () => {
    const model = scripted([
      { 13: 40, 220: 38, [END]: 37, 51_000: 36, 5: 30 },
      { 13: 40, 51_000: 36, 220: 30 },
      { [END]: 30 },
    ]);
    const decoded = await new WordsDecoder(model.session, tokenizer).decode(window);
    expect(decoded.ids).toEqual([5, 220]);
  });

  it('gives the softmax probability of each token as its confidence', async () => {
    const allowed = END + 1 - tokenizer.suppress.length;
    const model = scripted([{ 5: Math.log(allowed - 1) }, { [END]: 30 }]);
    const decoded = await new WordsDecoder(model.session, tokenizer).decode(window);
    expect(decoded.confidences[0]).toBeCloseTo(0.5, 3);
  });

  it('stops between two tokens when it is aborted', async () => {
    const stop = new AbortController();
    const model = scripted([{ 5: 30 }, { 6: 30 }, { 7: 30 }, { 8: 30 }], (step) => {
      if (step === 3) stop.abort();
    });
    const running = new WordsDecoder(model.session, tokenizer).decode(window, stop.signal);
    await expect(running).rejects.toMatchObject({ code: 'aborted' });
    expect(model.asked).toHaveLength(3);
    expect(model.kept.size).toBe(0);
  });

  it('cuts a loop to one round', async () => {
    const model = scripted([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4].map((id) => ({ [id]: 30 })));
    const decoded = await new WordsDecoder(model.session, tokenizer).decode({
      features: new Float32Array(512 * 100),
      frames: 100,
    });
    expect(decoded.ids).toEqual([1, 2, 3, 4]);
    expect(decoded.confidences).toHaveLength(4);
  });

  it('ends at eight tokens and eight a second, whatever the model says', async () => {
    const model = scripted(Array.from({ length: 100 }, (_, at) => ({ [at + 1_000]: 30 })));
    expect((await new WordsDecoder(model.session, tokenizer).decode(window)).ids).toHaveLength(16);
  });

  it('leaves nothing beside the model when it is done', async () => {
    const model = scripted([{ 5: 30 }, { [END]: 30 }]);
    await new WordsDecoder(model.session, tokenizer).decode(window);
    expect(model.kept.size).toBe(0);
  });

  it('refuses features whose size does not fit the frames', async () => {
    const model = scripted([{ [END]: 30 }]);
    const decoder = new WordsDecoder(model.session, tokenizer);
    const wrong = { features: new Float32Array(511), frames: 1 };
    await expect(decoder.decode(wrong)).rejects.toMatchObject({ code: 'unsupported_audio' });
    await expect(decoder.decode({ features: new Float32Array(0), frames: 0 })).rejects.toMatchObject({
      code: 'unsupported_audio',
    });
  });
});
