import { z } from 'zod';
import { ERROR_CODES, REJECTION_REASONS } from './error-codes.js';
import { contrast, correction, evidenceItem, mention, supportLabel } from './evidence.js';
import { LIMITS } from './limits.js';

/** WebSocket subprotocol; a browser adds `bearer` and its token, the server echoes only this. */
export const SUBPROTOCOL = 'auscult.v1';
export const PROTOCOL_VERSION = 1;

// ---------------------------------------------------------------------------------------------- settings

export const profileName = z.enum(['browser', 'kiosk', 'telephone']);
export type ProfileName = z.infer<typeof profileName>;

export const audioCodec = z.enum(['pcm16', 'float32', 'opus', 'mulaw', 'alaw']);
export type AudioCodec = z.infer<typeof audioCodec>;

export const audioFormat = z.object({
  codec: audioCodec.default('pcm16'),
  /** Samples a second; PCM 8,000–48,000, Opus 8, 12, 16, 24 or 48 kHz, telephone codes 8 kHz. */
  rateHz: z.number().int().min(8_000).max(48_000).default(16_000),
  channels: z.number().int().min(1).max(2).default(1),
  /** Length of one Opus frame; ignored for the others. */
  frameMs: z.number().min(2.5).max(60).default(20),
  /** Whether binary messages carry the 16-byte header; `auto` decides on the first one. */
  framing: z.enum(['auto', 'framed', 'raw']).default('auto'),
});
export type AudioFormat = z.infer<typeof audioFormat>;

/** `speech`: no transcript exists anywhere. `speech+words`: a local transcript joins as a second query. `text`: typed. */
export const queryMode = z.enum(['speech', 'speech+words', 'text', 'oracle']);
export type QueryMode = z.infer<typeof queryMode>;

export const contractName = z.enum(['open', 'exam', 'yes_no_maybe']);
export type ContractName = z.infer<typeof contractName>;

/** Voice activity and segmentation; each value has a range and the profile's default. */
export const vadSettings = z.object({
  /** Speech probability that opens a segment; 0 opens always. */
  onThreshold: z.number().min(0.05).max(0.95),
  /** Probability below which silence is counted; at most `onThreshold`. */
  offThreshold: z.number().min(0.01).max(0.95),
  /** Voiced time below which a segment is rejected as too short. */
  minSpeechMs: z.number().int().min(0).max(2_000),
  /** Sound kept from before the onset; 0 keeps none. */
  preRollMs: z.number().int().min(0).max(2_000),
  /** Silence that ends a segment. */
  endSilenceMs: z.number().int().min(100).max(5_000),
  /** Silence after which the utterance so far is encoded in advance; 0 turns it off. */
  speculateMs: z.number().int().min(0).max(2_000),
  /** Length at which a segment is ended whatever is heard. */
  maxSegmentMs: z.number().int().min(1_000).max(120_000),
  /** Wall-clock time without any frame that ends a turn. */
  idleMs: z.number().int().min(200).max(60_000),
  /** Longer pauses inside a turn for spelled digits. */
  digits: z.boolean(),
});
export type VadSettings = z.infer<typeof vadSettings>;

export const retrievalSettings = z.object({
  /** Evidence items shown. */
  k: z.number().int().min(1).max(50),
  fusion: z.enum(['zscore', 'rrf', 'raw']),
  maxRounds: z.number().int().min(1).max(3),
});
export type RetrievalSettings = z.infer<typeof retrievalSettings>;

// ---------------------------------------------------------------------------------------------- client → server

const id = z.string().min(1).max(128);
/** Any request may carry an id of the client's; an error that it causes names it in `replyTo`. */
const request = { id: id.optional() };
const choice = z.string().min(1).max(400);

export const sessionStart = z.object({
  ...request,
  type: z.literal('session.start'),
  version: z.number().int(),
  profile: profileName.default('browser'),
  audio: audioFormat.prefault({}),
  queryMode: queryMode.optional(),
  contract: contractName.optional(),
  retrieval: retrievalSettings.partial().optional(),
  vad: vadSettings.partial().optional(),
  /** Speak answers, where a synthesizer is configured. */
  speak: z.boolean().optional(),
  resume: z
    .object({ resumeToken: z.string().min(1).max(256), lastSeq: z.number().int().nonnegative() })
    .optional(),
});
export type SessionStart = z.infer<typeof sessionStart>;

