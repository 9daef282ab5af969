/**
 * Bodies in very many tiny pieces. Each piece costs a microsecond, even if it is a single byte, so that such a body of a few
 * megabytes would occupy the process for seconds. No real client sends one.
 */

/** This many pieces may be of any size. */
const freePieces = 4_096;
/** The bytes that more pieces must have on average. */
const leastBytes = 32;

export class TooManyPieces extends Error {
  override readonly name = "TooManyPieces";
}

/** Returns a function to call with the size in bytes of each piece of a body. It throws `TooManyPieces`. */
export function createPieceLimit(): (bytes: number) => void {
  let [pieces, total] = [0, 0];
  return (bytes) => {
    pieces += 1;
    total += bytes;
    if (pieces > freePieces && total < pieces * leastBytes) {
      throw new TooManyPieces(`${pieces} pieces with ${total} bytes`);
    }
  };
}
