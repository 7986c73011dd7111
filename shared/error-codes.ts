/** Codes of `error` events, of thrown errors and of command-line failures. Stable: clients may branch on them. */
export const ERROR_CODES = [
  'aborted',
  'answer_failed',
  'audio_before_ready',
  'audio_rate_changed',
  'bad_message',
  'config_invalid',
  'decode_failed',
  'file_unreadable',
  'generator_failed',
  'index_corrupt',
  'index_missing',
  'ingest_failed',
  'internal',
  'limit_exceeded',
  'model_corrupt',
  'model_missing',
  'not_audio',
  'not_found',
  'port_in_use',
  'resume_refused',
  'start_timeout',
  'unauthorised',
  'unknown_type',
  'unreachable',
  'unsupported_audio',
  'unsupported_version',
  'wrong_state',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why a piece of sound did not become a question. */
export const REJECTION_REASONS = ['too_short', 'noise', 'no_evidence', 'max_duration', 'stalled'] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** WebSocket close codes that the server uses, with their meaning. */
export const CLOSE_CODES = {
  normal: 1000,
  draining: 1001,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  tooSlow: 1013,
  badMessage: 4400,
  unauthorised: 4401,
  startTimeout: 4408,
  replaced: 4409,
  limited: 4429,
} as const;
export type CloseCode = (typeof CLOSE_CODES)[keyof typeof CLOSE_CODES];
