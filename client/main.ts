import { LiveConnection, type SocketLike } from './connection.js';
import { createAsking } from './asking.js';
import { byId, el } from './dom.js';
import { probeReadiness } from './readiness.js';
import { createSoundOutput } from './sound-output.js';
import { browserTimers } from './timers.js';
import { createView } from './view.js';
import { initialState, reduce, type Action } from './view-state.js';

/** Wires the page: actions → state → view; the connection, the microphone and the keyboard make actions. */

const TOKEN_KEY = 'auscult.token';
let state = initialState;
let isDrawn = true;

function dispatch(action: Action): void {
  state = reduce(state, action);
  if (!isDrawn) return;
  isDrawn = false;
  // Several events of one message are drawn once.
  queueMicrotask(() => {
    isDrawn = true;
    view.render(state);
  });
}

const readToken = (): string | null => sessionStorage.getItem(TOKEN_KEY);
const output = createSoundOutput(readToken);
const connection = new LiveConnection({
  url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/live`,
  token: readToken,
  wish: () => ({
    profile: 'browser',
    audio: { codec: 'pcm16', rateHz: asking.rateHz, framing: 'framed' },
    ...asking.wish,
  }),
  // A WebSocket has all of it; its handlers only know their `this` more narrowly.
  openSocket: (url, protocols) => new WebSocket(url, protocols) as unknown as SocketLike,
  probe: () => probeReadiness(),
  timers: browserTimers,
});
const asking = createAsking({
  connection,
  dispatch,
  output,
  timers: browserTimers,
  state: () => state,
  drawLevels: (levels) => view.drawLevels(levels),
});
const view = createView({
  retry: () => connection.connect(),
  giveToken(token) {
    sessionStorage.setItem(TOKEN_KEY, token);
    connection.connect();
  },
  resumeMicrophone: () => void asking.resumeMicrophone(),
  playClip: (url) => output.play(url),
});

connection.onLine((line) => dispatch({ type: 'line', line }));
connection.onEvery((event) => dispatch({ type: 'event', event }));
byId('ask').addEventListener('click', () => void asking.toggle());
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !event.defaultPrevented) asking.cancel();
});
byId<HTMLFormElement>('typed').addEventListener('submit', (event) => {
  event.preventDefault();
  const input = byId<HTMLInputElement>('typed-text');
  if (asking.askTyped(input.value.trim())) input.value = '';
});
byId('settings').addEventListener('change', (event) => {
  const { target } = event;
  if (target instanceof HTMLInputElement && target.name === 'mode')
    asking.configure({ queryMode: target.value === 'speech' ? 'speech' : 'speech+words' });
  if (target instanceof HTMLSelectElement)
    asking.configure({ contract: target.value === 'yes_no_maybe' ? 'yes_no_maybe' : 'open' });
  if (target instanceof HTMLInputElement && target.id === 'keep-listening')
    asking.keepListening = target.checked;
});
// Leaving the page, also into the browser's memory of pages, lets go of the microphone.
addEventListener('pagehide', () => {
  asking.stop();
  connection.leave();
});
addEventListener('pageshow', (event) => {
  if (event.persisted) connection.connect();
});
addEventListener('online', () => connection.connect());

void asking.loadSamples().then((samples) => {
  byId('samples').replaceChildren(
    ...samples.map((sample) =>
      el('li', {}, [
        el('button', {
          text: sample.text,
          attributes: { type: 'button', 'data-sample': sample.id },
          onClick: () => void asking.askSample(sample),
        }),
      ]),
    ),
  );
});
view.render(state);
connection.connect();
