import type { Config } from '../config.js';
import { startServer } from '../main.js';

/** Runs the server until SIGTERM or SIGINT; the first lets turns end, the second ends at once. */
export async function runServe(config: Config, print: (line: string) => void): Promise<void> {
  const server = await startServer(config);
  print(`Auscult listens on ${server.url}`);
  let closing = false;
  const stop = (): void => {
    if (closing) process.exit(0);
    closing = true;
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
