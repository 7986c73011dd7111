import { Command, InvalidArgumentError, Option } from 'commander';
import { contractName, queryMode } from '../shared/protocol.js';
import { createSystemClock } from './clock.js';
import { loadConfig, printableConfig } from './config.js';
import { toAuscultError } from './errors.js';

/** One command each, thin: options in, the command's function called, its exit code out. Modules load when they are needed. */
const program = new Command('auscult')
  .description('Voice questions answered from evidence.')
  .enablePositionalOptions()
  .showHelpAfterError();

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** A command that takes the settings which every command shares. */
function command(parent: Command, name: string, options: { readonly isDefault?: boolean } = {}): Command {
  return parent
    .command(name, options)
    .option('--data <dir>', 'folder of everything that is written')
    .option('--port <port>', 'port of the server')
    .option('--config <file>', 'configuration file, JSON');
}

/** The configuration that holds for a command, its own settings included. */
function configOf(options: Readonly<Record<string, unknown>>) {
  const settings = ['data', 'port', 'config', 'host', 'generator', 'corpus'];
  return loadConfig(Object.fromEntries(settings.map((name) => [name, options[name]])));
}

function number(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError('Give a number of 0 or more.');
  return value;
}

command(program, 'serve', { isDefault: true })
  .description('run the server and its page')
  .option('--host <address>', 'address to listen on')
  .option('--generator <name>', 'extractive, llama or openai')
  .option('--corpus <dir>', 'folder indexed on the first start, or none')
  .action(async (options: Record<string, unknown>) => {
    const { runServe } = await import('./commands/serve-command.js');
    await runServe(configOf(options), print);
  });

command(program, 'ask')
  .description('stream a recording to a running server and print what arrives')
  .argument('<file>', 'wav, flac, mp3, ogg or opus')
  .option('--url <url>', 'full WebSocket address')
  .option('--token <token>', 'token of the server')
  .option('--json', 'one protocol event a line', false)
  .option('--speed <factor>', '1 is real time, 0 as fast as possible', number, 1)
  .addOption(new Option('--query-mode <mode>').choices(queryMode.options.filter((mode) => mode !== 'oracle')))
  .addOption(new Option('--contract <name>').choices(contractName.options))
  .option('--choice <text...>', 'choices of an exam question')
  .action(async (file: string, options: Record<string, string> & { json: boolean; choice?: string[] }) => {
    const { runAsk } = await import('./commands/ask-command.js');
    const { port } = configOf(options);
    process.exitCode = await runAsk({
      file,
      url: options['url'] ?? `ws://127.0.0.1:${port}/v1/live`,
      json: options.json,
      speed: Number(options['speed']),
      clock: createSystemClock(),
      print,
      ...(options['token'] ? { token: options['token'] } : {}),
      ...(options['queryMode'] ? { queryMode: queryMode.parse(options['queryMode']) } : {}),
      ...(options['contract'] ? { contract: contractName.parse(options['contract']) } : {}),
      ...(options.choice ? { choices: options.choice } : {}),
    });
  });

command(program, 'ingest')
  .description('read documents or recordings into the stores')
  .argument(
    '<path...>',
    'files or folders: txt, md, html, csv, jsonl, PubMedQA json; for --store speech also recordings',
  )
  .addOption(new Option('--store <name>').choices(['passages', 'speech']).default('passages'))
  .option('--skip-bad-lines', 'count unreadable lines instead of stopping', false)
  .action(async (paths: string[], options: { store: 'passages' | 'speech'; skipBadLines: boolean }) => {
    const { runIngest } = await import('./commands/ingest-command.js');
    await runIngest({ paths, ...options, config: configOf(options), print });
  });

command(program, 'search')
  .description('search the passages for a text')
  .argument('<text>')
  .option('-k <count>', 'results', number, 8)
  .option('--json', 'one result a line', false)
  .action(async (text: string, options: { k: number; json: boolean }) => {
    const { runSearch } = await import('./commands/search-command.js');
    await runSearch({ text, ...options, config: configOf(options), print });
  });

