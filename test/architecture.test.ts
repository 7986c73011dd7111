import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

interface Import {
  readonly from: string;
  /** Path from the root for our own files, package name for others. */
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Stages in the order of flow: each may know the types of those before it. */
const STAGES = [
  'transport',
  'audio',
  'encode',
  'retrieve',
  'ground',
  'prompt',
  'generate',
  'refine',
  'speak',
  'trace',
  'ingest',
];

/** Files of server/ that belong to no stage: they compose, configure or tell the story. */
const isStory = (path: string): boolean =>
  /^server\/[^/]+\.ts$/.test(path) || /^server\/(commands|privacy)\//.test(path);

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(join(ROOT, path)).isDirectory()) return sources(path);
    return /\.ts$/.test(name) && !name.endsWith('.d.ts') ? [path] : [];
  });
}

function importsOf(path: string): Import[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  const found = [
    ...text.matchAll(/^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\s+from\s+)?'([^']+)'/gm),
    ...text.matchAll(/(\bnever\b)?(\bimport)\('([^']+)'\)/g),
  ];
  return found.map((match) => {
    const [, type, names = '', specifier = ''] = match;
    const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const allTypes =
      inner !== undefined &&
      inner
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean)
        .every((part) => part.startsWith('type '));
    const to = specifier.startsWith('.')
      ? relative(ROOT, join(ROOT, dirname(path), specifier)).replace(/\.js$/, '.ts')
      : packageOf(specifier);
    return { from: path, to, typeOnly: type !== undefined || allTypes };
  });
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

const stageOf = (path: string): string | null => /^server\/([^/]+)\//.exec(path)?.[1] ?? null;

const all = ['shared', 'server', 'client', 'bench'].flatMap(sources).flatMap(importsOf);
const ofServer = all.filter(({ from }) => from.startsWith('server/'));
const tell = ({ from, to }: Import): string => `${from} → ${to}`;

describe('the arrows of the house', () => {
  it('finds the imports that it judges', () => {
    expect(all.length).toBeGreaterThan(300);
    expect(all.map(tell)).toContain('server/session.ts → server/audio/listener.ts');
  });

  it('shared/ imports nothing of ours but itself', () => {
    const bad = all.filter(
      ({ from, to }) => from.startsWith('shared/') && /^(server|client|bench|test)\//.test(to),
    );
    expect(bad.map(tell)).toEqual([]);
  });

  it('client/ imports only shared/ and itself', () => {
    const bad = all.filter(({ from, to }) => from.startsWith('client/') && /^(server|bench|test)\//.test(to));
    expect(bad.map(tell)).toEqual([]);
  });

  it('server/ never imports client/, bench/ or test/, but for the command that runs a bench', () => {
    const bad = ofServer.filter(
      ({ from, to }) => /^(client|bench|test)\//.test(to) && from !== 'server/cli.ts',
    );
    expect(bad.map(tell)).toEqual([]);
  });

  it('a stage imports values only from itself, from shared/ and from errors and clock', () => {
    const allowed = (one: Import): boolean => {
      const [from, to] = [stageOf(one.from), stageOf(one.to)];
      if (isStory(one.from) || from === null || to === null || from === to || one.typeOnly) return true;
      // Only these call across stages.
      return ['server/refine/actors.ts', 'server/refine/decide-next.ts'].includes(one.from);
    };
    expect(ofServer.filter((one) => !allowed(one)).map(tell)).toEqual([]);
  });

  it('a stage knows the types of earlier stages only', () => {
    const bad = ofServer.filter((one) => {
      const [from, to] = [STAGES.indexOf(stageOf(one.from) ?? ''), STAGES.indexOf(stageOf(one.to) ?? '')];
      return (
        from >= 0 &&
        to > from &&
        !['server/refine/turn.ts', 'server/refine/turn-trace.ts', 'server/refine/turn-desk.ts'].includes(
          one.from,
        )
      );
    });
    expect(bad.map(tell)).toEqual([]);
  });

  it('a stage imports of the story only errors, clock, and the record of engines', () => {
    const bad = ofServer.filter(
      ({ from, to }) =>
        !isStory(from) &&
        /^server\/[^/]+\.ts$/.test(to) &&
        !['server/errors.ts', 'server/clock.ts', 'server/engines.ts'].includes(to),
    );
    expect(bad.map(tell)).toEqual([]);
  });

  it.each([
    ['ws', /^server\/transport\//],
    ['hono', /^server\/transport\//],
    ['@hono/node-server', /^server\/transport\//],
    ['xstate', /^server\/refine\//],
    ['usearch', /^server\/retrieve\/usearch-store\.ts$/],
    ['onnxruntime-node', /^server\/encode\/onnx-(session|runner)\.ts$/],
    ['better-sqlite3', /^server\/retrieve\/sqlite-/],
    ['node-llama-cpp', /^server\/generate\/llama-/],
    ['prom-client', /^server\/metrics\.ts$/],
    ['commander', /^server\/cli\.ts$/],
    ['pino', /^server\/log\.ts$/],
  ])('only its own file or folder imports %s', (name, where) => {
    const users = all.filter(({ to }) => to === name);
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter(({ from }) => !where.test(from)).map(tell)).toEqual([]);
  });

  it('only compose.ts and the commands name concrete engines', () => {
    const concrete =
      /^server\/\w+\/(onnx|usearch|silero|extractive|llama|openai|whisper|heuristic|rubric|entity|jsonl|sqlite|bm25|vector-retriever)[\w-]*\.ts$/;
    const bad = ofServer.filter(
      ({ from, to }) =>
        concrete.test(to) &&
        stageOf(from) !== stageOf(to) &&
        from !== 'server/compose.ts' &&
        !from.startsWith('server/commands/'),
    );
    expect(bad.map(tell)).toEqual([]);
  });

  it('only config.ts reads the environment', () => {
    const bad = [...sources('server'), ...sources('shared')].filter(
      (path) => path !== 'server/config.ts' && /process\.env\b/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(bad).toEqual([]);
  });

  it('a port has at most four members', () => {
    const ports = sources('server').filter((path) =>
      /^\s*\* PORT\./m.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(ports.length).toBeGreaterThanOrEqual(12);
    for (const path of ports) {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const body = /\* PORT\.[\s\S]*?export interface \w+ \{([\s\S]*?)\n\}/.exec(text)?.[1] ?? '';
      const members = body.match(/^ {2}(?:readonly )?\w+[(:?]/gm) ?? [];
      expect({ path, members: members.length <= 4 || members }).toEqual({ path, members: true });
    }
  });
});
