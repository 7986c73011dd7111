import { AuscultError } from '../errors.js';

/** Bytes of one event at most; a stream without line ends must not grow in memory. */
const EVENT_BYTES = 1_048_576;

/**
 * `data` of the events of a Server-Sent Events stream (WHATWG HTML, section 9.2.6), however its bytes are cut: line ends CR, LF
 * or CRLF, comments and other fields skipped, several data lines joined by LF. An event that the end cuts off is given too:
 * some servers leave out the last blank line.
 * @throws AuscultError `generator_failed` for an event over 1 MiB
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  let data: string[] = [];
  const take = (lines: readonly string[]): string[] => {
    const events: string[] = [];
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) events.push(data.join('\n'));
        data = [];
      } else if (/^data(?::|$)/.test(line)) data.push(line.slice(5).replace(/^ /, ''));
    }
    return events;
  };
  for await (const bytes of chunks) {
    text += decoder.decode(bytes, { stream: true });
    // A CR at the very end may be half of a CRLF: it waits for the next piece.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    text = (lines.pop() ?? '') + held;
    if (text.length + data.reduce((sum, line) => sum + line.length, 0) > EVENT_BYTES) throw tooLarge();
    yield* take(lines);
  }
  yield* take([...(text + decoder.decode()).split(/\r\n|\n|\r/), '']);
}

function tooLarge(): AuscultError {
  return new AuscultError('generator_failed', {
    message:
      'The endpoint sent an event of more than 1 MiB; is the base URL that of an OpenAI-compatible API?',
  });
}
