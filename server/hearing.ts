import type { EffectiveConfig, OutgoingEvent } from '../shared/protocol.js';
import { createBargeIn } from './audio/barge-in.js';
import type { ListenerEvent } from './audio/listener.js';
import { windowTimes, windowsOf } from './audio/windower.js';
import type { TurnDesk } from './refine/turn-desk.js';
import type { Speculation } from './speculation.js';

export interface Hearing {
  readonly say: (event: OutgoingEvent) => void;
  readonly sayError: (thrown: unknown) => void;
  readonly desk: TurnDesk;
  readonly speculation: Speculation;
  /** Gets the sound of a question, where it is kept. */
  readonly keepSound?: ((turnId: string, samples: Float32Array) => void) | undefined;
  readonly asking: () => { readonly config: EffectiveConfig; readonly choices: readonly string[] };
}

/** What becomes of what is heard, in the order of sound. */
export function createHearing({
  say,
  sayError,
  desk,
  speculation,
  keepSound,
  asking,
}: Hearing): (event: ListenerEvent) => void {
  const bargeIn = createBargeIn();
  let shownLevel = false;
  return (event) => {
    switch (event.type) {
      case 'started':
        bargeIn.reset();
        return say({ type: 'speech.started', speechMs: event.speechMs });
      case 'level': {
        // Every second window is enough for an eye: 16 a second.
        shownLevel = !shownLevel;
        if (shownLevel) say({ type: 'levels', rms: event.rms, speechProbability: event.speechProbability });
        // Speech over an answer first holds it back, then ends it.
        const decision = desk.activeTurnId === null ? 'none' : bargeIn.speaking(event.voicedMs);
        if (decision === 'pause') desk.pause();
        if (decision === 'cancel') desk.cancel('barge_in');
        return;
      }
      case 'speculate':
        return speculation.begin(event.samples);
      case 'speculationDropped':
        return speculation.drop();
      case 'stopped':
        if (bargeIn.stopped() === 'resume') desk.resume();
        return say({ type: 'speech.stopped', speechMs: event.speechMs, reason: event.reason });
      case 'utterance': {
        const { config, choices } = asking();
        if (desk.activeTurnId !== null && bargeIn.state !== 'cancelled') {
          speculation.drop();
          return desk.reject(
            'too_short',
            'That was taken for a word beside the answer, which goes on.',
            config,
          );
        }
        const windows = windowsOf(event.samples.length);
        const samples = windows.map(({ startSample, endSample }) =>
          event.samples.subarray(startSample, endSample),
        );
        const encoded = speculation.take(event.samples);
        const question = { kind: 'speech', windows: windowTimes(windows), samples, encoded } as const;
        const turnId = desk.ask({ question, endpoint: event.endpoint, config, choices });
        return keepSound?.(turnId, event.samples);
      }
      case 'rejected':
        speculation.drop();
        return desk.reject(event.reason, event.message, asking().config);
      case 'gap':
        return say({ type: 'gap', ms: event.ms });
      case 'stalled':
        return say({ type: 'input.stalled', silentMs: event.silentMs });
      case 'resumed':
        return say({ type: 'input.resumed', stalledMs: event.stalledMs });
      case 'failed':
        return sayError(event.error);
    }
  };
}
