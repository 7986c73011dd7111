import type { TextEncoder } from '../encode/text-encoder.js';
import { AuscultError } from '../errors.js';
import type { SafetyCheck, SafetyNotice } from './safety-check.js';
import { dangerInWords, type DangerKind } from './safety-rules.js';

export interface SafetyCheckOptions {
  /** Embeds the descriptions that a spoken question is compared with; null leaves questions without words unchecked. */
  readonly textEncoder: TextEncoder | null;
  /** Cosine and lead that count as danger without words; `SPEECH_THRESHOLD` and `SPEECH_MARGIN` by default. */
  readonly speech?: { readonly threshold: number; readonly margin: number };
}

/** Said and shown first; the number is not named, because it differs from country to country. */
export const NOTICES: Readonly<Record<DangerKind, string>> = {
  emergency:
    'This may be an emergency. Call your local emergency number now, or ask someone near you to call. ' +
    'This program cannot judge it and gives no medical advice.',
  self_harm:
    'You matter, and you do not have to face this alone. Call your local emergency number or a crisis line now, ' +
    'or go to someone you trust. This program cannot help you the way a person can.',
};

/** What people say in danger, in words of our own; a spoken question near one of them is treated as one. */
export const PROTOTYPES: Readonly<Record<DangerKind, readonly string[]>> = {
  emergency: [
    'My chest hurts badly and my left arm is numb right now',
    'I have crushing chest pain and I cannot breathe',
    'I think I am having a heart attack right now, help me',
    'My husband has collapsed and is not breathing',
    'My wife suddenly cannot speak and her face is drooping on one side',
    'Help, my baby is choking and turning blue',
    'I am bleeding heavily and it will not stop',
    'My son is having a seizure and will not wake up',
    'My throat is closing up and I cannot breathe after eating nuts',
    'My child swallowed bleach, what do I do right now',
    'My friend took too many pills and is unconscious',
  ],
  self_harm: [
    'I want to kill myself',
    'I do not want to live any more, I want to end my life',
    'I am thinking about suicide tonight',
    'I keep cutting myself and I want to die',
    'My friend says she is going to kill herself',
  ],
};

/** Calm questions about the same subjects: a question must be nearer to danger than to these. */
const CALM: readonly string[] = [
  'Is chest pain always a sign of a heart attack?',
  'What are the symptoms of a heart attack?',
  'What causes shortness of breath?',
  'What are the warning signs of a stroke?',
  'How is a seizure treated?',
  'What causes heavy bleeding?',
  'What is an allergic reaction?',
  'How is poisoning treated?',
  'What are the risk factors for suicide?',
  'What is the treatment for depression and suicidal thoughts?',
  'What is a drug overdose?',
  'Why do people harm themselves?',
  'What happens when someone faints?',
  'How does breathing work?',
  'Who sang this song about dying?',
  'Who died at the end of the film?',
];

/**
 * Cosine to the nearest description, and its lead over the nearest calm question, from which a question without words counts
 * as danger. From the sweep of bench/safety.ts (2026-11-30, vectors of written texts in place of sound): the pair that notices
 * most (26 of 47 own dangers) among those without an alarm on 3,030 ordinary questions; 4 of 35 calm cases that sound like
 * danger are taken for one. Sound without words is a weak witness: the words, where there are any, decide.
 */
export const SPEECH_THRESHOLD = 0.6;
export const SPEECH_MARGIN = 0.05;

/** Embeds the descriptions at once (32 short sentences), so that no question waits for them. */
export async function createSafetyCheck({
  textEncoder,
  speech = { threshold: SPEECH_THRESHOLD, margin: SPEECH_MARGIN },
}: SafetyCheckOptions): Promise<SafetyCheck> {
  const dangers = await embedDangers(textEncoder);
  const calm = textEncoder ? await textEncoder.encode(CALM, 'query') : [];

  function dangerInSound(vector: Float32Array): DangerKind | null {
    let best: { kind: DangerKind; score: number } | null = null;
    for (const { kind, vector: prototype } of dangers) {
      const score = cosine(vector, prototype);
      if (!best || score > best.score) best = { kind, score };
    }
    if (!best || !(best.score >= speech.threshold)) return null;
    const calmest = Math.max(...calm.map((each) => cosine(vector, each)));
    return best.score - calmest >= speech.margin ? best.kind : null;
  }

  return {
    async check({ text, vector }, signal): Promise<SafetyNotice | null> {
      if (signal?.aborted)
        throw new AuscultError('aborted', { message: 'The turn was cancelled.', cause: signal.reason });
      const kind = text !== null && text.trim() !== '' ? dangerInWords(text) : dangerInSound(vector);
      return kind ? { kind, message: NOTICES[kind] } : null;
    },
  };
}

async function embedDangers(
  encoder: TextEncoder | null,
): Promise<Array<{ kind: DangerKind; vector: Float32Array }>> {
  if (!encoder) return [];
  const sentences = (['emergency', 'self_harm'] as const).flatMap((kind) =>
    PROTOTYPES[kind].map((sentence) => ({ kind, sentence })),
  );
  const vectors = await encoder.encode(
    sentences.map(({ sentence }) => sentence),
    'query',
  );
  return sentences.flatMap(({ kind }, i) => {
    const vector = vectors[i];
    return vector ? [{ kind, vector }] : [];
  });
}

/** Of unit vectors; of different lengths only what both have. */
function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}
