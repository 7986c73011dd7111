import { z } from 'zod';
import { AuscultError } from '../errors.js';

/** What we read of a `chat.completion.chunk`; everything else an endpoint sends is ignored. */
const completionChunk = z.object({
  choices: z.array(
    z.object({
      delta: z.object({ content: z.string().nullish() }).nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
});
const streamedError = z.object({
  error: z.unknown().refine((error) => error !== undefined && error !== null),
});

export interface Delta {
  readonly text: string;
  /** Whether the endpoint says that the answer ends here. */
  readonly finished: boolean;
}

/**
 * One event of the stream.
 * @throws AuscultError `generator_failed` for what is no chunk, or for an error told inside the stream
 */
export function readDelta(data: string): Delta {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw new AuscultError('generator_failed', {
      message:
        'The endpoint sent something that is no JSON; is the base URL that of an OpenAI-compatible API?',
      cause,
    });
  }
  if (streamedError.safeParse(event).success)
    throw new AuscultError('generator_failed', {
      message: 'The endpoint reported an error in the middle of its answer.',
      retryable: true,
    });
  const chunk = completionChunk.safeParse(event);
  if (!chunk.success)
    throw new AuscultError('generator_failed', {
      message: 'The endpoint sent an event of unknown shape; is it OpenAI-compatible?',
      cause: chunk.error,
    });
  const [choice] = chunk.data.choices;
  return { text: choice?.delta?.content ?? '', finished: (choice?.finish_reason ?? null) !== null };
}

/**
 * A response that is not 200, as an error that says what to do. Its body is not quoted: endpoints repeat prompts and keys in it.
 */
export async function refusal(response: Response): Promise<AuscultError> {
  await response.body?.cancel().catch(() => undefined);
  const { status } = response;
  return new AuscultError('generator_failed', {
    message: `The endpoint answered ${String(status)}: ${advice(status)}`,
    retryable: status === 408 || status === 429 || status >= 500,
  });
}

function advice(status: number): string {
  if (status === 401 || status === 403) return 'check the API key.';
  if (status === 404) return 'check the base URL and the name of the model.';
  if (status === 429) return 'its rate limit is reached; try again later.';
  if (status >= 500) return 'it is failing; try again later or look at its log.';
  return 'it does not accept the request; check the name of the model and its context length.';
}
