import {
  ANSWER_PREFIX,
  choiceLetter,
  evidenceLabel,
  INSUFFICIENT_EVIDENCE,
  OPTION_PREFIX,
} from '../../shared/answer-forms.js';
import type { Prompt } from '../prompt/prompt.js';

/**
 * GBNF of a contract's answers for this prompt: only its letters, only its labels. The model may still be wrong, but what it says
 * parses, unless it runs into the limit of tokens.
 */
export function answerGrammar(prompt: Pick<Prompt, 'contract' | 'choices' | 'visible'>): string {
  switch (prompt.contract) {
    case 'exam': {
      const last = choiceLetter(Math.max(1, prompt.choices.length || 5) - 1);
      return `root ::= ${literal(OPTION_PREFIX)} [A-${last}]`;
    }
    case 'yes_no_maybe':
      return `root ::= ${literal(ANSWER_PREFIX)} ("yes" | "no" | "maybe")`;
    case 'open': {
      const labels = prompt.visible.map((_, index) => literal(evidenceLabel(index))).join(' | ');
      return [
        `root ::= ${literal(INSUFFICIENT_EVIDENCE)} | ${literal(ANSWER_PREFIX)} body ${literal('\nEvidence: [')} label (", " label)* "]"`,
        String.raw`body ::= [^ \n\r\[\]] [^\n\r\[\]]*`,
        `label ::= ${labels || literal(evidenceLabel(0))}`,
      ].join('\n');
    }
  }
}

function literal(text: string): string {
  return JSON.stringify(text);
}
