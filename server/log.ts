import { pino, type Logger } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Structured logs. Speech, transcripts, prompts and tokens are never passed to it; these names are blanked all the same. */
export function createLog(level: string): Log {
  return pino({
    level,
    redact: {
      paths: ['token', 'authorization', 'text', 'transcript', 'prompt', 'answer', '*.token', '*.text'],
      censor: '(hidden)',
    },
  });
}
