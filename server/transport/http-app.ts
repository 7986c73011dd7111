import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Limits } from '../../shared/limits.js';
import { readPeerRequest } from './address.js';
import type { Admission } from './admission.js';
import { errorResponse, thrownResponse, type HttpRoute } from './http-route.js';
import { SECURITY_HEADERS } from './security-headers.js';
import type { StaticFiles } from './static-files.js';

export interface Readiness {
  readonly ready: boolean;
  /** What is still missing, for people: `loading the speech encoder`. */
  readonly waitingFor?: readonly string[];
}

/** The part of prom-client's Registry that is used. */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface HttpAppOptions {
  readonly limits: Limits;
  readonly admission: Admission;
  readonly trustProxy: boolean;
  readonly files: StaticFiles;
  readonly routes: readonly HttpRoute[];
  readonly metrics: MetricsText | null;
  readiness(): Readiness;
  /** Told of every error that is nobody's but ours. */
  onFault?(fault: unknown): void;
}

type Env = { Bindings: HttpBindings };

/** All that is answered over plain HTTP. */
export function createHttpApp(options: HttpAppOptions): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value);
  });
  app.onError((fault) => {
    options.onFault?.(fault);
    return thrownResponse(fault);
  });
  app.get('/healthz', (context) => context.json({ alive: true }));
  app.get('/readyz', (context) => {
    const readiness = options.readiness();
    return context.json(readiness, readiness.ready ? 200 : 503);
  });
  for (const route of [...metricsRoute(options.metrics), ...options.routes]) addRoute(app, route, options);
  app.get('*', (context) => serveFile(context, options.files));
  app.notFound(() => errorResponse(404, { code: 'not_found', message: 'There is nothing at this address.' }));
  return app;
}

function metricsRoute(metrics: MetricsText | null): HttpRoute[] {
  if (metrics === null) return [];
  return [
    {
      method: 'GET',
      path: '/metrics',
      scope: 'metrics',
      handle: async () =>
        new Response(await metrics.metrics(), { headers: { 'content-type': metrics.contentType } }),
    },
  ];
}

function addRoute(app: Hono<Env>, route: HttpRoute, options: HttpAppOptions): void {
  const limit = bodyLimit({
    maxSize: route.maxBodyBytes ?? options.limits.jsonMessageBytes,
    onError: () => errorResponse(413, { code: 'limit_exceeded', message: 'The request body is too big.' }),
  });
  app.on(route.method, route.path, limit, async (context) => {
    const request = readPeerRequest(context.env.incoming, options.trustProxy);
    if (route.scope === null) {
      return route.handle(context.req.raw, {
        params: context.req.param(),
        peer: { address: request.address, subject: null },
      });
    }
    const verdict = await options.admission.admitRequest(request, route.scope);
    if (!verdict.ok) {
      return errorResponse(
        verdict.status,
        { ...verdict, retryable: verdict.status === 429 },
        refusalHeaders(verdict.status),
      );
    }
    return route.handle(context.req.raw, { params: context.req.param(), peer: verdict });
  });
}

function refusalHeaders(status: number): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  return status === 429 ? { 'retry-after': '60' } : {};
}

async function serveFile(context: Context<Env>, files: StaticFiles): Promise<Response> {
  const file = files.find(new URL(context.req.url).pathname);
  if (file !== null) {
    return context.body(new Uint8Array(await file.read()), 200, {
      'content-type': file.mediaType,
      'cache-control': file.cacheControl,
    });
  }
  if (context.req.path === '/') {
    return errorResponse(404, { code: 'not_found', message: 'The page is not built; run `npm run build`.' });
  }
  return context.notFound();
}
