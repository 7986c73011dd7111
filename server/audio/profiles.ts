import type { ProfileName, VadSettings } from '../../shared/protocol.js';
import { vadSettings } from '../../shared/protocol.js';

/**
 * Voice-activity settings of each kind of connection. The browser's are the reference; a kiosk hears a room, so it asks for
 * more certainty and waits a little longer; a telephone band lowers the detector's certainty and its callers pause for longer.
 */
const VAD_DEFAULTS: Readonly<Record<ProfileName, VadSettings>> = {
  browser: {
    onThreshold: 0.5,
    offThreshold: 0.35,
    minSpeechMs: 100,
    preRollMs: 400,
    endSilenceMs: 500,
    speculateMs: 200,
    maxSegmentMs: 30_000,
    idleMs: 1_000,
    digits: false,
  },
  kiosk: {
    onThreshold: 0.6,
    offThreshold: 0.4,
    minSpeechMs: 150,
    preRollMs: 400,
    endSilenceMs: 600,
    speculateMs: 200,
    maxSegmentMs: 30_000,
    idleMs: 1_000,
    digits: false,
  },
  telephone: {
    onThreshold: 0.45,
    offThreshold: 0.3,
    minSpeechMs: 100,
    preRollMs: 400,
    endSilenceMs: 700,
    speculateMs: 250,
    maxSegmentMs: 30_000,
    idleMs: 1_500,
    digits: false,
  },
};

/** Values that were asked for; what is undefined keeps the profile's. */
export type VadWish = { readonly [K in keyof VadSettings]?: VadSettings[K] | undefined };

/**
 * The settings a session really uses: the profile's, changed by what was asked for, every number held within the range that
 * the protocol states, and `offThreshold` at most `onThreshold`. What comes out is echoed to the client.
 */
export function effectiveVad(profile: ProfileName, wish: VadWish = {}): VadSettings {
  return changedVad(VAD_DEFAULTS[profile], wish);
}

/** The same for a running session: what is not mentioned stays as it is. */
export function changedVad(current: VadSettings, wish: VadWish): VadSettings {
  const on = inRange('onThreshold', wish.onThreshold ?? current.onThreshold);
  return {
    onThreshold: on,
    offThreshold: Math.min(inRange('offThreshold', wish.offThreshold ?? current.offThreshold), on),
    minSpeechMs: whole('minSpeechMs', wish.minSpeechMs ?? current.minSpeechMs),
    preRollMs: whole('preRollMs', wish.preRollMs ?? current.preRollMs),
    endSilenceMs: whole('endSilenceMs', wish.endSilenceMs ?? current.endSilenceMs),
    speculateMs: whole('speculateMs', wish.speculateMs ?? current.speculateMs),
    maxSegmentMs: whole('maxSegmentMs', wish.maxSegmentMs ?? current.maxSegmentMs),
    idleMs: whole('idleMs', wish.idleMs ?? current.idleMs),
    digits: wish.digits ?? current.digits,
  };
}

type NumberSetting = Exclude<keyof VadSettings, 'digits'>;

/** The range is read from the protocol's schema, so that there is one statement of it. */
function inRange(name: NumberSetting, value: number): number {
  const { minValue, maxValue } = vadSettings.shape[name];
  const low = minValue ?? Number.NEGATIVE_INFINITY;
  return Number.isNaN(value) ? low : Math.min(Math.max(value, low), maxValue ?? Number.POSITIVE_INFINITY);
}

function whole(name: NumberSetting, value: number): number {
  return Math.round(inRange(name, value));
}
