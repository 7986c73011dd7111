import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { LIMITS } from '../shared/limits.js';
import { contractName, queryMode } from '../shared/protocol.js';
import { AuscultError } from './errors.js';

const days = (default_: number) => z.coerce.number().min(0).max(36_500).default(default_);
const list = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(',').map((part) => part.trim()))])
  .transform((parts) => parts.filter((part) => part !== ''));
const flag = z.union([
  z.boolean(),
  z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1'),
]);

/**
 * Every setting of the server. Precedence: command line, environment (`AUSCULT_` + the name in capitals with underscores),
 * configuration file, default. A bad value stops the start.
 */
export const configSchema = z
  .object({
    /** Address to listen on; anything but loopback needs tokens. */
    host: z.string().min(1).default('127.0.0.1'),
    /** TCP port; 0 takes any free one. */
    port: z.coerce.number().int().min(0).max(65_535).default(8787),
    /** Everything that the server writes lies here. */
    data: z.string().min(1).default('data'),
    /** Folder of the model files and their manifest. */
    models: z.string().min(1).default(''),
    /** Folder indexed on the first start; empty for none. */
    corpus: z.string().default(''),
    logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
    /** How a question by voice becomes a query, unless the session says otherwise. */
    queryMode: queryMode.exclude(['oracle', 'text']).default('speech+words'),
    contract: contractName.default('open'),
    generator: z.enum(['extractive', 'llama', 'openai']).default('extractive'),
    /** GGUF file or a name that `auscult models get` knows; for generator `llama`. */
    llamaModel: z.string().default('qwen2.5-0.5b'),
    /** For generator `openai`: base URL with its version path, model and key. */
    openaiBaseUrl: z.string().default(''),
    openaiModel: z.string().default(''),
    openaiApiKey: z.string().default(''),
    /** Threads of one ONNX run of the ear and of the text encoder; 0 lets the runtime choose. */
    encoderThreads: z.coerce.number().int().min(0).max(64).default(2),
    /** Windows of different sessions encoded in one run; 1 off: measured, a batch is not faster on two cores (bench encode). */
    encoderBatch: z.coerce.number().int().min(1).max(32).default(1),
    /** Longest time from question to answer; 0 waits for ever. */
    deadlineMs: z.coerce.number().int().min(0).max(600_000).default(60_000),
    /** Static tokens; none means open on loopback. */
    tokens: list.default([]),
    /** Secret that signs expiring tokens; empty for none. */
    tokenSecret: z.string().default(''),
    /** Origins allowed beside the server's own. */
    origins: list.default([]),
    /** Sessions from one address, and new connections from it a minute: raise them behind a proxy or for a load test. */
    sessionsPerAddress: z.coerce.number().int().min(1).max(100_000).default(LIMITS.sessionsPerAddress),
    connectionsPerMinute: z.coerce.number().int().min(1).max(1_000_000).default(LIMITS.connectionsPerMinute),
    maxSessions: z.coerce.number().int().min(1).max(100_000).default(LIMITS.sessions),
    /** Keep the sound of questions; off unless switched on. */
    retainAudio: flag.default(false),
    retainAudioDays: days(7),
    /** Days that traces (with transcripts, if any) are kept; 0 keeps none. */
    retainTraceDays: days(30),
    twilioAuthToken: z.string().default(''),
    /** Address that the telephone company reaches, for its signature and stream URL. */
    publicUrl: z.string().default(''),
  })
  .strict();

export type Config = z.infer<typeof configSchema>;

const SECRETS: ReadonlySet<string> = new Set(['openaiApiKey', 'tokens', 'tokenSecret', 'twilioAuthToken']);

/** The project's own folder: where package.json is, from sources and from the build alike. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new AuscultError('config_invalid', { message: 'package.json was not found above the server.' });
    folder = parent;
  }
  return folder;
}

/** Reads, in order of precedence, the given options, the environment and the file named by `config` or AUSCULT_CONFIG. */
export function loadConfig(
  options: Record<string, unknown> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { config: file, ...flags } = given;
  const path = typeof file === 'string' ? file : environment['AUSCULT_CONFIG'];
  const merged = { ...(path ? readConfigFile(path) : {}), ...fromEnvironment(environment), ...flags };
  const parsed = configSchema.safeParse(merged);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'configuration'}: ${issue.message}`,
    );
    throw new AuscultError('config_invalid', {
      message: `The configuration is wrong. ${faults.join('; ')}.`,
    });
  }
  return withFolders(parsed.data);
}

function withFolders(config: Config): Config {
  const root = packageRoot();
  return {
    ...config,
    data: resolve(config.data),
    models: config.models === '' ? join(root, 'models') : resolve(config.models),
    corpus:
      config.corpus === '' ? join(root, 'corpus') : config.corpus === 'none' ? '' : resolve(config.corpus),
  };
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of Object.keys(configSchema.shape)) {
    const value = environment[environmentName(name)];
    if (value !== undefined && value !== '') found[name] = value;
  }
  return found;
}

/** `encoderThreads` → `AUSCULT_ENCODER_THREADS`. */
export function environmentName(setting: string): string {
  return `AUSCULT_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function readConfigFile(path: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    throw new AuscultError('config_invalid', {
      message: `The configuration file ${path} is not a readable JSON object.`,
      cause,
    });
  }
}

/** The configuration for people to read: secrets only say whether they are set. */
export function printableConfig(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      name,
      SECRETS.has(name) ? (String(value) === '' ? '(not set)' : '(set)') : value,
    ]),
  );
}
