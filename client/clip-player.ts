import type { Clip } from '../shared/evidence.js';
import { el } from './dom.js';
import { seconds } from './words.js';

/** Plays the sound at an address; resolves when it begins, rejects when it cannot. Only one plays at a time. */
export type PlayClip = (url: string) => Promise<void>;

/** Buttons for a recorded piece of evidence and for what was said before and after it. */
export function createClipPlayer(clip: Clip, title: string, play: PlayClip): HTMLElement {
  const note = el('span', { class: 'clip-note', attributes: { role: 'status' } });
  const button = (label: string, name: string, url: string | null): HTMLButtonElement => {
    const made = el('button', {
      text: label,
      attributes: { type: 'button', 'aria-label': `${name} of “${title}”`, disabled: url === null },
      onClick: () => {
        note.textContent = '';
        if (url !== null) play(url).catch(() => (note.textContent = 'This recording cannot be played.'));
      },
    });
    return made;
  };
  const length = `${seconds(clip.endMs - clip.startMs)}${clip.speaker ? `, ${clip.speaker}` : ''}`;
  return el(
    'div',
    { class: 'clip', attributes: { role: 'group', 'aria-label': `Recording of “${title}”` } },
    [
      button('‹ before', 'Play what comes before', neighbourUrl(clip.url, clip.previousId)),
      button('▶ play', 'Play this part', clip.url),
      button('after ›', 'Play what comes after', neighbourUrl(clip.url, clip.nextId)),
      el('span', { class: 'clip-length', text: length }),
      note,
    ],
  );
}

/** The address of another clip beside this one's: the last part of the path is the id. */
export function neighbourUrl(url: string, id: string | undefined): string | null {
  return id === undefined ? null : url.replace(/[^/]*$/, () => encodeURIComponent(id));
}
