import type { LineTrouble } from './line-state.js';

/** Asks the server's readiness why a socket did not open: a browser hides the reason of a refused upgrade from its page. */
export async function probeReadiness(get: typeof fetch = fetch): Promise<LineTrouble> {
  try {
    const response = await get('/readyz', { cache: 'no-store' });
    if (response.ok) return { kind: 'turned_away' };
    const body: unknown = await response.json().catch(() => null);
    return { kind: 'not_ready', waitingFor: waitingOf(body) };
  } catch {
    return { kind: 'unreachable' };
  }
}

function waitingOf(body: unknown): string[] {
  const list = typeof body === 'object' && body !== null && 'waitingFor' in body ? body.waitingFor : [];
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}
