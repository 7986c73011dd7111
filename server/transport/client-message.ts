import { clientEvent, PROTOCOL_VERSION, type ClientEventType } from '../../shared/protocol.js';
import type { Incoming } from './connection.js';

const KNOWN_TYPES: ReadonlySet<string> = new Set<ClientEventType>(
  clientEvent.options.map((option) => option.shape.type.value),
);

/** Longest piece of a peer's own text that an error message gives back. */
const ECHO_CHARACTERS = 64;

/**
 * Reads one text message. Total: whatever the text, the answer is an event or says what is wrong with it, most telling
 * fault first: no JSON object → `bad_message`; type not ours → `unknown_type`; a start of another version →
 * `unsupported_version`; fields → `bad_message` with the path of the first one.
 */
export function parseClientMessage(text: string): Incoming & { kind: 'event' | 'invalid' } {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid('bad_message', 'A text message must be one JSON object.', undefined);
  }
  const { type, id, version } = value as Record<string, unknown>;
  if (typeof type !== 'string') return invalid('bad_message', 'The field `type` must be a string.', id);
  if (!KNOWN_TYPES.has(type)) {
    const shown = JSON.stringify(type.slice(0, ECHO_CHARACTERS));
    return invalid('unknown_type', `There is no event ${shown}; see docs/protocol.md.`, id);
  }
  if (type === 'session.start' && typeof version === 'number' && version !== PROTOCOL_VERSION) {
    return invalid('unsupported_version', `This server speaks version ${PROTOCOL_VERSION}.`, id);
  }
  const parsed = clientEvent.safeParse(value);
  if (parsed.success) return { kind: 'event', event: parsed.data };
  const issue = parsed.error.issues[0];
  const path = issue?.path.map(String).join('.').slice(0, ECHO_CHARACTERS) ?? '';
  return invalid(
    'bad_message',
    `${type}: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'invalid'}`,
    id,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Invalid = Incoming & { kind: 'invalid' };

function invalid(code: Invalid['code'], message: string, id: unknown): Invalid {
  // Only an id that a valid request could carry is given back.
  const replyTo = typeof id === 'string' && id.length >= 1 && id.length <= 128 ? id : undefined;
  return { kind: 'invalid', code, message, ...(replyTo === undefined ? {} : { replyTo }) };
}
