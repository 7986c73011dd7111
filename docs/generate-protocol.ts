import { z } from 'zod';
import { CLOSE_CODES, ERROR_CODES, REJECTION_REASONS } from '../shared/error-codes.js';
import { LIMITS } from '../shared/limits.js';
import { clientEvent, DROPPABLE_EVENTS, serverEvent, TERMINAL_EVENTS } from '../shared/protocol.js';

interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

/** JSON Schema of both directions, made from shared/protocol.ts; a client's event as it is written, a server's as it is read. */
export function protocolSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'auscult.v1',
    $defs: {
      clientEvent: bare(z.toJSONSchema(clientEvent, { io: 'input' })),
      serverEvent: bare(z.toJSONSchema(serverEvent, { io: 'output' })),
    },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function bare(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
}

/** The page with its generated parts written anew; what stands between the markers is replaced, the rest is prose. */
export function protocolPage(page: string): string {
  const parts: Readonly<Record<string, string>> = {
    'client-events': eventsTable(clientEvent, 'input'),
    'server-events': eventsTable(serverEvent, 'output'),
    'terminal-events': TERMINAL_EVENTS.map((type) => `\`${type}\``).join(', '),
    'droppable-events': DROPPABLE_EVENTS.map((type) => `\`${type}\``).join(', '),
    'error-codes': ERROR_CODES.map((code) => `\`${code}\``).join(', '),
    'rejection-reasons': REJECTION_REASONS.map((reason) => `\`${reason}\``).join(', '),
    'close-codes': table(
      ['code', 'name'],
      Object.entries(CLOSE_CODES).map(([name, code]) => [String(code), name]),
    ),
    limits: table(
      ['limit', 'default'],
      Object.entries(LIMITS).map(([name, value]) => [`\`${name}\``, value.toLocaleString('en')]),
    ),
  };
  return Object.entries(parts).reduce((text, [name, body]) => {
    const marked = new RegExp(`(<!-- begin ${name} -->\\n)[\\s\\S]*?(<!-- end ${name} -->)`);
    if (!marked.test(text)) throw new Error(`docs/protocol.md has lost its markers for ${name}`);
    return text.replace(marked, (_all, begin: string, end: string) => `${begin}\n${body}\n\n${end}`);
  }, page);
}

function eventsTable(union: z.ZodType, io: 'input' | 'output'): string {
  const { oneOf = [], anyOf = [] } = z.toJSONSchema(union, { io }) as JsonSchema;
  const rows = [...oneOf, ...anyOf].map((event) => [
    `\`${String(event.properties?.type?.const)}\``,
    Object.entries(event.properties ?? {})
      .filter(([name]) => !['type', 'seq', 'atMs'].includes(name))
      .map(([name, schema]) => `\`${name}${event.required?.includes(name) ? '' : '?'}\` ${typeName(schema)}`)
      .join(', '),
  ]);
  return table(['event', 'fields'], rows);
}

function typeName(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map(String).join(' / ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeName).join(' or ');
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  return schema.type ?? 'any';
}

function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
