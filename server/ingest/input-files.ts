import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { AuscultError } from '../errors.js';

/** Something that was not read, where, and why. `line` counts from 1. */
export interface Problem {
  readonly path: string;
  readonly line?: number;
  readonly reason: string;
}

export interface InputFile {
  /** Absolute, without links. */
  readonly path: string;
  /** Relative to the folder that was given, with slashes; the name alone for a single file. */
  readonly name: string;
  /** Lower case, with the dot. */
  readonly extension: string;
  readonly bytes: number;
}

/** Deeper folders are more likely a mistake than a library. */
const DEEPEST_FOLDER = 16;
/** Files of one ingest. */
const MOST_FILES = 1_000_000;

export function problemError(problem: Problem, cause?: unknown): AuscultError {
  const place = problem.line === undefined ? problem.path : `${problem.path}:${problem.line}`;
  return new AuscultError('ingest_failed', {
    message: `${place}: ${problem.reason} Correct it, or let bad input be skipped and counted (--skip-bad-lines).`,
    cause,
  });
}

/**
 * The files of a path: itself, or all below a folder in the order of their names. Symbolic links inside a folder are not
 * followed (they may lead out of it) and are told to `onSkip`, as are files that `accepts` refuses; READMEs and hidden files are
 * left out. Throws `file_unreadable` for a path that is not there.
 */
export async function listInputFiles(
  path: string,
  options: { readonly accepts: (extension: string) => boolean; readonly onSkip: (problem: Problem) => void },
): Promise<InputFile[]> {
  const root = await realpath(path).catch((cause: unknown) => {
    throw new AuscultError('file_unreadable', {
      message: `${path} cannot be read: check the path and its permissions.`,
      cause,
    });
  });
  const found = await stat(root);
  if (found.isFile()) {
    return [{ path: root, name: basename(root), extension: extname(root).toLowerCase(), bytes: found.size }];
  }
  const files: InputFile[] = [];
  await walk(root, 0);
  return files;

  async function walk(folder: string, depth: number): Promise<void> {
    if (depth > DEEPEST_FOLDER) throw problemError({ path: folder, reason: 'The folders are too deep.' });
    const names = (await readdir(folder)).sort();
    for (const name of names) {
      if (name.startsWith('.') || /^readme(\.|$)/i.test(name)) continue;
      await visit(join(folder, name), depth);
    }
  }

  async function visit(child: string, depth: number): Promise<void> {
    const status = await lstat(child);
    const extension = extname(child).toLowerCase();
    if (status.isSymbolicLink()) options.onSkip({ path: child, reason: 'Links are not followed.' });
    else if (status.isDirectory()) await walk(child, depth + 1);
    else if (!status.isFile() || !options.accepts(extension)) {
      options.onSkip({ path: child, reason: 'This kind of file is not read.' });
    } else {
      const name = relative(root, child).split(sep).join('/');
      files.push({ path: child, name, extension, bytes: status.size });
      if (files.length > MOST_FILES) throw problemError({ path, reason: `More than ${MOST_FILES} files.` });
    }
  }
}

/**
 * The file that a line of `listPath` names, absolute. Throws RangeError when it is absolute, leads out of the list's folder (also
 * through a link), or is not there.
 */
export async function resolveBeside(listPath: string, named: string): Promise<string> {
  const folder = await realpath(dirname(listPath));
  const wanted = resolve(folder, named);
  const isInside = (path: string) => path.startsWith(folder + sep);
  if (!isInside(wanted)) throw new RangeError(`"${named}" leads out of the folder of the list.`);
  const found = await realpath(wanted).catch(() => {
    throw new RangeError(`"${named}" is not there.`);
  });
  if (!isInside(found))
    throw new RangeError(`"${named}" is a link that leads out of the folder of the list.`);
  return found;
}