export const clientEvent = z.discriminatedUnion('type', [
  sessionStart,
  z.object({ ...request, type: z.literal('input_audio.commit') }),
  z.object({ ...request, type: z.literal('input_audio.clear') }),
  z.object({
    ...request,
    type: z.literal('question.text'),
    text: z.string().trim().min(1).max(LIMITS.questionCharacters),
    choices: z.array(choice).min(2).max(LIMITS.choices).optional(),
  }),
  z.object({
    ...request,
    type: z.literal('turn.configure'),
    queryMode: queryMode.optional(),
    contract: contractName.optional(),
    /** Choices for spoken questions that follow, for the `exam` contract. */
    choices: z.array(choice).max(LIMITS.choices).optional(),
    retrieval: retrievalSettings.partial().optional(),
    vad: vadSettings.partial().optional(),
  }),
  z.object({ ...request, type: z.literal('response.cancel'), turnId: id.optional() }),
  z.object({
    ...request,
    type: z.literal('playback.progress'),
    turnId: id,
    heardMs: z.number().nonnegative(),
  }),
  z.object({ ...request, type: z.literal('ping') }),
]);
export type ClientEvent = z.infer<typeof clientEvent>;
export type ClientEventType = ClientEvent['type'];

// ---------------------------------------------------------------------------------------------- server → client

/** One round of a turn. `skipped` says why it was not generated. */
export const roundTiming = z.object({
  round: z.number().int().positive(),
  retrieveSpeechMs: z.number(),
  retrieveTextMs: z.number(),
  fuseMs: z.number(),
  /** Words from the sound, in mode `speech+words`. */
  transcribeMs: z.number(),
  groundMs: z.number(),
  promptMs: z.number(),
  generateMs: z.number(),
  judgeMs: z.number(),
  skipped: z.string().optional(),
});

/**
 * Durations in milliseconds from the true end of speech (t0, the last voiced sample) or, for a typed question, from its
 * arrival. `endpointWaitMs + decodeMs + encodeMs + Σ rounds + otherMs = doneMs`.
 */
export const turnTimings = z.object({
  /** Silence waited for, caused by the named setting. */
  endpointWaitMs: z.number(),
  endpointSetting: z.string(),
  decodeMs: z.number(),
  /** Encoding that the person waited for; 0 when the speculative encoding was used. */
  encodeMs: z.number(),
  encodeSpeculative: z.boolean(),
  retrieveSpeechMs: z.number(),
  retrieveTextMs: z.number(),
  fuseMs: z.number(),
  groundMs: z.number(),
  /** Sending, scheduling and whatever else lies between the named parts. */
  otherMs: z.number(),
  /** t0 → first `evidence`. */
  firstEvidenceMs: z.number().nullable(),
  /** The same counted from the declared end of speech: what the machine itself took. */
  firstEvidenceAfterEndMs: z.number().nullable(),
  firstAnswerMs: z.number().nullable(),
  doneMs: z.number(),
  rounds: z.array(roundTiming),
});
export type TurnTimings = z.infer<typeof turnTimings>;
export type RoundTiming = z.infer<typeof roundTiming>;

export const stopReason = z.enum([
  'answered',
  'abstained',
  'max_rounds',
  'no_gain',
  'no_new_evidence',
  'no_terms',
  'withheld',
  'no_evidence',
  'cancelled',
  'deadline',
  'failed',
]);
export type StopReason = z.infer<typeof stopReason>;

export const citation = z.object({
  evidenceId: z.string(),
  /** Verbatim words of the visible evidence that support the sentence. */
  quote: z.string(),
  /** Where the cited sentence stands in the answer. */
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
});
export type Citation = z.infer<typeof citation>;

export const support = z.object({
  label: supportLabel,
  evidenceIds: z.array(z.string()),
  reason: z.string(),
  judge: z.string(),
});
export type Support = z.infer<typeof support>;

export const effectiveConfig = z.object({
  profile: profileName,
  audio: audioFormat,
  queryMode,
  contract: contractName,
  retrieval: retrievalSettings,
  vad: vadSettings,
  speak: z.boolean(),
  generator: z.string(),
  speechEncoder: z.string(),
  textEncoder: z.string(),
});
export type EffectiveConfig = z.infer<typeof effectiveConfig>;

/** Every server event: `seq` counts up by one, `atMs` is the session's clock. */
const stamped = { seq: z.number().int().nonnegative(), atMs: z.number().nonnegative() };
const ofTurn = { ...stamped, turnId: z.string() };
const ofRound = { ...ofTurn, round: z.number().int().positive() };

