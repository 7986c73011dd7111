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
  /** New sockets a minute from one address: a page that reconnects needs few, a script that hammers gets 429. */
  connectionsPerMinute: 240,
  /** Invalid messages in a row before the socket is closed with 4400. */
  consecutiveBadMessages: 20,
  /** Consecutive undecodable frames before the socket is closed. */
  consecutiveDecodeErrors: 50,
  /** WebSocket fragments of one message; 0 bytes each cost nothing but processor time, so they are counted. */
  fragmentsPerMessage: 256,
  /** Frames a second from one socket: 20 ms frames are 50; a factor of eight, twice over in a burst, allows for a stall. */
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
  /** HTTP requests a minute from one address, the page's own files not counted. */
  requestsPerMinute: 1_200,
  /** Events kept to be replayed after a reconnection. */
  resumeEvents: 512,
  /** How long an interrupted session may be resumed, milliseconds. */
  resumeWindowMs: 30_000,
  /** Longest session, milliseconds. */
  sessionMs: 3_600_000,
  /** Sessions in all, those that wait for a resumption included. */
  sessions: 2_000,
  /** Sessions from one network address. */
  sessionsPerAddress: 64,
  /** A socket that has not sent `session.start` by then is closed with 4408, milliseconds. */
  startTimeoutMs: 5_000,
} as const;

export type Limits = { readonly [K in keyof typeof LIMITS]: number };
