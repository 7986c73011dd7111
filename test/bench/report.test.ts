import { describe, expect, it } from 'vitest';
import {
  driftOf,
  mergeLogs,
  percentilesOf,
  processorsBusy,
  type TimedLook,
} from '../../bench/load-report.js';
import { readLook } from '../../bench/load-server.js';
import { emptyLog } from '../../bench/load-speaker.js';
import { plotPanels } from '../../bench/plot.js';
import { figure, formatTable, range } from '../../bench/table.js';
import { plain } from '../../bench/data.js';

const METRICS = `# HELP process_cpu_seconds_total Total
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 12.5
process_resident_memory_bytes 1048576
nodejs_heap_size_used_bytes 1000
nodejs_active_handles_total 9
process_open_fds 21
nodejs_eventloop_lag_p99_seconds 0.0125
auscult_refused_total{code="limit_exceeded"} 2
auscult_refused_total{code="unauthorised"} 1
`;

describe('what the server says of itself', () => {
  it('is read from its metrics, series of one name added up', () => {
    expect(readLook(METRICS)).toEqual({
      residentBytes: 1_048_576,
      heapBytes: 1_000,
      cpuSeconds: 12.5,
      handles: 9,
      openFiles: 21,
      loopP99Ms: 12.5,
      refused: 3,
      dropped: 0,
    });
  });

  it('is no figure where a metric is missing', () => {
    expect(readLook('').residentBytes).toBeNaN();
  });
});

describe('the load report', () => {
  const look = (change: Partial<TimedLook>): TimedLook => ({ ...readLook(METRICS), atMs: 0, ...change });

  it('puts what all speakers lived through together', () => {
    const one = { ...emptyLog(), asked: 2, answered: 1, rejected: { noise: 1 }, evidenceServerMs: [10] };
    const two = {
      ...emptyLog(),
      asked: 1,
      errors: { internal: 1 },
      rejected: { noise: 2 },
      evidenceServerMs: [30],
    };
    expect(mergeLogs([one, two])).toMatchObject({
      asked: 3,
      answered: 1,
      rejected: { noise: 3 },
      errors: { internal: 1 },
      evidenceServerMs: [10, 30],
    });
  });

  it('gives percentiles of what was measured, and none of nothing', () => {
    expect(percentilesOf([1, 2, 3])).toMatchObject({ n: 3, p50: 2 });
    expect(percentilesOf([])).toBeNull();
  });

  it('compares the last quarter with the first', () => {
    const looks = [10, 10, 11, 12, 12, 13, 14, 14].map((handles) => look({ handles }));
    expect(driftOf(looks, 'handles')).toBe(4);
  });

  it('counts processors by their time', () => {
    expect(processorsBusy(look({ cpuSeconds: 1 }), look({ cpuSeconds: 4, atMs: 2_000 }))).toBe(1.5);
  });
});

describe('printed results', () => {
  it('aligns columns, numbers to the right', () => {
    expect(
      formatTable(
        ['name', 'n'],
        [
          ['a', '5'],
          ['long', '12'],
        ],
      ),
    ).toBe('name   n\na      5\nlong  12');
  });

  it('shows a dash for what was not measured', () => {
    expect([figure(null), figure(Number.NaN), figure(0.5), range(null), range([0.1, 0.25], 2)]).toEqual([
      '–',
      '–',
      '0.500',
      '–',
      '[0.10, 0.25]',
    ]);
  });

  it('draws a line through what was measured and leaves the rest out', () => {
    const svg = plotPanels(
      [{ title: 'a < b', points: ['x', 'y', 'z'], series: [{ name: 's', values: [0, null, 1] }] }],
      'share',
    );
    expect(svg.match(/<circle/g)).toHaveLength(2);
    expect(svg).toContain('a &lt; b');
    expect(svg).not.toContain('NaN');
  });

  it('compares texts by their sound: case, accents and punctuation do not count', () => {
    expect(plain('Crohn’s disease: É-coli?')).toBe('crohns disease e coli');
  });
});
