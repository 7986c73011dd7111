import type { ErrorCode } from '../shared/error-codes.js';
import { LIMITS } from '../shared/limits.js';
import {
  PROTOCOL_VERSION,
  type ClientEvent,
  type EffectiveConfig,
  type OutgoingEvent,
} from '../shared/protocol.js';
import { createBargeIn } from './audio/barge-in.js';
import { createListener, type ListenerEvent } from './audio/listener.js';
import { windowTimes, windowsOf } from './audio/windower.js';
import type { Engines } from './engines.js';
import { AuscultError, toAuscultError } from './errors.js';
import type { Log } from './log.js';
import { createTurnDesk } from './refine/turn-desk.js';
import type { Question } from './refine/turn-types.js';
import { change, settle, type SessionDefaults } from './session-settings.js';
import { createSpeculation } from './speculation.js';
import type { TurnTrace } from './trace/trace.js';
import type { Connection } from './transport/connection.js';
import { createResumeBuffer } from './transport/resume-buffer.js';
import type { Heard, ResumableSession, SessionSeed } from './transport/session-registry.js';

export interface SessionOptions {
  readonly engines: Engines;
  readonly defaults: SessionDefaults;
  readonly log: Log;
  /** What every person must be told. */
  readonly notices: readonly string[];
  /** Hears every record and every event sent, for metrics and retention. */
  readonly observe: { turn(trace: TurnTrace): void; event(event: OutgoingEvent): void };
}

/**
 * One connection, top to bottom: sound is listened to, an utterance becomes a question, a question becomes a turn, a turn says
 * evidence and an answer. Events are numbered, kept for a peer that comes back, and sent.
 */
