import type { Clock } from '../clock.js';
import { BYTES_PER_MS, PACKET_BYTES, PACKET_MS } from './twilio-message.js';

/** Sound given to the line ahead of time, milliseconds: enough against jitter, little to throw away at a barge-in. */
const AHEAD_MS = 200;
/** A mark follows every so many milliseconds, and the end of the sound. */
const MARK_MS = 100;
/** The last answer is kept for "repeat", up to this length, milliseconds. */
const REPEAT_MS = 120_000;

export interface TelephonePlayoutOptions {
  readonly clock: Clock;
  /** Most sound that waits, bytes. */
  readonly maxBytes: number;
  sendMedia(packet: Uint8Array): void;
  sendMark(name: string): void;
  sendClear(): void;
  /** The caller has heard this much of a turn's answer. */
  onHeard(turnId: string, heardMs: number): void;
  onOverflow(): void;
}

/**
 * The caller's loudspeaker: paces sound, knows what was really heard, and forgets at once. A generation is one unbroken
 * piece of speech; a mark names its generation and its milliseconds, so that a late one of a forgotten piece means nothing.
 */
export class TelephonePlayout {
  private generation = 0;
  private turnId: string | null = null;
  /** Whole packets, then what is too short for one. */
  private packets: Uint8Array[] = [];
  private rest: Uint8Array = new Uint8Array(0);
  private spoken: Uint8Array[] = [];
  private sentMs = 0;
  private heardMs = 0;
  private markedMs = 0;
  private startedAtMs = 0;
  private held = false;
  private cancelTick: (() => void) | null = null;

  constructor(private readonly options: TelephonePlayoutOptions) {}

  /** Whether something of the current generation was sent or waits, and was not yet heard. */
  get isPlaying(): boolean {
    return this.waitingBytes > 0 || this.heardMs < this.sentMs;
  }

  /** Turn whose sound this is. */
  get turn(): string | null {
    return this.turnId;
  }

  /** Adds sound of a turn; sound of another turn than before begins a generation. */
  play(turnId: string, sound: Uint8Array): void {
    if (turnId !== this.turnId) this.begin(turnId);
    if (this.waitingBytes + sound.byteLength > this.options.maxBytes) return this.options.onOverflow();
    this.keep(sound);
    this.cut(sound);
    this.pump();
  }

  /** Throws away what the caller has not heard, here and on the line, whether or not more was to come. */
  clear(): void {
    if (!this.isPlaying) return;
    this.begin(null);
    this.options.sendClear();
  }

  /** Stops giving sound to the line, or goes on. */
  hold(held: boolean): void {
    if (held === this.held) return;
    this.held = held;
    if (held) return;
    // Pacing starts again from here: the line has played what it had.
    this.startedAtMs = this.options.clock.nowMs() - this.sentMs;
    this.pump();
  }

  /** Says the last answer again, from its beginning. */
  repeat(turnId: string): void {
    const again = this.spoken;
    if (again.length === 0) return;
    this.clear();
    this.begin(null);
    for (const sound of again) this.play(turnId, sound);
  }

  /** A mark came back: everything before it was heard. */
  acknowledge(name: string): void {
    const [generation, heardMs] = name.split(':').map(Number);
    if (generation !== this.generation || heardMs === undefined || !(heardMs <= this.sentMs)) return;
    if (heardMs <= this.heardMs || this.turnId === null) return;
    this.heardMs = heardMs;
    this.options.onHeard(this.turnId, heardMs);
  }

  private begin(turnId: string | null): void {
    this.cancelTick?.();
    this.cancelTick = null;
    this.generation += 1;
    this.turnId = turnId;
    this.packets = [];
    this.rest = new Uint8Array(0);
    this.sentMs = this.heardMs = this.markedMs = 0;
    this.held = false;
    this.startedAtMs = this.options.clock.nowMs();
    if (turnId !== null) this.spoken = [];
  }

  private get waitingBytes(): number {
    return this.packets.length * PACKET_BYTES + this.rest.byteLength;
  }

  private cut(sound: Uint8Array): void {
    const joined = new Uint8Array(this.rest.byteLength + sound.byteLength);
    joined.set(this.rest);
    joined.set(sound, this.rest.byteLength);
    const whole = joined.byteLength - (joined.byteLength % PACKET_BYTES);
    for (let at = 0; at < whole; at += PACKET_BYTES)
      this.packets.push(joined.subarray(at, at + PACKET_BYTES));
    this.rest = joined.slice(whole);
  }

  private keep(sound: Uint8Array): void {
    const keptBytes = this.spoken.reduce((sum, part) => sum + part.byteLength, 0);
    if (keptBytes + sound.byteLength <= REPEAT_MS * BYTES_PER_MS) this.spoken.push(sound);
  }

  private pump(): void {
    if (this.cancelTick !== null) return;
    const { clock } = this.options;
    const nowMs = clock.nowMs();
    // After a pause of the synthesizer the line has nothing left; time lost is not made up for by a burst.
    if (nowMs - this.startedAtMs > this.sentMs) this.startedAtMs = nowMs - this.sentMs;
    while (!this.held && this.waitingBytes > 0 && this.sentMs < nowMs - this.startedAtMs + AHEAD_MS) {
      this.sendPacket();
    }
    if (this.waitingBytes > 0 && !this.held) {
      this.cancelTick = clock.after(PACKET_MS, () => {
        this.cancelTick = null;
        this.pump();
      });
    }
  }

  private sendPacket(): void {
    // Only the end of the sound goes out short of a packet.
    const packet = this.packets.shift() ?? this.rest;
    if (packet === this.rest) this.rest = new Uint8Array(0);
    this.options.sendMedia(packet);
    this.sentMs += packet.byteLength / BYTES_PER_MS;
    if (this.waitingBytes === 0 || this.sentMs - this.markedMs >= MARK_MS) {
      this.markedMs = this.sentMs;
      this.options.sendMark(`${this.generation}:${this.sentMs}`);
    }
  }
}
