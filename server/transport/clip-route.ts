import { errorResponse, type HttpRoute } from './http-route.js';

/** A playable part of a recording. */
export interface ClipAudio {
  readonly bytes: Uint8Array;
  /** `audio/wav`, `audio/flac`, … */
  readonly mediaType: string;
}

/** `GET /v1/clips/:id`: a segment of a recording, with single byte ranges, without which some browsers do not play. */
export function createClipRoute(read: (id: string) => Promise<ClipAudio | null>): HttpRoute {
  return {
    method: 'GET',
    path: '/v1/clips/:id',
    scope: 'read',
    async handle(request, { params }) {
      const clip = await read(params.id ?? '');
      if (clip === null) return errorResponse(404, { code: 'not_found', message: 'There is no such clip.' });
      return clipResponse(clip, request.headers.get('range'));
    },
  };
}

function clipResponse(clip: ClipAudio, header: string | null): Response {
  const size = clip.bytes.byteLength;
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'content-type': clip.mediaType,
  };
  const range = header === null ? 'whole' : parseRange(header, size);
  if (range === 'whole') return new Response(new Uint8Array(clip.bytes), { headers });
  if (range === 'unsatisfiable') {
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${size}` } });
  }
  headers['content-range'] = `bytes ${range.start}-${range.end}/${size}`;
  return new Response(clip.bytes.slice(range.start, range.end + 1), { status: 206, headers });
}

/** One range with both ends included; several ranges or another unit are answered with the whole (RFC 9110, 14.2). */
export function parseRange(
  header: string,
  size: number,
): { readonly start: number; readonly end: number } | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header.trim());
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return 'whole';
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start >= size || start > end ? 'unsatisfiable' : { start, end };
}
