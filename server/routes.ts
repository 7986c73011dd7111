import { readClip } from './audio/clip.js';
import type { House } from './compose.js';
import { createClipRoute } from './transport/clip-route.js';
import type { HttpRoute } from './transport/http-route.js';

/** What is answered over HTTP beside health, metrics and the page, once the house is loaded. */
export function createRoutes(loading: Promise<House>): HttpRoute[] {
  return [
    createClipRoute(async (id) => {
      const { engines } = await loading;
      const clip = engines.passages.byId(id)?.clip;
      return clip ? { bytes: await readClip(clip), mediaType: 'audio/wav' } : null;
    }),
  ];
}
