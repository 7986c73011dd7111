import type { ContractName, EffectiveConfig, QueryMode, SessionStart } from '../shared/protocol.js';
import { effectiveVad } from './audio/profiles.js';
import { AuscultError } from './errors.js';

/** What the server offers a new session; the session may choose within it. */
export interface SessionDefaults {
  readonly queryMode: Exclude<QueryMode, 'text' | 'oracle'>;
  readonly contract: ContractName;
  readonly generator: string;
  readonly speechEncoder: string;
  readonly textEncoder: string;
  /** Whether mode `speech+words` can be had. */
  readonly transcriber: boolean;
  readonly deadlineMs: number;
}

export const DEFAULT_RETRIEVAL = { k: 8, fusion: 'zscore', maxRounds: 2 } as const;

/** `session.start` and the server's defaults → what holds, echoed in `session.ready`. */
export function settle(start: SessionStart, defaults: SessionDefaults): EffectiveConfig {
  return {
    profile: start.profile,
    audio: start.audio,
    queryMode: allowedMode(start.queryMode ?? defaults.queryMode, defaults),
    contract: start.contract ?? defaults.contract,
    retrieval: { ...DEFAULT_RETRIEVAL, ...definedOf(start.retrieval) },
    vad: effectiveVad(start.profile, start.vad ?? {}),
    speak: false,
    generator: defaults.generator,
    speechEncoder: defaults.speechEncoder,
    textEncoder: defaults.textEncoder,
  };
}

type Change = Pick<SessionStart, 'queryMode' | 'contract' | 'retrieval' | 'vad'>;

/** `turn.configure` on what holds already; what it leaves out stays. */
export function change(config: EffectiveConfig, wanted: Change, defaults: SessionDefaults): EffectiveConfig {
  return {
    ...config,
    queryMode: wanted.queryMode ? allowedMode(wanted.queryMode, defaults) : config.queryMode,
    contract: wanted.contract ?? config.contract,
    retrieval: { ...config.retrieval, ...definedOf(wanted.retrieval) },
    vad: wanted.vad ? effectiveVad(config.profile, { ...config.vad, ...wanted.vad }) : config.vad,
  };
}

function allowedMode(mode: QueryMode, defaults: SessionDefaults): QueryMode {
  if (mode === 'oracle') {
    throw new AuscultError('bad_message', {
      message: 'Query mode `oracle` is for benchmarks; choose speech, speech+words or text.',
    });
  }
  // Without a transcriber the sound alone still asks; the echo tells the client.
  return mode === 'speech+words' && !defaults.transcriber ? 'speech' : mode;
}

function definedOf<T extends object>(part: T | undefined): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
