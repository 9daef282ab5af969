/**
 * Bodies in very many tiny pieces. Each piece costs a microsecond or more, even if it is a single byte, so that a few such bodies
 * would keep the process from all other work. No real client sends one. They are received slowly, and not refused: a client that was
 * refused would send the next one at once.
 */
import { setTimeout as delay } from "node:timers/promises";

/** This many pieces may be of any size. */
const freePieces = 4_096;
/** The bytes that more pieces must have on average. */
const leastBytes = 32;
const piecesPerSecond = 256;

/** Returns a function to call with the size in bytes of each piece of a body. It resolves when the next one may be received. */
export function createPiecePace(): (bytes: number) => Promise<void> | null {
  let [pieces, total] = [0, 0];
  return (bytes) => {
    pieces += 1;
    total += bytes;
    const isSlowed = pieces > freePieces && total < pieces * leastBytes && pieces % piecesPerSecond === 0;
    return isSlowed ? delay(1_000) : null;
  };
}
