import type { Limits } from '../shared/limits.js';
import {
  PROTOCOL_VERSION,
  type ClientEvent,
  type EffectiveConfig,
  type OutgoingEvent,
} from '../shared/protocol.js';
import { createListener, type Listener } from './audio/listener.js';
import { EAR_RATE_HZ } from './audio/windower.js';
import type { Engines } from './engines.js';
import { AuscultError } from './errors.js';
import { createHearing, type Hearing } from './hearing.js';
import type { Log } from './log.js';
import { createTurnDesk, type TurnDesk } from './refine/turn-desk.js';
import { change, settle, type SessionDefaults } from './session-settings.js';
import type { Utterance } from './privacy/recordings.js';
import { createSessionVoice } from './session-voice.js';
import { createSpeculation } from './speculation.js';
import type { TurnTrace } from './trace/trace.js';
import type { Heard, ResumableSession, SessionSeed } from './transport/session-registry.js';

export interface SessionOptions {
  readonly engines: Engines;
  readonly defaults: SessionDefaults;
  readonly limits: Limits;
  readonly log: Log;
  /** What every person must be told. */
  readonly notices: readonly string[];
  /** Hears every record and every event sent, for metrics and retention. */
  readonly observe: {
    readonly turn: (trace: TurnTrace) => void;
    readonly event: (event: OutgoingEvent) => void;
    /** Hears the sound of every question, 16 kHz; given only where sound is kept. */
    readonly utterance?: (utterance: Utterance) => void;
  };
}

/**
 * One connection, top to bottom: sound is listened to, an utterance becomes a question, a question becomes a turn, a turn says
 * evidence and an answer.
 */
export function createSession(seed: SessionSeed, options: SessionOptions): ResumableSession {
  const { engines, defaults } = options;
  const told = { version: PROTOCOL_VERSION, limits: { ...options.limits }, notices: [...options.notices] };
  const { sessionId, resumeToken } = seed;
  const voice = createSessionVoice(options, sessionId);
  const { say } = voice;
  let config: EffectiveConfig = settle(seed.start, defaults);
  let choices: readonly string[] = [];

  const desk = createTurnDesk({
    engines,
    sessionId,
    deadlineMs: defaults.deadlineMs,
    say,
    keep: options.observe.turn,
  });
  const speculation = createSpeculation(engines, {
    settings: () => config.retrieval,
    preview: (items) => say({ type: 'evidence.preview', items }),
  });
  const listener = createListener({
    format: config.audio,
    vad: config.vad,
    clock: engines.clock,
    detector: engines.createVoiceDetector(),
    hear: createHearing({
      say,
      sayError: voice.sayError,
      desk,
      speculation,
      keepSound: soundKeeper(sessionId, options.observe.utterance),
      asking: () => ({ config, choices }),
    }),
  });

  /** What a client asks for. */
  function obey(event: ClientEvent): void {
    if (event.type === 'session.start') {
      throw new AuscultError('wrong_state', {
        message: 'The session has begun; use turn.configure to change it.',
      });
    }
    if (event.type === 'question.text') return askTyped(desk, engines.clock.nowMs(), { event, config });
    if (event.type === 'response.cancel')
      return desk.cancel('client', { turnId: event.turnId, replyTo: event.id });
    if (event.type === 'ping') return say({ type: 'pong', ...replyOf(event) });
    if (event.type !== 'turn.configure') return obeyListening(event, listener);
    config = change(config, event, defaults);
    choices = event.choices ?? choices;
    listener.configure(config.vad);
    say({ type: 'session.configured', config, ...replyOf(event) });
  }

  return {
    attach(connection, resume) {
      voice.attach(connection);
      // What was missed comes first: `seq` only ever grows.
      const missedEvents = resume ? voice.replay(resume.lastSeq) : 0;
      const facts = { sessionId, resumeToken, resumed: resume !== null, missedEvents, config };
      say({ type: 'session.ready', ...facts, ...told });
    },
    receive(incoming: Heard) {
      try {
        if (incoming.kind === 'audio') listener.push(incoming.bytes, incoming.frame);
        else if (incoming.kind === 'event') obey(incoming.event);
        else voice.sayError(new AuscultError(incoming.code, incoming), incoming.replyTo);
      } catch (error) {
        voice.sayError(error, incoming.kind === 'event' ? incoming.event.id : undefined);
      }
    },
    // An utterance that was cut off ends by itself, when no sound has come for `vad.idleMs`.
    detach: () => voice.detach(),
    async end(reason) {
      speculation.drop();
      await listener.close();
      await desk.end(reason);
      voice.detach();
    },
  };
}

type KeepUtterance = SessionOptions['observe']['utterance'];

function soundKeeper(sessionId: string, keep: KeepUtterance): Hearing['keepSound'] {
  return keep && ((turnId, samples) => keep({ sessionId, turnId, samples, rateHz: EAR_RATE_HZ }));
}

type Typed = Extract<ClientEvent, { type: 'question.text' }>;

function askTyped(
  desk: TurnDesk,
  nowMs: number,
  { event, config }: { event: Typed; config: EffectiveConfig },
): void {
  const endpoint = { t0Ms: nowMs, declaredMs: nowMs, setting: 'none', decodeMs: 0 };
  desk.ask({ question: { kind: 'text', text: event.text }, endpoint, config, choices: event.choices ?? [] });
}

function obeyListening(event: ClientEvent, listener: Listener): void {
  if (event.type === 'input_audio.commit') listener.commit();
  if (event.type === 'input_audio.clear') listener.clear();
}

function replyOf(event: { id?: string | undefined }): { replyTo?: string } {
  return event.id === undefined ? {} : { replyTo: event.id };
}
