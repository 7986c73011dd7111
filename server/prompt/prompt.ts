import type { Contrast, EvidenceItem } from '../../shared/evidence.js';
import type { ContractName } from '../../shared/protocol.js';

/** A snippet exactly as the generator sees it; the only thing that may be cited. */
export interface VisibleEvidence {
  readonly id: string;
  readonly documentId: string;
  readonly title: string;
  /** At most 200 characters, cut at a word. */
  readonly snippet: string;
  readonly speechLinked: boolean;
}

export interface DroppedEvidence {
  readonly id: string;
  readonly reason: 'passage_limit' | 'speech_limit' | 'token_budget' | 'duplicate' | 'empty';
}

export interface Prompt {
  readonly contract: ContractName;
  /** The question's words; null in mode `speech`, where none exist. */
  readonly question: string | null;
  readonly choices: readonly string[];
  /** Unit vector of the question (sound or text), for generators that choose by similarity. */
  readonly questionVector: Float32Array;
  /** Visible evidence in order. */
  readonly visible: readonly VisibleEvidence[];
  readonly dropped: readonly DroppedEvidence[];
  readonly contrasts: readonly Contrast[];
  /** Instructions and evidence as chat messages. */
  readonly messages: ReadonlyArray<{ readonly role: 'system' | 'user'; readonly content: string }>;
  /** Tokens of all messages by the generator's tokenizer; at most 1,024. */
  readonly tokens: number;
  /** SHA-256 of the messages. */
  readonly hash: string;
}

export interface PromptInput {
  readonly contract: ContractName;
  readonly question: string | null;
  readonly choices: readonly string[];
  readonly questionVector: Float32Array;
  readonly evidence: readonly EvidenceItem[];
  readonly contrasts: readonly Contrast[];
}
