// Puts the command of this checkout where `npx auscult` looks first; without it npx would build a second copy of the project.
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'node_modules', '.bin');
const link = join(folder, 'auscult');

mkdirSync(folder, { recursive: true });
if (existsSync(link)) rmSync(link);
try {
  symlinkSync(join('..', '..', 'bin', 'auscult.js'), link);
} catch (error) {
  // Without the right to make links, `node bin/auscult.js` does the same.
  console.warn(`npx auscult is not linked: ${error.message}`);
}
