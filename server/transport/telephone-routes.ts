import type { Limits } from '../../shared/limits.js';
import type { Clock } from '../clock.js';
import type { Refused } from './admission.js';
import type { Connection } from './connection.js';
import { errorResponse, type HttpRoute } from './http-route.js';
import { createTwilioConnection } from './twilio-connection.js';
import { isSignedByTwilio, twilioSignature } from './twilio-signature.js';
import type { UpgradeRoute } from './upgrades.js';

const STREAM_PATH = '/v1/telephony/twilio';
const VOICE_PATH = '/v1/telephony/voice';

export interface TelephoneOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  /** Auth token of the Twilio account, which signs every request. */
  readonly authToken: string;
  /** How Twilio reaches this server, `https://voice.example.org`: what is signed is the public address. */
  readonly publicUrl: string;
  onConnection(connection: Connection): void;
  onFault?(fault: unknown): void;
}

/** The webhook that answers a call and the socket that its sound comes over; both only for Twilio's signature. */
export function createTelephoneRoutes(options: TelephoneOptions): {
  readonly voice: HttpRoute;
  readonly stream: UpgradeRoute;
} {
  const base = options.publicUrl.replace(/\/+$/, '');
  return { voice: voiceRoute(options, base), stream: streamRoute(options, base) };
}

function voiceRoute(options: TelephoneOptions, base: string): HttpRoute {
  return {
    method: 'POST',
    path: VOICE_PATH,
    scope: null,
    async handle(request) {
      const parameters = [...new URLSearchParams(await request.text())];
      const { search } = new URL(request.url);
      const expected = twilioSignature(options.authToken, base + VOICE_PATH + search, parameters);
      if (!isSignedByTwilio(request.headers.get('x-twilio-signature'), expected)) {
        return errorResponse(403, { code: 'unauthorised', message: 'The signature is missing or wrong.' });
      }
      return new Response(voiceTwiml(base), { headers: { 'content-type': 'text/xml; charset=utf-8' } });
    },
  };
}

/** Tells Twilio to stream the call both ways, after the notice that a caller must hear. */
export function voiceTwiml(publicUrl: string): string {
  const url = escapeXml(publicUrl.replace(/^http/, 'ws') + STREAM_PATH);
  const notice =
    'This service reads out passages from texts. It is not medical advice. In an emergency, hang up and call for help.';
  return `<?xml version="1.0" encoding="UTF-8"?><Response><Say>${notice}</Say><Connect><Stream url="${url}"/></Connect></Response>`;
}

function streamRoute(options: TelephoneOptions, base: string): UpgradeRoute {
  const wsBase = base.replace(/^http/, 'ws');
  const refused: Refused = {
    ok: false,
    status: 403,
    closeCode: null,
    code: 'unauthorised',
    message: 'The signature is missing or wrong.',
  };
  return {
    path: STREAM_PATH,
    subprotocol: null,
    async admit(request, raw) {
      const given = raw.headers['x-twilio-signature'];
      const expected = twilioSignature(options.authToken, wsBase + STREAM_PATH + request.url.search, []);
      if (!isSignedByTwilio(typeof given === 'string' ? given : null, expected)) return refused;
      return { ok: true, address: request.address, subject: 'telephone', release: () => undefined };
    },
    open(socket, { address, subject }) {
      const { clock, limits } = options;
      const onFault = (fault: unknown): void => options.onFault?.(fault);
      options.onConnection(
        createTwilioConnection(socket, { clock, limits, onFault, peer: { address, subject } }),
      );
    },
  };
}

function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
