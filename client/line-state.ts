/** Why there is no session, for words.ts to say. */
export type LineTrouble =
  /** Nothing answers. */
  | { readonly kind: 'unreachable' }
  /** The server answers but is still loading; `waitingFor` are its own words. */
  | { readonly kind: 'not_ready'; readonly waitingFor: readonly string[] }
  /** The server answers, but no socket opens: a foreign origin, or a proxy without WebSockets. */
  | { readonly kind: 'turned_away' }
  /** The server closed the socket, or said why it will not begin. */
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string };

/** How the page stands with the server. */
export type LineState =
  /** `waitingFor`: the socket is open and the server still loads; its own words. */
  | { readonly kind: 'connecting'; readonly waitingFor?: readonly string[] }
  | { readonly kind: 'open' }
  /** It will try again by itself. */
  | { readonly kind: 'waiting'; readonly trouble: LineTrouble; readonly retryInMs: number }
  /** It will not try again before a person asks for it. */
  | { readonly kind: 'refused'; readonly trouble: LineTrouble };
