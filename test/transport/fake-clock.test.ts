import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../fakes/fake-clock.js';

describe('the clock that tests turn by hand', () => {
  it('runs timers in the order of their times, each at its own time', async () => {
    const clock = createFakeClock();
    const ran: Array<[string, number]> = [];
    clock.after(30, () => ran.push(['c', clock.nowMs()]));
    clock.after(10, () => ran.push(['a', clock.nowMs()]));
    clock.after(10, () => ran.push(['b', clock.nowMs()]));
    await clock.advance(29);
    expect(ran).toEqual([
      ['a', 10],
      ['b', 10],
    ]);
    await clock.advance(1);
    expect(ran[2]).toEqual(['c', 30]);
  });

  it('runs a timer set by a promise that an earlier timer resolved, within one advance', async () => {
    const clock = createFakeClock();
    let doneAtMs = -1;
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
    void (async () => {
      await sleep(10);
      await Promise.resolve();
      await sleep(15);
      doneAtMs = clock.nowMs();
    })();
    await clock.advance(100);
    expect(doneAtMs).toBe(25);
    expect(clock.nowMs()).toBe(100);
  });

  it('forgets a cancelled timer', async () => {
    const clock = createFakeClock();
    let ran = false;
    const cancel = clock.after(5, () => (ran = true));
    expect(clock.pending).toBe(1);
    cancel();
    await clock.advance(10);
    expect([ran, clock.pending]).toEqual([false, 0]);
  });

  it('moves the calendar with it and refuses to go back', async () => {
    const clock = createFakeClock(1_000);
    await clock.advance(5);
    expect(clock.wallMs()).toBe(1_005);
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
  });
});
