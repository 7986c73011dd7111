/** What a question describes, judged by its words. */
export type DangerKind = 'emergency' | 'self_harm';

/**
 * Danger in words: a sign of an emergency that someone near has now, or somebody's wish to hurt themselves. General questions
 * (`is chest pain always a heart attack?`), denials, the past and exam vignettes are not meant. Total: any text has an answer.
 */
export function dangerInWords(text: string): DangerKind | null {
  const clauses = clausesOf(text);
  if (clauses.some(wishesHarm)) return 'self_harm';
  if (VIGNETTE.test(plain(text))) return null;
  return describesEmergency(clauses) ? 'emergency' : null;
}

/** Lower case, straight quotes, contractions written out: rules need not know both. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[’‘`]/g, "'")
    .replace(/\bcan'?t\b|\bcan not\b/g, 'cannot')
    .replace(/\bwon'?t\b/g, 'will not')
    .replace(/\b(do|does|did|is|are|was|has|have|would|should|could)n'?t\b/g, '$1 not')
    .replace(/\bi'?m\b/g, 'i am')
    .replace(/\b(he|she|it|there)'s\b/g, '$1 is')
    .replace(/\bi've\b/g, 'i have')
    .replace(/\bgonna\b/g, 'going to')
    .replace(/\bwanna\b/g, 'want to')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Sentences, and their parts around `but`: a denial holds for its own part. */
function clausesOf(text: string): string[] {
  return plain(text)
    .split(/[.!?;\n]+|\bbut\b/)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
}

// ------------------------------------------------------------------------------------------------ self-harm

