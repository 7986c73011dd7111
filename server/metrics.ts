import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { OutgoingEvent } from '../shared/protocol.js';
import type { TurnTrace } from './trace/trace.js';

/** Counters of what happened, never of what was said. */
export interface Metrics {
  readonly registry: Registry;
  turn(trace: TurnTrace): void;
  event(event: OutgoingEvent): void;
  dropped(type: string): void;
  refused(code: string): void;
  sockets(open: number): void;
}

const SECONDS = [0.01, 0.02, 0.04, 0.06, 0.1, 0.2, 0.3, 0.5, 0.65, 1, 2, 5];

/** Metrics of one server; `collectDefaultMetrics` adds event-loop delay, memory and handles. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 10 });
  const registers = [registry];
  const turns = new Counter({
    name: 'auscult_turns_total',
    help: 'Turns by stop reason',
    labelNames: ['stop_reason'],
    registers,
  });
  const events = new Counter({
    name: 'auscult_events_total',
    help: 'Events sent by type',
    labelNames: ['type'],
    registers,
  });
  const errors = new Counter({
    name: 'auscult_errors_total',
    help: 'Error events by code',
    labelNames: ['code'],
    registers,
  });
  const drops = new Counter({
    name: 'auscult_events_dropped_total',
    help: 'Droppable events not sent',
    labelNames: ['type'],
    registers,
  });
  const refusals = new Counter({
    name: 'auscult_refused_total',
    help: 'Refused connections by code',
    labelNames: ['code'],
    registers,
  });
  const sockets = new Gauge({ name: 'auscult_sockets', help: 'Open sockets', registers });
  const evidence = new Histogram({
    name: 'auscult_evidence_after_end_seconds',
    help: 'From the declared end of speech to the first evidence',
    buckets: SECONDS,
    registers,
  });
  const generations = new Counter({
    name: 'auscult_generations_total',
    help: 'Calls of the generator',
    registers,
  });
  return {
    registry,
    turn(trace) {
      turns.inc({ stop_reason: trace.stopReason });
      generations.inc(trace.calls.generate);
      const ms = trace.timings.firstEvidenceAfterEndMs;
      if (ms !== null) evidence.observe(ms / 1_000);
    },
    event(event) {
      events.inc({ type: event.type });
      if (event.type === 'error') errors.inc({ code: event.code });
    },
    dropped: (type) => drops.inc({ type }),
    refused: (code) => refusals.inc({ code }),
    sockets: (open) => sockets.set(open),
  };
}
