/**
 * Under `npm start`, npm is the parent of this process (the script in package.json uses `exec`). npm forwards signals,
 * but if it is killed, the only sign is that this process gets another parent.
 */

const intervalMs = 500;

/** Calls `ended` when npm has ended, if this process was started by `npm start`. */
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
  }, intervalMs);
  timer.unref();
}
