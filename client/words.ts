import { CLOSE_CODES } from '../shared/error-codes.js';
import type { Contrast, EvidenceItem, SupportLabel } from '../shared/evidence.js';
import type { QueryMode, StopReason } from '../shared/protocol.js';
import type { LineState, LineTrouble } from './line-state.js';
import type { MicrophoneTrouble } from './microphone.js';

/** What the page says, in plain words: one function for each kind of thing that the wire names by a code. */

const CLOSED: Readonly<Record<number, string>> = {
  [CLOSE_CODES.normal]: 'The server ended the session.',
  [CLOSE_CODES.draining]: 'The server is shutting down or restarting.',
  [CLOSE_CODES.policy]:
    'The server closed the connection because this page broke one of its rules. Reload the page.',
  [CLOSE_CODES.tooBig]: 'The server closed the connection because a message was too big. Reload the page.',
  [CLOSE_CODES.internal]: 'The server met an error of its own.',
  [CLOSE_CODES.tooSlow]: 'This connection was too slow to take what the server sent.',
  [CLOSE_CODES.badMessage]:
    'The server does not understand this page; it may be a newer version. Reload the page.',
  [CLOSE_CODES.unauthorised]: 'The server refused: it wants a valid access token.',
  [CLOSE_CODES.startTimeout]: 'The session took too long to begin.',
  [CLOSE_CODES.replaced]: 'This session was taken over by another window.',
  [CLOSE_CODES.limited]: 'The server has as many sessions as it takes.',
};

export function troubleWords(trouble: LineTrouble): string {
  switch (trouble.kind) {
    case 'unreachable':
      return 'The server cannot be reached. Is it running?';
    case 'not_ready':
      return trouble.waitingFor.length === 0
        ? 'The server is still getting ready.'
        : `The server is still getting ready: ${trouble.waitingFor.join(', ')}.`;
    case 'turned_away':
      return 'The server is running but opens no live connection for this page (its address may not be allowed).';
    case 'closed':
      if (trouble.code === CLOSE_CODES.limited && trouble.reason === 'too_long')
        return 'The session reached its longest time.';
      return CLOSED[trouble.code] ?? 'The connection broke.';
  }
}

/** The line in a word or two, for the corner of the page. */
export function lineLabel(line: LineState): string {
  if (line.kind === 'open') return 'Connected';
  if (line.kind === 'connecting') return line.waitingFor ? 'Getting ready' : 'Connecting';
  const { trouble } = line;
  if (trouble.kind === 'unreachable') return 'Not reachable';
  if (trouble.kind === 'not_ready') return 'Getting ready';
  if (trouble.kind === 'closed' && trouble.code === CLOSE_CODES.draining) return 'Shutting down';
  return line.kind === 'refused' || trouble.kind === 'turned_away' ? 'Refused' : 'Reconnecting';
}

export function wantsToken(line: LineState): boolean {
  return (
    line.kind === 'refused' &&
    line.trouble.kind === 'closed' &&
    line.trouble.code === CLOSE_CODES.unauthorised
  );
}

const MICROPHONE: Readonly<Record<MicrophoneTrouble, string>> = {
  insecure: 'A browser gives the microphone only to secure pages: open this one over https, or on localhost.',
  denied:
    'The microphone is not allowed for this page. Allow it in the browser’s address bar, then press the disc again.',
  none: 'No microphone was found. Plug one in, or type the question.',
  busy: 'The microphone is in use by another program. Close that, then press the disc again.',
  unsupported: 'This browser cannot capture sound here. Type the question, or try another browser.',
  suspended: 'The browser paused the sound, perhaps for a call.',
  silent: 'No sound has come from the microphone for two seconds.',
  muted: 'The microphone is muted by the system or a switch on the device.',
  lost: 'The microphone went away and could not be had again. Press the disc to start anew.',
};

export function microphoneWords(trouble: MicrophoneTrouble): string {
  return MICROPHONE[trouble];
}

/** Whether listening goes on, so that a press on “Resume” can help. */
export function canResume(trouble: MicrophoneTrouble): boolean {
  return trouble === 'suspended' || trouble === 'silent';
}

const SUPPORT: Readonly<Record<SupportLabel, string>> = {
  SUPPORTED: 'Supported by the evidence',
  PARTIAL: 'Partly supported',
  UNSUPPORTED: 'Not supported',
  UNSAFE: 'Withheld as unsafe',
};

export function supportWords(label: SupportLabel): string {
  return SUPPORT[label];
}

const SKIPPED: Readonly<Record<string, string>> = {
  no_gain: 'it found nothing nearer to the question, so the first answer stands',
  no_new_evidence: 'it found only what had been read already',
  no_terms: 'there were no further words to look up',
};

export function skippedWords(reason: string): string {
  return SKIPPED[reason] ?? reason.replaceAll('_', ' ');
}

const STOPPED: Readonly<Record<StopReason, string>> = {
  answered: 'Answered',
  abstained: 'No answer: the evidence does not carry one',
  max_rounds: 'Stopped after the last allowed round',
  no_gain: 'Stopped: another look brought nothing better',
  no_new_evidence: 'Stopped: another look brought nothing new',
  no_terms: 'Stopped: there was nothing further to look up',
  withheld: 'The answer is withheld',
  no_evidence: 'Nothing was found',
  cancelled: 'Cancelled',
  deadline: 'Stopped: it took too long',
  failed: 'Failed',
};

export function stopWords(reason: StopReason): string {
  return STOPPED[reason];
}

const CANCELLED: Readonly<Record<string, string>> = {
  client: 'You cancelled this question.',
  barge_in: 'You spoke again, so this answer was stopped.',
  draining: 'The server shut down before this question was finished.',
  deadline: 'This question took too long and was stopped.',
};

export function cancelledWords(reason: string): string {
  return CANCELLED[reason] ?? 'This question was stopped.';
}

const SOURCES: Readonly<Record<EvidenceItem['querySource'], string>> = {
  speech: 'by the sound of your question',
  user_text: 'by your words',
  asr: 'by the words heard',
  reference_oracle: 'by the reference text',
  generated_feedback: 'by words of the first round',
};

export function foundWords(item: EvidenceItem): string {
  // The first stretch is the only one of most questions and says nothing.
  const window = item.matchedWindow ? `, stretch ${String(item.matchedWindow + 1)}` : '';
  return `Found ${SOURCES[item.querySource]}${window}`;
}

export function storeWords(store: EvidenceItem['store']): string {
  return store === 'speech' ? 'Recording' : 'Passage';
}

/** How two terms relate: a sign between them, and the sign in words for those who hear the page. */
const CONTRASTS: Readonly<Record<Contrast['kind'], { readonly sign: string; readonly words: string }>> = {
  'differs-by': { sign: '≠', words: 'is not the same as' },
  'look-alike': { sign: '≠', words: 'looks like, but is not' },
  'synonym-of': { sign: '=', words: 'is another name of' },
  'subtype-of': { sign: '⊂', words: 'is a kind of' },
  'co-mentioned': { sign: '·', words: 'is named together with' },
};

export function contrastWords(kind: Contrast['kind']): { readonly sign: string; readonly words: string } {
  return CONTRASTS[kind];
}

export function modeWords(mode: QueryMode): string {
  if (mode === 'speech') return 'asked by sound alone';
  if (mode === 'speech+words') return 'asked by sound and words';
  return mode === 'text' ? 'asked in writing' : 'asked by reference';
}

/** Milliseconds as seconds with two places: `0.61 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

/** `1 piece`, `3 pieces`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${String(number)} ${number === 1 ? one : many}`;
}
