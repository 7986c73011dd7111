/**
 * Every bound that a peer can meet, in alphabetical order: its value and why it is that value.
 * The server enforces them; `session.ready` tells them to the client.
 */
export const LIMITS = {
  /** Largest binary message, bytes: two seconds of 16-bit mono at 16 kHz in one message, and room for 48 kHz float in 20 ms frames. */
  audioMessageBytes: 262_144,
  /** Sound accepted before `session.ready`, milliseconds; more is refused with `audio_before_ready`. */
  bufferedBeforeReadyMs: 2_000,
  /** Choices of one multiple-choice question; five is usual, twelve is generous. */
  choices: 12,
  /** Consecutive undecodable frames before the socket is closed. */
  consecutiveDecodeErrors: 50,
  /** Frames a second from one socket: 20 ms frames are 50; a factor of eight allows bursts after a stall. */
  framesPerSecond: 400,
  /** Longest silence written for a gap between timestamps, milliseconds. */
  gapFillMs: 5_000,
  /** A socket without any frame for two of these periods is gone, milliseconds. */
  heartbeatMs: 15_000,
  /** Longest JSON message, bytes. */
  jsonMessageBytes: 65_536,
  /** Longest typed question, characters: about 500 words, far more than the text encoder reads. */
  questionCharacters: 2_000,
  /** Bytes queued to one slow reader before it is closed with 1013. */
  queuedBytes: 4_194_304,
  /** Events kept to be replayed after a reconnection. */
  resumeEvents: 512,
  /** How long an interrupted session may be resumed, milliseconds. */
  resumeWindowMs: 30_000,
  /** Longest session, milliseconds. */
  sessionMs: 3_600_000,
  /** Sessions from one network address. */
  sessionsPerAddress: 64,
  /** A socket that has not sent `session.start` by then is closed with 4408, milliseconds. */
  startTimeoutMs: 5_000,
} as const;

export type Limits = { readonly [K in keyof typeof LIMITS]: number };
