/** A described emergency or thoughts of self-harm: what people must be told before anything else. */
export interface SafetyNotice {
  readonly kind: 'emergency' | 'self_harm';
  readonly message: string;
}

/**
 * PORT. Looks for an emergency in a question.
 * Contract: never throws for any text; `text` is null in mode `speech`, where only the vector speaks; null means nothing found.
 */
export interface SafetyCheck {
  check(
    question: { readonly text: string | null; readonly vector: Float32Array },
    signal?: AbortSignal,
  ): Promise<SafetyNotice | null>;
}
