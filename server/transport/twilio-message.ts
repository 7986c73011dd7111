import { z } from 'zod';

/** Telephone sound: 8 kHz µ-law, one byte a sample, 20 ms a packet. */
export const TELEPHONE_RATE_HZ = 8_000;
export const BYTES_PER_MS = TELEPHONE_RATE_HZ / 1_000;
export const PACKET_MS = 20;
export const PACKET_BYTES = PACKET_MS * BYTES_PER_MS;
/** µ-law code of silence. */
export const MULAW_SILENCE = 0xff;

/** Numbers come as strings. */
const numeral = z.coerce.number().int().nonnegative();

/** What Twilio Media Streams sends (twilio.com/docs/voice/media-streams/websocket-messages); unknown fields are ignored. */
export const twilioMessage = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected') }),
  z.object({
    event: z.literal('start'),
    start: z.object({
      streamSid: z.string().min(1).max(128),
      mediaFormat: z
        .object({ encoding: z.string(), sampleRate: z.coerce.number(), channels: z.coerce.number() })
        .optional(),
    }),
  }),
  z.object({
    event: z.literal('media'),
    media: z.object({
      track: z.string().optional(),
      /** Milliseconds from the start of the stream. */
      timestamp: numeral,
      payload: z.base64(),
    }),
  }),
  z.object({ event: z.literal('mark'), mark: z.object({ name: z.string().max(128) }) }),
  z.object({ event: z.literal('dtmf'), dtmf: z.object({ digit: z.string().max(1) }) }),
  z.object({ event: z.literal('stop') }),
]);
export type TwilioMessage = z.infer<typeof twilioMessage>;

/** Reads one text message; null when it is none of the above. */
export function parseTwilioMessage(text: string): TwilioMessage | null {
  try {
    const parsed = twilioMessage.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
