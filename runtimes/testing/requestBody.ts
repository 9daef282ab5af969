import type { RequestBody } from "../serving.ts";

/** Returns a request's body that consists of these pieces. */
export function requestBody(...pieces: readonly Buffer[]): RequestBody {
  return {
    bytes: pieces.reduce((sum, { length }) => sum + length, 0),
    async *[Symbol.asyncIterator]() {
      yield* pieces;
    },
  };
}