const SELF = '(?:myself|himself|herself|themself|themselves)';
const HARM_WISHES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:kill|killing|hurt|hurting|harm|harming|cut|cutting|hang|hanging|shoot|shooting|drown) ${SELF}\\b`,
  ),
  /\b(?:end|ending|take|taking) (?:my|his|her|their) (?:own )?life\b/,
  /\b(?:want|wants|wish|wishes|going|plan|planning|ready|like|hope|hoping) (?:to (?:die|be dead)|i (?:was|were) dead)\b/,
  /\bi (?:wish|hope) i (?:was|were) (?:dead|never born)\b/,
  /\b(?:do|does) not want to (?:live|be alive|be here|wake up|go on)(?: anymore| any more| any longer)?$/,
  /\bno (?:reason|point) (?:to|in) (?:live|living|go on|going on)\b/,
  /\b(?:i am|feel|feeling|he is|she is) (?:\w+ )?suicidal\b/,
  /\bbetter off (?:dead|without me)\b/,
  /\b(?:commit|committing|attempt|attempting|attempted) suicide\b/,
  /\bend it all\b/,
];
const FIRST_OR_NEAR = /\b(?:i|me|my|mine|we|our|he|she|they|him|her)\b/;
/** Facts about others, or a denial close before the wish. */
const HARM_DENIED =
  /\b(?:(?:do|does|did|would|will) not (?:really )?(?:want|plan|wish|intend|think)|never (?:want|wanted|thought|felt|tried)|not (?:going to|planning|thinking|suicidal|feeling suicidal)|no (?:plan|plans|thoughts?|wish|intention))\b/;
const HARM_GENERAL =
  /\b(?:patients?|people|adolescents|teenagers|veterans|adults|persons|those who|rates? of|risk factors?|prevalence|percentage|statistics|medication|antidepressants?|by accident|accidentally)\b/;
const DENIED_LIFE = /\bnot want to (?:live|be alive|be here|wake up|go on)/;

function wishesHarm(clause: string): boolean {
  if (!HARM_WISHES.some((wish) => wish.test(clause)) || !FIRST_OR_NEAR.test(clause)) return false;
  if (HARM_GENERAL.test(clause) && !/\b(?:i am|i want|i will|i feel|my life)\b/.test(clause)) return false;
  return DENIED_LIFE.test(clause) || !HARM_DENIED.test(clause);
}

// ------------------------------------------------------------------------------------------------ emergencies

/** Signs as people say them. Each is looked for within one clause. */
const SIGNS: readonly RegExp[] = [
  /\bchest (?:\w+ ){0,3}(?:hurts?|hurting|pain|pains|tight|tightness|pressure|crushing|heavy|aches?|burning badly)\b/,
  /\b(?:pain|pressure|tightness|crushing|elephant) (?:\w+ ){0,3}(?:in|on|across) (?:\w+ )?chest\b/,
  /\b(?:cannot|could not|hardly|barely|unable to|struggling to|trouble|hard to|difficulty|stopped|not|fighting to) (?:\w+ )?(?:breathe|breathing)\b/,
  /\b(?:short of breath|gasping|choking|turning blue|turned blue|lips are blue)\b/,
  /\b(?:face|mouth) (?:\w+ ){0,3}(?:droop|drooping|drooped|droops|sagging)\b/,
  /\b(?:arm|leg|side|face) (?:\w+ ){0,4}(?:numb|weak|paralysed|paralyzed|will not move)\b|\bcannot (?:move|feel|lift) (?:my|his|her) (?:\w+ )?(?:arm|leg|side|face)\b/,
  /\b(?:speech is slurred|slurring|cannot (?:speak|talk)|suddenly cannot see|lost vision suddenly)\b/,
  /\bbleeding (?:\w+ ){0,3}(?:heavily|badly|a lot|out|everywhere|will not stop|does not stop)\b|\b(?:cannot stop|will not stop|losing a lot of) (?:the )?(?:bleeding|blood)\b|\bblood everywhere\b/,
  /\b(?:coughing|vomiting|throwing up|spitting) (?:up )?(?:\w+ )?blood\b/,
  /\b(?:passed out|unconscious|unresponsive|collapsed|not responding|will not wake|cannot wake|does not wake|fainted)\b/,
  /\b(?:having|has|had) (?:a|an) (?:\w+ )?(?:seizure|convulsion|fit)\b|\b(?:convulsing|seizing|having (?:seizures|convulsions))\b/,
  /\b(?:having|had|have) (?:a|an) (?:heart attack|stroke|anaphyla\w+|severe allergic reaction)\b/,
  /\b(?:overdosed|overdosing|overdose on|took too (?:many|much)|taken too (?:many|much)|took (?:the|a) whole (?:bottle|pack|box))\b/,
  /\b(?:swallowed|drank|ate|ingested) (?:\w+ ){0,5}(?:bleach|battery|batteries|poison|antifreeze|detergent|magnets?|pills)\b/,
  /\b(?:throat|tongue|airway) (?:\w+ ){0,2}(?:closing|swelling|swollen|swelled|tightening|tight)\b/,
  /\bworst headache\b/,
  /\b(?:is|went|gone) (?:limp|floppy)\b/,
  /\b(?:got|been|was|am) (?:stabbed|shot|electrocuted)\b|\b(?:is|nearly) drown(?:ing|ed)\b/,
];

const PERSON =
  /\b(?:i|me|my|we|our|he|she|him|they|someone|somebody|there is|baby|mom|mum|dad|grand(?:pa|ma|dad|father|mother)|(?:my|our|the) (?:\w+ )?(?:husband|wife|son|daughter|child|kid|mother|father|mum|mom|dad|friend|partner|grandmother|grandfather|colleague|neighbour|neighbor))\b/;
const OWN = /\b(?:i|me|my|we|our)\b/;
const NOW =
  /\b(?:now|right now|suddenly|just|currently|at the moment|since this morning|for (?:the last|an|the past)|minutes? ago|an hour ago|help|hurry|emergency|still|today|tonight)\b/;
const DENIED_BEFORE =
  /\b(?:no|not|never|without|denies|deny|free of|do not (?:have|feel)|does not (?:have|feel))(?: (?:any|a|have|having|had|feel|feeling))*$/;
const PAST =
  /\b(?:last (?:year|month|week|summer|winter)|years? ago|months? ago|weeks? ago|used to|as a child|when i was|in the past|history of|previous|once had|recovered|after (?:my|a|his|her))\b/;
const CONDITION = /\b(?:if|whenever|in case|when should|should i worry|can it|could it ever)\b/;
const ASKS_WHAT_TO_DO = /\bwhat (?:do|should|can|must) (?:i|we) do\b/;
/** Ordinary company of the same words: exercise, stairs, exams, hay fever. */
const MILD =
  /\b(?:exercise|exercising|running|run|workout|climb\w*|stairs|asleep|fell asleep|sore after|nervous|anxious before|laugh\w*|the movie|the book|study|studies|thesis|exam)\b/;
/** A case as textbooks tell it. */
const VIGNETTE =
  /\b(?:\d+[- ](?:year|month|week|day)s?[- ]old|(?:wo)?man|boy|girl|patient)\b[^.]*\b(?:presents?|presented|is brought|was brought|comes to|came to|admitted|is seen|history of|physician|emergency department)\b|\bwhich of the following\b|\bmost likely (?:diagnosis|cause)\b/;

function describesEmergency(clauses: readonly string[]): boolean {
  const whole = clauses.join(' . ');
  return clauses.some((clause) => {
    const sign = SIGNS.map((each) => each.exec(clause)).find((match) => match && !isDenied(clause, match));
    if (!sign || !PERSON.test(clause)) return false;
    const urgent = NOW.test(whole);
    if (isGeneral(clause) || (PAST.test(clause) && !/\b(?:now|right now|again|suddenly)\b/.test(whole)))
      return false;
    if (CONDITION.test(clause) && !urgent && !ASKS_WHAT_TO_DO.test(whole)) return false;
    return !MILD.test(clause) || urgent;
  });
}

/** `no chest pain`: the denial must stand right before the sign; `not breathing` is a sign of its own. */
function isDenied(clause: string, sign: RegExpExecArray): boolean {
  return DENIED_BEFORE.test(clause.slice(0, sign.index).trimEnd());
}

/** A question about the world: it begins as one and speaks of nobody near. */
function isGeneral(clause: string): boolean {
  const asks =
    /^(?:is|are|does|do|can|could|what|why|how|when|which|who|where|should|will|tell me|explain|define)\b/;
  if (!asks.test(clause)) return false;
  const about = clause.replace(
    /^(?:tell me|can i|do i|should i|could i|how (?:do|can|should) i|what (?:do|should|can) i do)\b/,
    '',
  );
  return (
    !OWN.test(about) &&
    !/\b(?:is|are|has) (?:he|she|they)\b|\b(?:he|she) is\b|\b(?:he|she) will not\b/.test(about)
  );
}
