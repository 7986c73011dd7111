import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { protocolPage, protocolSchema } from '../../docs/generate-protocol.js';
import { clientEvent, serverEvent } from '../../shared/protocol.js';

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

/** After a change of shared/, `npx vitest run test/transport/protocol-page.test.ts -u` writes both files anew. */
describe('the description of the protocol', () => {
  it('says on the page what shared/ says', async () => {
    await expect(protocolPage(page)).toMatchFileSnapshot('../../docs/protocol.md');
  });

  it('says in its schema what shared/ says', async () => {
    await expect(protocolSchema()).toMatchFileSnapshot('../../docs/protocol.schema.json');
  });

  it('names every event of both directions', () => {
    const generated = protocolPage(page);
    for (const option of [...clientEvent.options, ...serverEvent.options]) {
      expect(generated).toContain(`| \`${option.shape.type.value}\` |`);
    }
  });
});
