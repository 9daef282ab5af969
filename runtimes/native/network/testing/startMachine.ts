/** Starts a machine in a network namespace (`machine.ts`). Needs root. */
import { type ChildProcess, fork } from "node:child_process";
import path from "node:path";
import * as v from "valibot";

const reply = v.object({ id: v.number(), text: v.optional(v.string()), error: v.optional(v.string()) });

export class Machine {
  readonly #process: ChildProcess;
  readonly #calls = new Map<number, PromiseWithResolvers<string>>();
  #count = 0;

  constructor() {
    this.#process = fork(path.join(import.meta.dirname, "machine.ts"), [], {
      execPath: "unshare",
      execArgv: ["--net", "--mount", "--", process.execPath],
    });
    this.#process.on("message", (message) => {
      const { id, text = "", error } = v.parse(reply, message);
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) call?.resolve(text);
      else call?.reject(new Error(error));
    });
    this.#process.once("exit", () => {
      for (const call of this.#calls.values()) call.reject(new Error("The machine has ended."));
    });
  }

  /** Calls one of the machine's functions. */
  call(name: string, ...parameters: readonly string[]): Promise<string> {
    this.#count += 1;
    const call = Promise.withResolvers<string>();
    this.#calls.set(this.#count, call);
    this.#process.send({ id: this.#count, name, parameters });
    return call.promise;
  }

  /** Kills its processes, as if the machine's server had been killed. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended();
  }

  async end(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    await this.ended();
  }

  ended(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => void this.#process.once("exit", () => resolve()));
  }
}
