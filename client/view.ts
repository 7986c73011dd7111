import type { PlayClip } from './clip-player.js';
import { byId, el, onChange, setText } from './dom.js';
import { createHistoryView } from './history-view.js';
import type { LineState } from './line-state.js';
import type { MicrophoneTrouble } from './microphone.js';
import { statusWords } from './status-words.js';
import { tracePath } from './trace-path.js';
import { createTurnSection } from './turn-section.js';
import type { Source, ViewState } from './view-state.js';
import { canResume, lineLabel, microphoneWords, troubleWords, wantsToken } from './words.js';

/** What people can do on the page. */
export interface ViewActions {
  retry(): void;
  giveToken(token: string): void;
  resumeMicrophone(): void;
  readonly playClip: PlayClip;
}

export interface View {
  render(state: ViewState): void;
  /** The latest loudness values, 0 … 1, oldest first; drawn at once, apart from the state. */
  drawLevels(levels: readonly number[]): void;
}

/** Renders states into the elements of index.html; a part is touched only when its share of the state changed. */
export function createView(actions: ViewActions): View {
  const current = createTurnSection(actions.playClip);
  byId('current').append(current.element);
  const showHistory = createHistoryView(byId('history'), actions.playClip);
  const showTrouble = createTroubleView(actions);
  const showLine = onChange((line: LineState) => {
    const pill = byId('line');
    setText(pill, lineLabel(line));
    pill.dataset['kind'] = line.kind;
  });
  const showSource = onChange((source: Source, isOpen: boolean, isBusy: boolean) => {
    const isOn = source.kind !== 'off';
    const ask = byId<HTMLButtonElement>('ask');
    ask.toggleAttribute('disabled', !isOpen && !isOn);
    setText(byId('ask-label'), isOn ? 'Stop' : 'Ask');
    document.body.dataset['source'] = source.kind;
    document.body.dataset['busy'] = String(isBusy);
  });
  const showMicrophone = createMicrophoneView(actions);
  const showNotices = onChange((notices: readonly string[]) => {
    byId('notices').replaceChildren(...notices.map((text) => el('li', { text })));
  });
  const showSettings = onChange(renderSettings);
  return {
    render(state) {
      const contract = state.config?.contract ?? 'open';
      setText(byId('status'), statusWords(state));
      showLine(state.line);
      showTrouble(state.line, state.problem);
      showSource(state.source, state.line.kind === 'open', state.turn !== null && state.turn.end === null);
      showMicrophone(state.micTrouble);
      showNotices(state.notices);
      showSettings(state.config);
      byId('welcome').hidden = state.turn !== null || state.preview.length > 0 || state.history.length > 0;
      document.body.dataset['speaking'] = String(state.isSpeaking);
      document.body.dataset['turn'] = String(state.turn !== null || state.preview.length > 0);
      current.update(state.turn, state.preview, contract);
      showHistory(state.history, contract);
    },
    drawLevels(levels) {
      const latest = levels.at(-1) ?? 0;
      byId('scope').style.setProperty('--level', latest.toFixed(3));
      document.querySelector('#live-trace path')?.setAttribute('d', tracePath(levels, 300, 44));
    },
  };
}

/** The banner: the line's trouble first, else what else went wrong. */
function createTroubleView(actions: ViewActions): (line: LineState, problem: string | null) => void {
  const banner = byId('trouble');
  return onChange((line: LineState, problem: string | null) => {
    const nodes: Node[] = [];
    if (line.kind === 'waiting' || line.kind === 'refused') {
      const again =
        line.kind === 'waiting' ? ` Trying again in ${String(Math.ceil(line.retryInMs / 1_000))} s.` : '';
      nodes.push(el('p', { text: `${troubleWords(line.trouble)}${again}` }));
      nodes.push(wantsToken(line) ? tokenForm(actions) : button('Try now', () => actions.retry()));
    } else if (problem !== null) nodes.push(el('p', { text: problem }));
    // While an attempt runs, the former words stay: an alert that blinks says nothing.
    if (line.kind === 'connecting' && problem === null && !banner.hidden) return;
    banner.replaceChildren(...nodes);
    banner.hidden = nodes.length === 0;
  });
}

function tokenForm(actions: ViewActions): HTMLElement {
  const input = el('input', {
    attributes: { type: 'password', id: 'token', autocomplete: 'off', required: true, spellcheck: 'false' },
  });
  const form = el('form', { class: 'token' }, [
    el('label', { text: 'Access token', attributes: { for: 'token' } }),
    input,
    el('button', { text: 'Connect', attributes: { type: 'submit' } }),
  ]);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    actions.giveToken(input.value.trim());
  });
  return form;
}

function createMicrophoneView(actions: ViewActions): (trouble: MicrophoneTrouble | null) => void {
  const element = byId('microphone');
  return onChange((trouble: MicrophoneTrouble | null) => {
    element.hidden = trouble === null;
    if (trouble === null) return element.replaceChildren();
    element.replaceChildren(
      el('p', { text: microphoneWords(trouble) }),
      ...(canResume(trouble) ? [button('Resume', () => actions.resumeMicrophone())] : []),
    );
  });
}

function renderSettings(config: ViewState['config']): void {
  if (!config) return;
  for (const radio of document.querySelectorAll<HTMLInputElement>('input[name="mode"]'))
    radio.checked = radio.value === config.queryMode;
  byId<HTMLSelectElement>('contract').value = config.contract;
  setText(
    byId('engines'),
    `Ear ${config.speechEncoder}, texts ${config.textEncoder}, answers ${config.generator}, ${String(config.retrieval.k)} pieces of evidence, ${String(config.retrieval.maxRounds)} rounds at most.`,
  );
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  return el('button', { text, attributes: { type: 'button' }, onClick });
}
