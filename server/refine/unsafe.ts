import { splitSentences } from '../../shared/sentences.js';

const AMOUNT = String.raw`\d+(?:[.,]\d+)?\s*(?:mg|mcg|µg|micrograms?|milligrams?|g|grams?|ml|millilit(?:er|re)s?|units?|iu|tablets?|pills?|capsules?|puffs?|drops?|doses?)\b`;
const COUNT = String.raw`(?:one|two|three|four|five|six|a|another|half a|all (?:of )?(?:the|your))\s+(?:tablets?|pills?|capsules?|puffs?|doses?|bottles?|injections?)\b`;
const MEDICINE = String.raw`(?:your|the|this|that|these|any|all)\s+(?:\w+\s+){0,2}(?:medicines?|medications?|drugs?|pills?|tablets?|insulin|treatment|dose|antibiotics?|antidepressants?|inhaler|blood thinners?|chemotherapy)\b`;

interface UnsafeRule {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** Order matters only for which reason is told. Each pattern is matched inside one sentence. */
const RULES: readonly UnsafeRule[] = [
  {
    pattern:
      /\b(?:how to|ways? (?:to|of)|you (?:can|could|should|may|might)|try|by|in order to|best to)\s+(?:\w+\s+){0,2}(?:kill(?:ing)? yourself|end(?:ing)? your life|taking? your own life|harm(?:ing)? yourself|overdos(?:e|ing)|poison(?:ing)? yourself)\b|\bpainless (?:way|death)\b|\benough to (?:kill|die)\b/i,
    reason: 'It helps with self-harm.',
  },
  {
    pattern:
      /\b(?:poison|drug|sedate|incapacitate)\s+(?:him|her|them|someone|somebody|a person|your (?:wife|husband|partner|mother|father|child|baby|boss|neighbou?r|friend)|people)\b|\bwithout (?:them|him|her|anyone) noticing\b|\buntraceable (?:poison|toxin)\b/i,
    reason: 'It helps to harm somebody.',
  },
  {
    pattern:
      /(?<!\bif you )\b(?:do not|don['’]t|no need to|need not|avoid|instead of|rather than) (?:call(?:ing)?|see(?:ing)?|go(?:ing)? to|seek(?:ing)?|visit(?:ing)?|tell(?:ing)?|consult(?:ing)?|contact(?:ing)?)\s+(?:\w+\s+){0,2}(?:ambulance|doctor|physician|hospital|emergency|help|911|112|999|specialist|medical)/i,
    reason: 'It keeps the reader from seeking help.',
  },
  {
    pattern:
      /(?<!\b(?:not|never|n['’]t)\s)\b(?:ignore|wait out|sleep off) (?:the |your |this |that )?(?:chest pain|bleeding|stroke|seizure|symptoms?|overdose)\b/i,
    reason: 'It keeps the reader from seeking help.',
  },
  {
    pattern:
      /^(?:(?:yes|so|well|then|clearly|it (?:seems|appears|looks like)|i (?:think|believe|am sure)|(?:this|that|it) means|based on [^,]{1,60}|from what you [^,]{1,60})(?:,? that)?,?\s+)*you(?:['’]re| are)? (?:(?:probably|likely|clearly|definitely|certainly|most likely|almost certainly) )*(?:have|got|suffer(?:ing)? from|diagnosed with|having)\s+(?!to\b|been\b|any\b|some\b|two\b|three\b|several\b|many\b|more\b|certain\b|relatives\b|options?\b|choices?\b|a question\b|questions\b|the right\b|access\b|concerns?\b|had\b|not\b|no\b)(?:a |an |the )?\p{L}{4,}/iu,
    reason: 'It diagnoses the reader.',
  },
  {
    pattern:
      /\b(?:your|the) (?:symptoms|results?|pain|rash|cough|test) (?:mean|means|show|shows|prove|proves|confirm|confirms) (?:that )?you\b|\bmy diagnosis\b|\byour diagnosis is\b/i,
    reason: 'It diagnoses the reader.',
  },
  {
    pattern: new RegExp(
      String.raw`(?:^|[.;:,!?]\s*|\b(?:you (?:should|must|need to|can|could|may|have to|ought to)|please|then|just|simply|and|i (?:recommend|advise|suggest|prescribe)(?: that)?(?: you)?)\s+)(?:now\s+|also\s+|immediately\s+)?(?:take|inject|swallow|use|apply|administer|give|drink|start(?: with| taking)?|begin(?: with| taking)?)\b[^.!?]{0,60}?\b(?:${AMOUNT}|${COUNT})`,
      'i',
    ),
    reason: 'It tells the reader what dose to take.',
  },
  {
    pattern:
      /\b(?:double|triple|halve|increase|raise|lower|reduce|skip|adjust) your (?:(?!risk|chance|need|level)\w+\s+){0,2}(?:dose|dosage|insulin|medicines?|medications?|tablets?|pills?)\b/i,
    reason: 'It tells the reader to change a dose.',
  },
  {
    pattern: new RegExp(
      String.raw`(?:^|[.;:,!?]\s*|\b(?:you (?:should|must|need to|can|could|may|have to|ought to)|please|then|just|simply|and|safely)\s+)(?:stop|quit|discontinue|start|begin|resume)\s+(?:taking\s+|using\s+|with\s+)?${MEDICINE}`,
      'i',
    ),
    reason: 'It tells the reader to start or stop a medicine.',
  },
];

/**
 * Why an answer must not be shown, or null. Rules, not a model: commands to the reader about doses and medicines, diagnoses of
 * the reader, help with harm, talking out of seeking help. Descriptions of what studies gave to patients are not commands. Works
 * on an unfinished answer too. False alarms are measured by bench/judge.ts on what health institutes write.
 */
export function unsafeReason(answer: string): string | null {
  const sentences = splitSentences(answer).map(({ text }) => text);
  return RULES.find(({ pattern }) => sentences.some((sentence) => pattern.test(sentence)))?.reason ?? null;
}
