/** Lets only so many do something at once; the others wait in the order in which they came. */
export interface Turns {
  /** Resolves with what ends the turn. Rejects when `signal` is aborted before it has come. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createTurns(most: number): Turns {
  let taken = 0;
  const waiting: (() => void)[] = [];

  function end(): void {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  }

  /** Of one turn only, however often it is called. */
  function once(): () => void {
    let isEnded = false;
    return () => {
      if (!isEnded) end();
      isEnded = true;
    };
  }

  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        if (taken < most) {
          taken += 1;
          resolve(once());
          return;
        }
        const mine = () => {
          signal.removeEventListener("abort", giveUp);
          resolve(once());
        };
        const giveUp = () => {
          waiting.splice(waiting.indexOf(mine), 1);
          reject(signal.reason);
        };
        waiting.push(mine);
        signal.addEventListener("abort", giveUp, { once: true });
      }),
  };
}
