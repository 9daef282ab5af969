/** Disconnects clients that do not take a response that is sent in parts. They would otherwise occupy a connection for ever. */
import type { ServerResponse } from "node:http";

/** Limits the time that a client takes over a page, not the time that reading the next one takes. */
export interface TakingLimit {
  start(): void;
  stop(): void;
}

/** Closes the connection if the client takes longer. */
export function limitTaking(response: ServerResponse, milliseconds: number): TakingLimit {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  response.once("close", stop);
  return {
    start: () => {
      stop();
      if (!response.closed) timer = setTimeout(() => response.destroy(), milliseconds);
    },
    stop,
  };
}

/** Passes texts on, and gives the client a limited time to take each of them. */
export async function* takenInTime(texts: AsyncIterable<string>, limit: TakingLimit): AsyncGenerator<string> {
  for await (const text of texts) {
    limit.start();
    yield text;
    limit.stop();
  }
}