export function createSession(seed: SessionSeed, options: SessionOptions): ResumableSession {
  const { engines, defaults } = options;
  const { clock } = engines;
  const startedMs = clock.nowMs();
  const buffer = createResumeBuffer({ maxEvents: LIMITS.resumeEvents, maxCharacters: LIMITS.queuedBytes });
  let connection: Connection | null = null;
  let config: EffectiveConfig = settle(seed.start, defaults);
  let choices: readonly string[] = [];

  // ------------------------------------------------------------------------------------------ saying
  function say(event: OutgoingEvent): void {
    const stamped = buffer.stamp(event, clock.nowMs() - startedMs);
    options.observe.event(event);
    connection?.send(stamped);
  }

  function sayError(thrown: unknown, replyTo?: string): void {
    const { code, message, retryable, cause } = toAuscultError(thrown);
    if (code === 'internal') options.log.error({ sessionId: seed.sessionId, cause }, 'session error');
    say({ type: 'error', code, message, retryable, ...(replyTo === undefined ? {} : { replyTo }) });
  }

  function sayReady(resumed: boolean, missedEvents = 0): void {
    const { sessionId, resumeToken } = seed;
    const notices = [...options.notices];
    const limits = { ...LIMITS };
    say({
      type: 'session.ready',
      sessionId,
      resumeToken,
      resumed,
      missedEvents,
      version: PROTOCOL_VERSION,
      config,
      limits,
      notices,
    });
  }

  // ------------------------------------------------------------------------------------------ asking
  const desk = createTurnDesk({
    engines,
    sessionId: seed.sessionId,
    deadlineMs: defaults.deadlineMs,
    say,
    keep: options.observe.turn,
  });
  const speculation = createSpeculation(
    engines,
    () => config.retrieval,
    (items) => say({ type: 'evidence.preview', items }),
  );
  const bargeIn = createBargeIn();

  function askSpoken(event: Extract<ListenerEvent, { type: 'utterance' }>): void {
    const windows = windowsOf(event.samples.length);
    const question: Question = {
      kind: 'speech',
      windows: windowTimes(windows),
      samples: windows.map(({ startSample, endSample }) => event.samples.subarray(startSample, endSample)),
      encoded: speculation.take(event.samples),
    };
    desk.ask({ question, endpoint: event.endpoint, config, choices });
  }

  function askTyped(text: string, given: readonly string[]): void {
    const nowMs = clock.nowMs();
    const endpoint = { t0Ms: nowMs, declaredMs: nowMs, setting: 'none', decodeMs: 0 };
    desk.ask({ question: { kind: 'text', text }, endpoint, config, choices: given });
  }

  // ------------------------------------------------------------------------------------------ listening
  const listener = createListener({
    format: config.audio,
    vad: config.vad,
    clock,
    detector: engines.createVoiceDetector(),
    hear: (event) => hear(event),
  });

  /** What the ear says, in the order of sound. */
  function hear(event: ListenerEvent): void {
    switch (event.type) {
      case 'started':
        bargeIn.reset();
        return say({ type: 'speech.started', speechMs: event.speechMs });
      case 'level': {
        say({ type: 'levels', rms: event.rms, speechProbability: event.speechProbability });
        return interrupt(event.voicedMs);
      }
      case 'speculate':
        return speculation.begin(event.samples);
      case 'speculationDropped':
        return speculation.drop();
      case 'stopped': {
        if (bargeIn.stopped() === 'resume') desk.resume();
        return say({ type: 'speech.stopped', speechMs: event.speechMs, reason: event.reason });
      }
      case 'utterance':
        return desk.activeTurnId !== null && bargeIn.state !== 'cancelled'
          ? desk.reject('too_short', 'That was taken for a word beside the answer, which goes on.', config)
          : askSpoken(event);
      case 'rejected':
        speculation.drop();
        return desk.reject(event.reason, event.message, config);
      case 'gap':
        return say({ type: 'gap', ms: event.ms });
      case 'stalled':
        return say({ type: 'input.stalled', silentMs: event.silentMs });
      case 'resumed':
        return say({ type: 'input.resumed', stalledMs: event.stalledMs });
      case 'failed':
        return sayError(event.error);
    }
  }

  /** Speech over an answer first holds it back, then ends it. */
  function interrupt(voicedMs: number): void {
    if (desk.activeTurnId === null) return;
    const decision = bargeIn.speaking(voicedMs);
    if (decision === 'pause') desk.pause();
    if (decision === 'cancel') desk.cancel('barge_in');
  }

  // ------------------------------------------------------------------------------------------ obeying
  function obey(event: ClientEvent): void {
    switch (event.type) {
      case 'session.start':
        throw new AuscultError('wrong_state', {
          message: 'The session has begun; use turn.configure to change it.',
        });
      case 'input_audio.commit':
        return listener.commit();
      case 'input_audio.clear':
        return listener.clear();
      case 'question.text':
        return askTyped(event.text, event.choices ?? []);
      case 'turn.configure':
        config = change(config, event, defaults);
        choices = event.choices ?? choices;
        listener.configure(config.vad);
        return say({ type: 'session.configured', config, ...replyOf(event) });
      case 'response.cancel':
        return desk.cancel('client', { turnId: event.turnId, replyTo: event.id });
      case 'playback.progress':
        return;
      case 'ping':
        return say({ type: 'pong', ...replyOf(event) });
    }
  }

  return {
    attach(to, resume) {
      connection = to;
      if (!resume) return sayReady(false);
      const { events, gap } = buffer.replayAfter(resume.lastSeq);
      events.forEach((event) => to.send(event));
      sayReady(true, gap);
    },
    receive(incoming: Heard) {
      try {
        if (incoming.kind === 'audio') listener.push(incoming.bytes, incoming.frame);
        else if (incoming.kind === 'event') obey(incoming.event);
        else sayError(refusal(incoming.code, incoming.message), incoming.replyTo);
      } catch (error) {
        sayError(error, incoming.kind === 'event' ? incoming.event.id : undefined);
      }
    },
    detach() {
      // An utterance that was cut off ends by itself, when no sound has come for `vad.idleMs`.
      connection = null;
    },
    async end(reason) {
      speculation.drop();
      await listener.close();
      await desk.end(reason);
      connection = null;
    },
  };
}

function replyOf(event: { id?: string | undefined }): { replyTo?: string } {
  return event.id === undefined ? {} : { replyTo: event.id };
}

function refusal(code: ErrorCode, message: string): AuscultError {
  return new AuscultError(code, { message });
}
