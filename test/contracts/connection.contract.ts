import { afterEach, describe, expect, it } from 'vitest';
import { AUDIO_FRAME_KINDS, encodeAudioFrame } from '../../shared/audio-frame.js';
import type { ServerEvent } from '../../shared/protocol.js';
import type { Connection, Incoming } from '../../server/transport/connection.js';
import { until } from '../fixtures/until.js';

/** Both ends of one connection, whose peer the suite plays through the wire of the implementation. */
export interface ConnectionEnds {
  readonly connection: Connection;
  /** The peer sends sound; 160 bytes a call. */
  sendAudio(fill: number): void;
  /** The peer says goodbye. */
  leave(): void;
  /** The peer no longer reads. */
  stopReading(): void;
  /** Events that reached the peer, as far as its wire carries them. */
  arrived(): readonly string[];
  dispose(): Promise<void>;
}

export interface ConnectionContract {
  readonly name: string;
  /** The queue holds this many bytes. */
  open(queuedBytes: number): Promise<ConnectionEnds>;
  /** Whether events of the protocol are written to the wire; a telephone line carries only sound. */
  readonly carriesEvents: boolean;
}

export function describeConnection(contract: ConnectionContract): void {
  describe(`the Connection contract: ${contract.name}`, () => {
    let ends: ConnectionEnds | null = null;
    afterEach(async () => {
      await ends?.dispose();
      ends = null;
    });

    async function open(queuedBytes = 4_194_304): Promise<{ ends: ConnectionEnds; heard: Incoming[] }> {
      ends = await contract.open(queuedBytes);
      const heard: Incoming[] = [];
      ends.connection.listen((incoming) => heard.push(incoming));
      return { ends, heard };
    }
    const closedOnes = (heard: readonly Incoming[]): Incoming[] =>
      heard.filter((incoming) => incoming.kind === 'closed');

    it('hears every message once and in order', async () => {
      const { ends: peer, heard } = await open();
      for (let fill = 1; fill <= 20; fill += 1) peer.sendAudio(fill);
      const fills = (): number[] =>
        heard.flatMap((incoming) => (incoming.kind === 'audio' ? [incoming.bytes[0] ?? -1] : []));
      await until(() => fills().length >= 20, '20 pieces of sound');
      expect(fills()).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    });

    it('hands out bytes of its own, aligned for any typed array', async () => {
      const { ends: peer, heard } = await open();
      peer.sendAudio(7);
      await until(() => heard.some((incoming) => incoming.kind === 'audio'), 'sound');
      const audio = heard.find((incoming) => incoming.kind === 'audio');
      expect(audio?.kind === 'audio' && audio.bytes.byteOffset).toBe(0);
    });

    it('hears that the peer left, once and last', async () => {
      const { ends: peer, heard } = await open();
      peer.sendAudio(1);
      peer.leave();
      await until(() => closedOnes(heard).length > 0, 'the close');
      peer.connection.close(1000, 'too late');
      await new Promise((resolve) => setImmediate(resolve));
      expect(closedOnes(heard)).toEqual([{ kind: 'closed', code: 1000, by: 'peer' }]);
      expect(heard.at(-1)?.kind).toBe('closed');
    });

    it('closes once, with the first code, and then sends and hears nothing more', async () => {
      const { ends: peer, heard } = await open();
      peer.connection.close(4409, 'replaced');
      peer.connection.close(1000, 'again');
      peer.connection.send(pong(1));
      peer.sendAudio(3);
      await until(() => closedOnes(heard).length > 0, 'the close');
      expect(heard).toEqual([{ kind: 'closed', code: 4409, by: 'server' }]);
      peer.connection.send(pong(2));
      await new Promise((resolve) => setImmediate(resolve));
      expect(peer.arrived()).toEqual([]);
    });

    if (contract.carriesEvents) {
      it('sends what was sent before the close', async () => {
        const { ends: peer, heard } = await open();
        peer.connection.send(pong(0));
        peer.connection.send(pong(1));
        peer.connection.close(1001, 'draining');
        await until(() => closedOnes(heard).length > 0, 'the close');
        await until(() => peer.arrived().length === 2, 'both events');
        expect(peer.arrived()).toEqual(['pong', 'pong']);
      });
    }

    it('closes a peer that does not read with 1013, once more than the cap waits for it', async () => {
      const { ends: peer, heard } = await open(2_000_000);
      peer.stopReading();
      const piece = encodeAudioFrame({
        kind: AUDIO_FRAME_KINDS.speechAudio,
        flags: 0,
        sequence: 0,
        sampleIndex: 0,
        payload: new Uint8Array(16_000),
      });
      // What the kernel takes is no longer ours to count, so far more than the cap is sent; none of it may pile up here.
      for (let sent = 0; sent < 4_000 && closedOnes(heard).length === 0; sent += 1) {
        peer.connection.send(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await until(() => closedOnes(heard).length > 0, 'the close');
      expect(closedOnes(heard)).toEqual([{ kind: 'closed', code: 1013, by: 'server' }]);
    });
  });
}

export function pong(seq: number): ServerEvent {
  return { type: 'pong', seq, atMs: 0 };
}
