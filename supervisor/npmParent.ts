/**
 * Under `npm start`, npm is the parent of this process (the script in package.json says `exec`). It passes on the signals
 * that it receives, but it can be killed, and then only the parent's process id tells.
 */

const checkEveryMs = 500;

/** Calls `ended` once npm is gone, if this process was started by `npm start`. */
export function whenNpmEnds(ended: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) {
    return;
  }
  const npm = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== npm) {
      clearInterval(timer);
      ended();
    }
  }, checkEveryMs);
  timer.unref();
}
