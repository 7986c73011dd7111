import type { Contrast, Correction, Mention } from '../../shared/evidence.js';
import type { TextEncoder } from '../encode/text-encoder.js';
import { createEntityGrounder } from '../ground/entity-grounder.js';
import type { Grounder, Grounding } from '../ground/grounding.js';
import { loadTermList, shippedTermsFolder } from '../ground/term-list.js';
import type { EvidenceItem } from '../../shared/evidence.js';

export interface GroundOptions {
  readonly json: boolean;
  readonly print: (line: string) => void;
  /** Judges meaning beside spelling and sound; without one those two decide. */
  readonly textEncoder?: TextEncoder | null;
  /** Folder of the term lists; the shipped one by default. */
  readonly termsFolder?: string;
  /** A grounder that exists already, with the corpus's own terms; then the two above are not used. */
  readonly grounder?: Grounder;
}

/** What is printed: mentions, corrections and contrasts of one text, which is itself the evidence, under the id `text`. */
export interface GroundedText {
  readonly mentions: readonly Mention[];
  readonly corrections: readonly Correction[];
  readonly contrasts: readonly Contrast[];
}

const TEXT_ID = 'text';

/** `auscult ground`: which terms a text names, which words it most likely means otherwise, and how its terms relate. */
export async function runGround(text: string, options: GroundOptions): Promise<void> {
  const grounded = await groundText(text, options.grounder ?? (await openGrounder(options)));
  if (options.json) options.print(JSON.stringify(grounded));
  else for (const line of describe(grounded)) options.print(line);
}

async function openGrounder(options: GroundOptions): Promise<Grounder> {
  const terms = await loadTermList(options.termsFolder ?? shippedTermsFolder());
  return createEntityGrounder({ terms, textEncoder: options.textEncoder ?? null });
}

/** Reads the text as a question for its corrections, then the corrected text as evidence for its contrasts. */
export async function groundText(text: string, grounder: Grounder): Promise<GroundedText> {
  const asked = await grounder.ground({ evidence: [], queryText: text });
  const corrected = asked.corrections.reduce((whole, { from, to }) => whole.replaceAll(from, to), text);
  const read = await grounder.ground({ evidence: [asEvidence(corrected)] });
  return {
    mentions: asked.mentions.map((mention) => ({ ...mention, where: TEXT_ID })),
    corrections: asked.corrections,
    contrasts: joinContrasts(read, asked),
  };
}

/** Contrasts of the corrected text, and those between names that a misspelt word left undecided. */
function joinContrasts(read: Grounding, asked: Grounding): Contrast[] {
  const undecided = asked.contrasts.filter(
    (edge) => !read.contrasts.some((other) => other.a === edge.a && other.b === edge.b),
  );
  return [...read.contrasts, ...undecided].map((edge) => ({ ...edge, evidenceIds: [TEXT_ID] }));
}

function asEvidence(text: string): EvidenceItem {
  return {
    id: TEXT_ID,
    rank: 1,
    store: 'passages',
    documentId: TEXT_ID,
    title: '',
    text,
    score: 0,
    rawScore: 0,
    normalisedScore: 0,
    querySource: 'user_text',
    matchedWindow: null,
    span: { start: 0, end: text.length },
  };
}

function* describe({ mentions, corrections, contrasts }: GroundedText): Generator<string> {
  if (mentions.length + corrections.length + contrasts.length === 0) yield 'No known term.';
  for (const { text, term, termId } of mentions) yield `mention     ${text} = ${term} (${termId})`;
  for (const { from, to, score } of corrections) yield `correction  ${from} -> ${to} (${score.toFixed(2)})`;
  for (const { a, b, kind } of contrasts) yield `contrast    ${a} ${kind} ${b}`;
}