export const serverEvent = z.discriminatedUnion('type', [
  z.object({
    ...stamped,
    type: z.literal('session.ready'),
    sessionId: z.string(),
    resumeToken: z.string(),
    resumed: z.boolean(),
    /** Events between `lastSeq` and now that are no longer kept and were not replayed. */
    missedEvents: z.number().int().nonnegative(),
    version: z.number().int(),
    config: effectiveConfig,
    limits: z.record(z.string(), z.number()),
    /** What people must be told: not for clinical use, whether sound is kept. */
    notices: z.array(z.string()),
  }),
  z.object({
    ...stamped,
    type: z.literal('session.configured'),
    config: effectiveConfig,
    replyTo: id.optional(),
  }),
  z.object({ ...stamped, type: z.literal('speech.started'), speechMs: z.number().nonnegative() }),
  z.object({
    ...stamped,
    type: z.literal('speech.stopped'),
    /** Audio time of the last voiced sample. */
    speechMs: z.number().nonnegative(),
    reason: z.enum(['silence', 'max_duration', 'idle', 'commit']),
  }),
  z.object({
    ...ofTurn,
    type: z.literal('turn.rejected'),
    reason: z.enum(REJECTION_REASONS),
    message: z.string(),
  }),
  z.object({
    ...ofTurn,
    type: z.literal('turn.started'),
    source: z.enum(['speech', 'text']),
    queryMode,
    /** Windows of the utterance, milliseconds from its start. */
    windows: z.array(z.object({ startMs: z.number(), endMs: z.number() })),
  }),
  z.object({ ...stamped, type: z.literal('evidence.preview'), items: z.array(evidenceItem) }),
  z.object({
    ...ofRound,
    type: z.literal('evidence'),
    items: z.array(evidenceItem),
    /** Queries that made this list; a later list of the same round replaces the earlier. */
    sources: z.array(z.string()),
  }),
  z.object({
    ...ofTurn,
    type: z.literal('transcript'),
    text: z.string(),
    confidence: z.number(),
    final: z.boolean(),
  }),
  z.object({
    ...ofRound,
    type: z.literal('grounding'),
    entities: z.array(mention),
    corrections: z.array(correction),
    contrasts: z.array(contrast),
  }),
  /** A described emergency: shown beside the evidence and spoken first. */
  z.object({
    ...ofTurn,
    type: z.literal('notice'),
    kind: z.enum(['emergency', 'self_harm']),
    message: z.string(),
  }),
  z.object({
    ...ofRound,
    type: z.literal('answer.delta'),
    text: z.string(),
    evidenceIds: z.array(z.string()),
  }),
  z.object({
    ...ofRound,
    type: z.literal('answer.done'),
    answer: z.string(),
    contract: contractName,
    /** What the contract's parser read; null when the answer is invalid or there is none. */
    parsed: z.string().nullable(),
    valid: z.boolean(),
    abstained: z.boolean(),
    withheld: z.string().optional(),
    support,
    citations: z.array(citation),
  }),
  z.object({
    ...ofRound,
    type: z.literal('round.started'),
    query: z.string(),
    consumes: z.array(z.string()),
  }),
  z.object({ ...ofRound, type: z.literal('round.skipped'), reason: z.string() }),
  z.object({
    ...ofTurn,
    type: z.literal('turn.done'),
    stopReason,
    timings: turnTimings,
    traceId: z.string(),
  }),
  z.object({ ...ofTurn, type: z.literal('turn.cancelled'), reason: z.string(), replyTo: id.optional() }),
  z.object({
    ...stamped,
    type: z.literal('response.cancel.ignored'),
    reason: z.string(),
    replyTo: id.optional(),
  }),
  z.object({ ...stamped, type: z.literal('input.stalled'), silentMs: z.number() }),
  z.object({ ...stamped, type: z.literal('input.resumed'), stalledMs: z.number() }),
  z.object({ ...stamped, type: z.literal('input.paused'), turnId: z.string() }),
  z.object({ ...stamped, type: z.literal('gap'), ms: z.number() }),
  z.object({ ...stamped, type: z.literal('levels'), rms: z.number(), speechProbability: z.number() }),
  z.object({
    ...stamped,
    type: z.literal('error'),
    code: z.enum(ERROR_CODES),
    message: z.string(),
    retryable: z.boolean(),
    replyTo: id.optional(),
    turnId: z.string().optional(),
  }),
  z.object({ ...stamped, type: z.literal('pong'), replyTo: id.optional() }),
]);
export type ServerEvent = z.infer<typeof serverEvent>;
export type ServerEventType = ServerEvent['type'];
export type ServerEventOf<T extends ServerEventType> = Extract<ServerEvent, { type: T }>;

/** A server event before the session stamps it with `seq` and `atMs`. */
export type Unstamped<E> = E extends unknown ? Omit<E, 'seq' | 'atMs'> : never;
export type OutgoingEvent = Unstamped<ServerEvent>;

/** Events after which nothing more is said of a turn. */
export const TERMINAL_EVENTS = ['turn.rejected', 'turn.done', 'turn.cancelled'] as const;

/** Events that may be dropped, and are counted, when a reader is slow. */
export const DROPPABLE_EVENTS = ['levels', 'evidence.preview'] as const;
