/** A seeded source of numbers 0 … 1 (mulberry32), so that a calibration can be made again. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** `count` different items, in the order drawn. */
export function sample<T>(items: readonly T[], count: number, random: () => number): T[] {
  const pool = [...items];
  for (let at = 0; at < Math.min(count, pool.length); at += 1) {
    const other = at + Math.floor(random() * (pool.length - at));
    [pool[at], pool[other]] = [pool[other] as T, pool[at] as T];
  }
  return pool.slice(0, count);
}

const KEY_ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

/** One slip of the fingers: a letter left out, doubled, swapped with the next, or hit beside its key. */
export function mistype(word: string, random: () => number): string {
  const at = 1 + Math.floor(random() * (word.length - 1));
  const [before, letter, after] = [word.slice(0, at), word[at] as string, word.slice(at + 1)];
  switch (Math.floor(random() * 4)) {
    case 0:
      return before + after;
    case 1:
      return before + letter + letter + after;
    case 2:
      return after === '' ? before : before + (after[0] as string) + letter + after.slice(1);
    default:
      return before + besideKey(letter, random) + after;
  }
}

function besideKey(letter: string, random: () => number): string {
  const row = KEY_ROWS.find((keys) => keys.includes(letter)) ?? 'ei';
  const at = row.indexOf(letter);
  return row[Math.max(0, Math.min(row.length - 1, at + (random() < 0.5 ? -1 : 1)))] as string;
}

/** How sounds of English are written otherwise by someone who has only heard the word. */
const SOUND_SPELLINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/ph/, 'f'],
  [/y/, 'i'],
  [/c(?=[eiy])/, 's'],
  [/c(?=[aourlt])/, 'k'],
  [/ch(?=[lro])/, 'k'],
  [/ae/, 'e'],
  [/oe/, 'e'],
  [/^x/, 'z'],
  [/x/, 'ks'],
  [/^ps/, 's'],
  [/^pn/, 'n'],
  [/rrh/, 'r'],
  [/rh/, 'r'],
  [/th/, 't'],
  [/tion/, 'shun'],
  [/sion/, 'shun'],
  [/eu/, 'u'],
  [/qu/, 'kw'],
  [/([bdfglmnprst])\1/, '$1'],
  [/([aeiou])([lmnt])(?=[aeiou])/, '$1$2$2'],
  [/ine$/, 'een'],
  [/in$/, 'ine'],
  [/a(?=l$)/, 'e'],
  [/ia$/, 'ea'],
  [/ea/, 'ee'],
  [/i(?=[aou])/, 'ee'],
  [/o(?=r$)/, 'e'],
  [/e(?=[bcdfgmnpt][aeiou])/, 'i'],
  [/itis$/, 'itus'],
  [/s(?=[aeiou])/, 'z'],
  [/gi/, 'ji'],
];

/** Writes a word by ear: one or two of its sounds spelt otherwise. The word itself when no rule fits. */
export function misspellByEar(word: string, random: () => number): string {
  const fitting = sample(SOUND_SPELLINGS, SOUND_SPELLINGS.length, random).filter(([from]) => from.test(word));
  const changes = 1 + Math.floor(random() * 2);
  return fitting.slice(0, changes).reduce((heard, [from, to]) => heard.replace(from, to), word);
}
