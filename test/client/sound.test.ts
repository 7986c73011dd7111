import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CaptureGraph } from '../../client/capture-graph.js';
import { FrameCutter, levelOf, toPcm16 } from '../../client/frame-cutter.js';
import { MicrophoneError, openMicrophone, type MicrophoneTrouble } from '../../client/microphone.js';
import { streamSample } from '../../client/sample-stream.js';
import { createFakeTimers } from '../fakes/fake-timers.js';

describe('cutting sound into frames', () => {
  it('gives the same frames however the sound is cut before', () => {
    const sound = Float32Array.from({ length: 1_000 }, (_, index) => Math.sin(index / 7));
    const cut = (pieces: Float32Array[]): number[] => {
      const out: number[] = [];
      const cutter = new FrameCutter(8_000, (frame) => out.push(...frame));
      pieces.forEach((piece) => cutter.push(piece));
      return out;
    };
    const whole = cut([sound]);
    expect(whole).toHaveLength(960);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), (size) => {
        const pieces = Array.from({ length: Math.ceil(1_000 / size) }, (_, index) =>
          sound.subarray(index * size, (index + 1) * size),
        );
        expect(cut(pieces)).toEqual(whole);
      }),
    );
  });

  it('makes 20 ms frames at the rates of devices', () => {
    expect(
      [16_000, 44_100, 48_000].map((rateHz) => new FrameCutter(rateHz, () => undefined).frameSamples),
    ).toEqual([320, 882, 960]);
  });

  it('clips what is too loud, and takes no number for silence', () => {
    expect([0, 1, -1, 3, -3, NaN].map(toPcm16)).toEqual([0, 32_767, -32_768, 32_767, -32_768, 0]);
  });

  it('shows silence as 0 and full loudness as 1', () => {
    expect(levelOf(new Int16Array(10))).toBe(0);
    expect(levelOf(new Int16Array(10).fill(32_767))).toBe(1);
  });
});

describe('a sample question', () => {
  it('is sent at the speed of speech, then silence, then it ends once', () => {
    const timers = createFakeTimers();
    const frames: Int16Array[] = [];
    let ends = 0;
    streamSample({
      samples: new Float32Array(4_000).fill(0.5),
      rateHz: 8_000,
      timers,
      onFrame: (frame) => frames.push(frame),
      onEnd: () => (ends += 1),
    });
    timers.pass(500);
    expect(frames).toHaveLength(25);
    expect(frames.every((frame) => frame[0] === 16_384)).toBe(true);
    timers.pass(60_000);
    expect([frames.length, ends]).toEqual([175, 1]);
    expect(frames.at(-1)?.[0]).toBe(0);
  });

  it('sends nothing after it was stopped', () => {
    const timers = createFakeTimers();
    let frames = 0;
    const stop = streamSample({
      samples: new Float32Array(8_000),
      rateHz: 8_000,
      timers,
      onFrame: () => (frames += 1),
      onEnd: () => undefined,
    });
    timers.pass(100);
    stop();
    timers.pass(60_000);
    expect(frames).toBe(5);
  });
});

class FakeTrack extends EventTarget {
  stopped = false;
  stop(): void {
    this.stopped = true;
  }
}

function setUp(grants: Array<FakeTrack | string>) {
  const timers = createFakeTimers();
  const troubles: Array<MicrophoneTrouble | null> = [];
  const frames: Int16Array[] = [];
  const connected: unknown[] = [];
  let state: CaptureGraph['state'] = 'running';
  let onFrame: (samples: Int16Array) => void = () => undefined;
  let onState = (): void => undefined;
  const stream = (track: FakeTrack) =>
    ({ getAudioTracks: () => [track], getTracks: () => [track] }) as unknown as MediaStream;
  const opened = openMicrophone({
    timers,
    onFrame: (samples) => frames.push(samples),
    onTrouble: (trouble) => troubles.push(trouble),
    devices: {
      getUserMedia: () => {
        const grant = grants.shift();
        if (grant instanceof FakeTrack) return Promise.resolve(stream(grant));
        return Promise.reject(new DOMException('', grant ?? 'NotFoundError'));
      },
    },
    createGraph: (_stream, heard) => {
      onFrame = heard;
      return Promise.resolve({
        rateHz: 44_100,
        get state() {
          return state;
        },
        onState: (listener) => (onState = listener),
        resume: () => {
          state = 'running';
          return Promise.resolve();
        },
        connect: (next) => connected.push(next),
        close: () => undefined,
      });
    },
  });
  const setState = (next: CaptureGraph['state']): void => {
    state = next;
    onState();
  };
  return { opened, timers, troubles, frames, connected, setState, hear: () => onFrame(new Int16Array(1)) };
}

describe('the microphone', () => {
  it('uses the rate of the device', async () => {
    expect((await setUp([new FakeTrack()]).opened).rateHz).toBe(44_100);
  });

  it.each([
    ['NotAllowedError', 'denied'],
    ['NotFoundError', 'none'],
    ['NotReadableError', 'busy'],
  ])('says of %s that it is %s', async (name, trouble) => {
    const fault = await setUp([name]).opened.catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(MicrophoneError);
    expect((fault as MicrophoneError).trouble).toBe(trouble);
  });

  it('reports two seconds without frames, and that they came back', async () => {
    const page = setUp([new FakeTrack()]);
    await page.opened;
    page.timers.pass(1_999);
    page.hear();
    page.timers.pass(1_999);
    expect(page.troubles).toEqual([]);
    page.timers.pass(1);
    page.hear();
    expect(page.troubles).toEqual(['silent', null]);
  });

  it('reports a suspended or interrupted sound, and resumes it', async () => {
    const page = setUp([new FakeTrack()]);
    const microphone = await page.opened;
    page.setState('interrupted');
    await microphone.resume();
    expect(page.troubles).toEqual(['suspended', null]);
  });

  it('asks for the device once more when it is unplugged, and gives up the second time', async () => {
    const [first, second] = [new FakeTrack(), new FakeTrack()];
    const page = setUp([first, second, new FakeTrack()]);
    await page.opened;
    first.dispatchEvent(new Event('ended'));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect([page.connected.length, page.troubles]).toEqual([1, []]);
    second.dispatchEvent(new Event('ended'));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect([page.connected.length, page.troubles]).toEqual([1, ['lost']]);
  });

  it('is lost when permission was withdrawn', async () => {
    const track = new FakeTrack();
    const page = setUp([track, 'NotAllowedError']);
    await page.opened;
    track.dispatchEvent(new Event('ended'));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(page.troubles).toEqual(['lost']);
  });

  it('lets go of the device when it stops, and says nothing after', async () => {
    const track = new FakeTrack();
    const page = setUp([track]);
    (await page.opened).stop();
    page.timers.pass(10_000);
    page.hear();
    expect([track.stopped, page.frames.length, page.troubles]).toEqual([true, 0, []]);
  });
});
