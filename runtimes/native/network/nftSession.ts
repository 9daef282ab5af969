/**
 * A running `nft` that owns the tables it makes. No other program can change or remove them, so a firewall that is loaded again
 * (`flush ruleset`) does not open the network to PHP. The system removes them when `nft` ends.
 *
 * If this process is killed, `nft` ends two seconds later: PHP, which is killed with this process, may live a moment longer. It
 * ignores the signals with which a terminal or a service manager ends all processes of the server.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { killIfAlive } from "../processTree.ts";

/** A server that was killed leaves its table for so many seconds. */
const secondsAfterDeath = 2;

const script = `trap '' TERM INT HUP QUIT PIPE
{ exec 2>/dev/null; cat; sleep ${secondsAfterDeath}; } | { nft -i; kill -9 $$; }`;

/** nft has no answer to a successful command, so each is followed by one that fails: the list of a table that doesn't exist. */
const markOf = (number: number) => `sitewright_no_table_${number}`;

/**
 * The variables of nft. Not everyone's search path has the folders of such programs. Its messages are in English. It writes a history of
 * commands to the home folder, or to `/` without one, so the home is no folder.
 */
export function nftEnvironment(): NodeJS.ProcessEnv {
  return { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, LC_ALL: "C", HOME: "/dev/null" };
}

interface Waiting {
  readonly mark: string;
  readonly result: PromiseWithResolvers<void>;
}

export class NftSession {
  /** Resolves with the reason when it has ended, and its tables are gone. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting: Waiting[] = [];
  #count = 0;
  #hasEnded = false;
  /** What nft has written since the last command's end. */
  #output: string[] = [];

  constructor() {
    // In a process group of its own, so that it can be killed as a whole.
    this.#process = spawn("sh", ["-c", script], { detached: true, env: nftEnvironment() });
    const { stdin, stdout, stderr } = this.#process;
    stdin.on("error", () => undefined);
    stdout.resume();
    createInterface({ input: stderr }).on("line", (line) => this.#read(line));
    const ended = Promise.withResolvers<string>();
    this.ended = ended.promise;
    this.#process.once("error", ({ message }) => ended.resolve(message));
    this.#process.once("close", () => ended.resolve(this.#output.join(" ").trim() || "nft has ended"));
    void this.ended.then((reason) => {
      this.#hasEnded = true;
      stdin.destroy();
      for (const { result } of this.#waiting.splice(0)) result.reject(new Error(reason));
    });
  }

  /** Runs commands as one change: all of them, or none. Rejects with nft's reason. */
  run(commands: string): Promise<void> {
    if (this.#hasEnded) return Promise.reject(new Error("nft has ended."));
    this.#count += 1;
    const waiting = { mark: markOf(this.#count), result: Promise.withResolvers<void>() };
    this.#waiting.push(waiting);
    // It runs each line on its own.
    this.#process.stdin.write(`${commands.replaceAll("\n", ";")}\nlist table inet ${waiting.mark}\n`);
    return waiting.result.promise;
  }

  /** Resolves when it has ended. */
  async close(): Promise<void> {
    const { pid } = this.#process;
    if (pid !== undefined && !this.#hasEnded) killIfAlive(-pid);
    await this.ended;
  }

  #read(line: string): void {
    this.#output.push(line);
    const [next] = this.#waiting;
    if (next === undefined || !line.includes(next.mark)) return;
    // Before the line with the mark is the one with its own error.
    const error = this.#output.slice(0, -2).find((each) => each.includes("Error:"));
    this.#output = [];
    this.#waiting.shift();
    if (error === undefined) next.result.resolve();
    else next.result.reject(new Error(error));
  }
}
