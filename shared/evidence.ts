import { z } from 'zod';

/** Store A holds spoken items (recordings and spoken questions), store D text passages. */
export const storeName = z.enum(['speech', 'passages']);
export type StoreName = z.infer<typeof storeName>;

/** Where a query came from. `speech` is the sound itself; the others are texts and never appear in mode `speech` round 1. */
export const querySource = z.enum(['speech', 'user_text', 'asr', 'reference_oracle', 'generated_feedback']);
export type QuerySource = z.infer<typeof querySource>;

/** A playable part of a recording, with its neighbours (VoxRAG: a segment is understood with what surrounds it). */
export const clip = z.object({
  recordingId: z.string(),
  url: z.string(),
  startMs: z.number().nonnegative(),
  endMs: z.number().nonnegative(),
  speaker: z.string().optional(),
  previousId: z.string().optional(),
  nextId: z.string().optional(),
});
export type Clip = z.infer<typeof clip>;

/** One piece of evidence as it is shown, cited and traced. */
export const evidenceItem = z.object({
  /** What a citation names: stable across rounds and sessions. */
  id: z.string(),
  /** 1 is best. */
  rank: z.number().int().positive(),
  store: storeName,
  documentId: z.string(),
  title: z.string(),
  text: z.string(),
  url: z.string().optional(),
  /** Fused score, what `rank` sorts by. */
  score: z.number(),
  /** Cosine similarity in the store it came from, −1 … 1. */
  rawScore: z.number(),
  /** Standard deviations above the mean of that store's candidates. */
  normalisedScore: z.number(),
  /** Query that found it best. */
  querySource,
  /** Zero-based window of the utterance that matched best; null for a text query. */
  matchedWindow: z.number().int().nonnegative().nullable(),
  /** Words of a text query that occur in it. */
  matchedTerms: z.array(z.string()).optional(),
  /** Character span of `text` in its document. */
  span: z.object({ start: z.number().int().nonnegative(), end: z.number().int().nonnegative() }),
  clip: clip.optional(),
});
export type EvidenceItem = z.infer<typeof evidenceItem>;

/** An entity found in a text. Offsets are characters. */
export const mention = z.object({
  text: z.string(),
  term: z.string(),
  termId: z.string(),
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
  /** Where it stands: `query` or an evidence id. */
  where: z.string(),
});
export type Mention = z.infer<typeof mention>;

/** A misspelt or misheard word and the term it most likely is; score is calibrated, 0 … 1. */
export const correction = z.object({ from: z.string(), to: z.string(), score: z.number() });
export type Correction = z.infer<typeof correction>;

export const contrastKind = z.enum(['differs-by', 'synonym-of', 'subtype-of', 'co-mentioned', 'look-alike']);
export const contrast = z.object({
  a: z.string(),
  b: z.string(),
  kind: contrastKind,
  evidenceIds: z.array(z.string()),
});
export type Contrast = z.infer<typeof contrast>;

/** SUPPORTED: every claim stands in the cited evidence. PARTIAL: some. UNSUPPORTED: none. UNSAFE: must not be shown. */
export const supportLabel = z.enum(['SUPPORTED', 'PARTIAL', 'UNSUPPORTED', 'UNSAFE']);
export type SupportLabel = z.infer<typeof supportLabel>;