command(program, 'embed')
  .description('unit vectors of recordings or texts, one line each')
  .argument('[file...]')
  .option('--text <text...>', 'texts to embed')
  .addOption(new Option('--role <role>').choices(['query', 'passage']).default('query'))
  .option('--json', 'JSON lines', false)
  .action(async (files: string[], options: { text?: string[]; role: 'query' | 'passage'; json: boolean }) => {
    const { runEmbed } = await import('./commands/embed-command.js');
    await runEmbed({
      files,
      texts: options.text ?? [],
      role: options.role,
      json: options.json,
      config: configOf(options),
      print,
    });
  });

command(program, 'ground')
  .description('entities, corrections and contrasts of a text')
  .argument('<text>')
  .option('--json', 'JSON', false)
  .action(async (text: string, options: { json: boolean }) => {
    const { runGround } = await import('./commands/ground-command.js');
    const { composeEncoders } = await import('./compose.js');
    const encoders = await composeEncoders(configOf(options));
    await runGround(text, { ...options, print, textEncoder: encoders.textEncoder });
    await encoders.close();
  });

const models = program.command('models').description('language models for the generators');
command(models, 'list')
  .description('models that can be fetched')
  .action(async (options: Record<string, unknown>) => {
    const { runModelsList } = await import('./commands/models-command.js');
    runModelsList({ dataDir: configOf(options).data, print });
  });
command(models, 'get')
  .description('fetch a model and check its hash')
  .argument('<name>')
  .action(async (name: string, options: Record<string, unknown>) => {
    const { runModelsGet } = await import('./commands/models-command.js');
    await runModelsGet({ name, dataDir: configOf(options).data, print, bar: process.stderr.isTTY });
  });

const trace = program.command('trace').description('records of turns');
command(trace, 'show')
  .description('tell a turn')
  .argument('<id>', 'trace or turn id')
  .option('--json', 'the record itself', false)
  .action(async (id: string, options: { json: boolean }) => {
    const { runTraceShow } = await import('./commands/trace-command.js');
    await runTraceShow({ id, ...options, dataDir: configOf(options).data, print });
  });
command(trace, 'verify')
  .description('run the retrieval of a turn again and compare')
  .argument('<id>', 'trace or turn id')
  .action(async (id: string, options: Record<string, unknown>) => {
    const { runTraceVerify } = await import('./commands/verify-command.js');
    process.exitCode = await runTraceVerify({ id, config: configOf(options), print });
  });

command(program, 'forget')
  .description('delete what was kept of a session, or for too long')
  .option('--session <id>', 'the traces and recordings of this session')
  .option('--older-than <days>', 'all that is older; 0 for everything', number)
  .action(async (options: { session?: string; olderThan?: number }) => {
    const { runForget } = await import('./commands/forget-command.js');
    await runForget({
      ...(options.session === undefined ? {} : { session: options.session }),
      ...(options.olderThan === undefined ? {} : { olderThanDays: options.olderThan }),
      dataDir: configOf(options).data,
      clock: createSystemClock(),
      print,
    });
  });

program
  .command('bench')
  .description('measure a claim; without a name, lists them')
  .argument('[name]')
  .argument('[options...]')
  .allowUnknownOption()
  .passThroughOptions()
  .action(async (name: string | undefined, options: string[]) => {
    const { runBench } = await import('../bench/run.js');
    process.exitCode = await runBench(name, options);
  });

command(program, 'config')
  .description('print the configuration that holds')
  .action((options: Record<string, unknown>) =>
    print(JSON.stringify(printableConfig(configOf(options)), null, 2)),
  );

try {
  await program.parseAsync();
} catch (thrown) {
  const error = toAuscultError(thrown);
  process.stderr.write(`${error.code}: ${error.message}\n`);
  if (error.code === 'internal')
    process.stderr.write(`${String(error.cause instanceof Error ? error.cause.stack : error.cause)}\n`);
  process.exitCode = 1;
}
