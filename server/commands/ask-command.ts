import { answerBody } from '../../shared/answer-forms.js';
import type { ContractName, QueryMode, ServerEvent, ServerEventOf } from '../../shared/protocol.js';
import { PROTOCOL_VERSION } from '../../shared/protocol.js';
import { readAudioFile } from '../audio/audio-file.js';
import type { Clock } from '../clock.js';
import { AuscultError, toAuscultError } from '../errors.js';
import { openLiveClient, type LiveClient } from '../transport/live-client.js';

export interface AskOptions {
  readonly file: string;
  /** Full WebSocket address. */
  readonly url: string;
  readonly token?: string;
  readonly json: boolean;
  /** 1 is real time; 0 sends as fast as the socket takes it. */
  readonly speed: number;
  readonly queryMode?: QueryMode;
  readonly contract?: ContractName;
  readonly choices?: readonly string[];
  readonly clock: Clock;
  readonly print: (line: string) => void;
}

/** 0: answered or abstained; 2: rejected; 1: error. */
export type AskExit = 0 | 1 | 2;

const FRAME_MS = 20;
/** Length of a message when sound is sent faster than it was spoken: servers limit the number of messages a second. */
const FAST_FRAME_MS = 500;

/** Streams a recording to a server and prints what arrives until every turn that it began is over. */
export async function runAsk(options: AskOptions): Promise<AskExit> {
  const audio = await readAudioFile(options.file);
  const client = await openLiveClient({
    url: options.url,
    ...(options.token ? { token: options.token } : {}),
  });
  client.send({
    type: 'session.start',
    version: PROTOCOL_VERSION,
    audio: { codec: 'pcm16', rateHz: audio.rateHz, channels: 1 },
    ...(options.queryMode ? { queryMode: options.queryMode } : {}),
    ...(options.contract ? { contract: options.contract } : {}),
  });
  if (options.choices?.length) client.send({ type: 'turn.configure', choices: [...options.choices] });
  const streamed = stream(client, audio, options);
  try {
    return await follow(client, streamed, options);
  } finally {
    client.close();
    await streamed.catch(() => undefined);
  }
}

/** Sends the sound at the chosen speed, then says that the question is over. */
async function stream(
  client: LiveClient,
  audio: { samples: Float32Array; rateHz: number },
  options: AskOptions,
): Promise<void> {
  const { clock, speed } = options;
  const frameMs = speed > 0 && speed <= 4 ? FRAME_MS : FAST_FRAME_MS;
  const perFrame = Math.round((audio.rateHz * frameMs) / 1_000);
  const startedMs = clock.nowMs();
  for (let at = 0, frame = 0; at < audio.samples.length; at += perFrame, frame += 1) {
    await until(clock, speed > 0 ? startedMs + (frame * frameMs) / speed : clock.nowMs() + 2);
    client.sendAudio(toPcm16(audio.samples.subarray(at, at + perFrame)));
  }
  client.send({ type: 'input_audio.commit' });
}

function until(clock: Clock, momentMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(Math.max(0, momentMs - clock.nowMs()), resolve));
}

function toPcm16(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767));
}

async function follow(client: LiveClient, streamed: Promise<void>, options: AskOptions): Promise<AskExit> {
  const open = new Set<string>();
  let sent = false;
  const fault: { error: Error | null } = { error: null };
  let exit: AskExit | null = null;
  const describe = createNarrator();
  void streamed.then(() => (sent = true)).catch((error: unknown) => (fault.error = toAuscultError(error)));
  for await (const event of client.events) {
    if (fault.error) throw fault.error;
    if (options.json) options.print(JSON.stringify(event));
    else describe(event).forEach(options.print);
    if (event.type === 'turn.started') open.add(event.turnId);
    if (event.type === 'error' && event.turnId === undefined) return 1;
    const outcome = outcomeOf(event);
    if (outcome === null) continue;
    if ('turnId' in event && event.turnId) open.delete(event.turnId);
    // The last turn that was heard to its end decides; a superseded one says nothing.
    if (outcome !== 'cancelled') exit = exit === 0 && outcome === 2 ? 0 : outcome;
    if (sent && open.size === 0 && exit !== null) return exit;
  }
  throw new AuscultError('unreachable', {
    message: 'The server closed the connection before the turn was over.',
  });
}

function outcomeOf(event: ServerEvent): AskExit | 'cancelled' | null {
  if (event.type === 'turn.done') return event.stopReason === 'failed' ? 1 : 0;
  if (event.type === 'turn.rejected') return 2;
  return event.type === 'turn.cancelled' ? 'cancelled' : null;
}

/** Events as lines for a person. */
function createNarrator(): (event: ServerEvent) => string[] {
  return (event) => {
    switch (event.type) {
      case 'session.ready':
        return [...event.notices, `Listening (${event.config.queryMode}, ${event.config.speechEncoder}).`];
      case 'evidence':
        return describeEvidence(event);
      case 'transcript':
        return [`Heard as: ${event.text}`];
      case 'notice':
        return [`! ${event.message}`];
      case 'grounding':
        return [
          ...event.corrections.map(({ from, to }) => `Read "${from}" as "${to}".`),
          ...event.contrasts.map(({ a, b, kind }) => `Mind: ${a} / ${b} (${kind}).`),
        ];
      case 'answer.done':
        return describeAnswer(event);
      case 'round.started':
        return [`Round ${event.round}: looking again for ${event.query}`];
      case 'round.skipped':
        return [`Round ${event.round} was not worth an answer (${event.reason}).`];
      case 'turn.rejected':
        return [`Not taken as a question (${event.reason}): ${event.message}`];
      case 'turn.cancelled':
        return [`Cancelled (${event.reason}).`];
      case 'turn.done':
        return describeDone(event);
      case 'error':
        return [`Error ${event.code}: ${event.message}`];
      default:
        return [];
    }
  };
}

function describeEvidence(event: ServerEventOf<'evidence'>): string[] {
  const head = `Evidence, round ${event.round} (${event.sources.join(' + ')}):`;
  const lines = event.items.map(
    (item) =>
      `  ${item.rank}. [${item.id}] ${item.title} — ${item.text.slice(0, 100)}… (${item.rawScore.toFixed(2)})`,
  );
  return [head, ...lines];
}

function describeAnswer(event: ServerEventOf<'answer.done'>): string[] {
  if (event.withheld !== undefined) return [`Answer withheld: ${event.withheld}`];
  const text = answerBody(event.contract, event.answer).text;
  const cited = event.citations.map(({ evidenceId }) => `[${evidenceId}]`);
  return [
    `${event.abstained ? 'No answer' : 'Answer'}: ${text} ${[...new Set(cited)].join(' ')}`.trimEnd(),
    `  ${event.support.label}: ${event.support.reason}`,
  ];
}

function describeDone(event: ServerEventOf<'turn.done'>): string[] {
  const { timings } = event;
  const ms = (value: number | null) => (value === null ? '–' : `${Math.round(value)} ms`);
  return [
    `Done (${event.stopReason}): evidence ${ms(timings.firstEvidenceMs)} after the last sound, of which ${ms(timings.endpointWaitMs)} ` +
      `waiting for silence (${timings.endpointSetting}); answer ${ms(timings.firstAnswerMs)}; all ${ms(timings.doneMs)}. Trace ${event.traceId}.`,
  ];
}
