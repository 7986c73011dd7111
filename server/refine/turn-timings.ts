import type { RoundTiming, TurnTimings } from '../../shared/protocol.js';
import type { TurnContext } from './turn-types.js';

/** When the person fell silent and when that was noticed, on the session's clock. */
export interface Endpoint {
  /** The last voiced sample, or the arrival of a typed question. */
  readonly t0Ms: number;
  /** The moment at which the end was declared. */
  readonly declaredMs: number;
  /** Setting that made the wait, for instance `vad.endSilenceMs`. */
  readonly setting: string;
  /** Time spent decoding and resampling after t0. */
  readonly decodeMs: number;
}

const PARTS = [
  'retrieveSpeechMs',
  'retrieveTextMs',
  'fuseMs',
  'transcribeMs',
  'groundMs',
  'promptMs',
  'generateMs',
  'judgeMs',
] as const satisfies ReadonlyArray<keyof RoundTiming>;

/** A turn's durations; what no named part explains is `otherMs`, so that the parts add up to the whole. */
export function timingsOf(context: TurnContext, endpoint: Endpoint, nowMs: number): TurnTimings {
  const rounds = context.rounds.map((round) => round.timing);
  const sum = (part: (typeof PARTS)[number]) => rounds.reduce((total, round) => total + round[part], 0);
  const endpointWaitMs = Math.max(0, endpoint.declaredMs - endpoint.t0Ms);
  const encodeMs = context.encoding?.encodeMs ?? 0;
  const doneMs = Math.max(0, nowMs - endpoint.t0Ms);
  const named =
    endpointWaitMs + endpoint.decodeMs + encodeMs + PARTS.reduce((total, part) => total + sum(part), 0);
  const since = (momentMs: number | null, fromMs: number) => (momentMs === null ? null : momentMs - fromMs);
  return {
    endpointWaitMs,
    endpointSetting: endpoint.setting,
    decodeMs: endpoint.decodeMs,
    encodeMs,
    encodeSpeculative: context.encoding?.speculative ?? false,
    retrieveSpeechMs: sum('retrieveSpeechMs'),
    retrieveTextMs: sum('retrieveTextMs'),
    fuseMs: sum('fuseMs'),
    groundMs: sum('groundMs'),
    otherMs: doneMs - named,
    firstEvidenceMs: since(context.firstEvidenceMs, endpoint.t0Ms),
    firstEvidenceAfterEndMs: since(context.firstEvidenceMs, endpoint.declaredMs),
    firstAnswerMs: since(context.firstAnswerMs, endpoint.t0Ms),
    doneMs,
    rounds,
  };
}
