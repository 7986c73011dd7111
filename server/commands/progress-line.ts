import { SingleBar } from 'cli-progress';

export interface Progress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

/** Progress on stderr: a bar in a terminal, a line a stage elsewhere. */
export interface ProgressLine {
  show(progress: Progress): void;
  end(): void;
}

export function createProgressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  return stream.isTTY ? createBar(stream) : createLines(stream);
}

function createBar(stream: NodeJS.WriteStream): ProgressLine {
  let bar: SingleBar | null = null;
  let stage = '';
  return {
    show(progress) {
      if (!bar || stage !== progress.stage) {
        bar?.stop();
        bar = new SingleBar({
          stream,
          format: `${progress.stage} {bar} {value}/{total} {eta_formatted}`,
          hideCursor: true,
        });
        bar.start(progress.total, progress.done);
        stage = progress.stage;
      }
      bar.update(progress.done);
    },
    end() {
      bar?.stop();
      bar = null;
    },
  };
}

function createLines(stream: NodeJS.WriteStream): ProgressLine {
  let last = '';
  return {
    show({ stage, done, total }) {
      // Ten lines a stage at most: logs are read by people too.
      const line = `${stage}: ${Math.floor((done / Math.max(1, total)) * 10) * 10} %`;
      if (line !== last) stream.write(`${line}\n`);
      last = line;
    },
    end: () => undefined,
  };
}
