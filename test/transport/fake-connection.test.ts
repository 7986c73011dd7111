import { describeConnection } from '../contracts/connection.contract.js';
import { createFakeConnection } from '../fakes/fake-connection.js';

describeConnection({
  name: 'the fake',
  carriesEvents: true,
  async open(queuedBytes) {
    const connection = createFakeConnection({ queuedBytes });
    return {
      connection,
      sendAudio: (fill) => connection.sendsAudio(new Uint8Array(160).fill(fill)),
      leave: () => connection.leaves(1000),
      stopReading: () => connection.stalls(),
      arrived: () => connection.events.map((event) => event.type),
      dispose: async () => undefined,
    };
  },
});
