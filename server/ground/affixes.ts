/** Beginnings that turn a word into its opposite or neighbour; one letter or two decide everything. */
const PREFIXES: ReadonlyArray<readonly [string, string]> = [
  ['hyper', 'hypo'],
  ['tachy', 'brady'],
  ['macro', 'micro'],
  ['inter', 'intra'],
  ['ab', 'ad'],
  ['af', 'ef'],
  ['ec', 'en'],
  ['ecto', 'endo'],
  ['exo', 'endo'],
  ['ante', 'anti'],
  ['pre', 'pro'],
  ['pre', 'post'],
  ['mono', 'poly'],
  ['uni', 'bi'],
  ['hemi', 'semi'],
  ['di', 'tri'],
  ['iso', 'aniso'],
  ['supra', 'infra'],
  ['super', 'sub'],
  ['para', 'peri'],
  ['ana', 'cata'],
  ['meso', 'meta'],
  ['eu', 'dys'],
  ['a', 'dys'],
  ['a', 'hyper'],
  ['a', 'hypo'],
];

/** Endings that name different things about the same part of the body. */
const SUFFIXES: ReadonlyArray<readonly [string, string]> = [
  ['tomy', 'stomy'],
  ['ectomy', 'otomy'],
  ['ectomy', 'ostomy'],
  ['itis', 'osis'],
  ['itis', 'oma'],
  ['emia', 'uria'],
  ['aemia', 'uria'],
  ['penia', 'cytosis'],
  ['ase', 'ose'],
  ['ol', 'one'],
  ['ate', 'ite'],
  ['ide', 'ine'],
];

/** A beginning or ending by which two words differ, everything else being equal. */
export interface Opposition {
  readonly a: string;
  readonly b: string;
}

/**
 * What tells two words apart when they differ by nothing but an opposing affix, such as `hyper-` and `hypo-`; null for any
 * other two words.
 */
export function oppositionOf(a: string, b: string): Opposition | null {
  for (const [x, y] of PREFIXES) {
    if (swaps(a, b, x, y)) return { a: `${x}-`, b: `${y}-` };
    if (swaps(a, b, y, x)) return { a: `${y}-`, b: `${x}-` };
  }
  for (const [x, y] of SUFFIXES) {
    if (a.endsWith(x) && b.endsWith(y) && a.slice(0, -x.length) === b.slice(0, -y.length))
      return { a: `-${x}`, b: `-${y}` };
    if (a.endsWith(y) && b.endsWith(x) && a.slice(0, -y.length) === b.slice(0, -x.length))
      return { a: `-${y}`, b: `-${x}` };
  }
  return null;
}

function swaps(a: string, b: string, x: string, y: string): boolean {
  return (
    a.startsWith(x) && b.startsWith(y) && a.length > x.length + 2 && a.slice(x.length) === b.slice(y.length)
  );
}
