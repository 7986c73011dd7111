import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Signature of a Twilio request: base64 of the HMAC-SHA1, keyed with the account's auth token, of the full public URL followed
 * by every form parameter, name and value, sorted by name (twilio.com/docs/usage/security). SHA-1 is Twilio's choice.
 */
export function twilioSignature(
  authToken: string,
  url: string,
  parameters: ReadonlyArray<readonly [string, string]>,
): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const signed = url + sorted.map(([name, value]) => name + value).join('');
  return createHmac('sha1', authToken).update(signed, 'utf8').digest('base64');
}

/** Whether a request carries the right signature; compared in constant time. */
export function isSignedByTwilio(
  signature: string | null | undefined,
  expected: ReturnType<typeof twilioSignature>,
): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(signature ?? ''), digest(expected));
}
