/** Walks through trees of files in a thread, which ends when it has not been needed for a while. */
import { Worker } from "node:worker_threads";
import type { ListedTree, WalkAnswer, WalkFailure, WalkOrder } from "./order.ts";

/** A file or folder can't be read. */
export class WalkFailed extends Error {
  override readonly name = "WalkFailed";
  /** As in `node:fs`. Null: unknown. */
  readonly code: string | null;
  /** Of the file or folder, relative to the walk's, with one character for each byte. */
  readonly path: string;
  constructor({ message, code, path }: WalkFailure) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/**
 * Adds up the sizes of all files below the folder. Files that vanish meanwhile, and a missing folder, count as 0. Rejects with
 * `WalkFailed`.
 */
export async function bytesIn(folder: string): Promise<number> {
  const answer = await ask("bytes", folder);
  if (answer.kind === "bytes") return answer.bytes;
  throw failureOf(answer);
}

/** Lists a tree, which may be changing. Links, sockets and similar entries are left out. Rejects with `WalkFailed`. */
export async function listFolder(folder: string): Promise<ListedTree> {
  const answer = await ask("list", folder);
  if (answer.kind === "list") return answer.tree;
  throw failureOf(answer);
}

function failureOf(answer: WalkAnswer): WalkFailed {
  const unknown = { message: "The thread that walks through trees gave another answer", code: null, path: "" };
  return new WalkFailed(answer.kind === "failed" ? answer.failure : unknown);
}

const idleMilliseconds = 10_000;

interface Thread {
  ask(order: WalkOrder): Promise<WalkAnswer>;
}

let current: Thread | null = null;
let lastId = 0;

function ask(kind: WalkOrder["kind"], folder: string): Promise<WalkAnswer> {
  lastId += 1;
  current ??= startThread();
  return current.ask({ id: lastId, kind, folder });
}

function startThread(): Thread {
  const worker = new Worker(new URL("./thread.ts", import.meta.url));
  const waiting = new Map<number, (answer: WalkAnswer) => void>();
  let idle: NodeJS.Timeout | undefined;

  const end = (cause: unknown) => {
    if (current === thread) current = null;
    const failure = { message: `The thread that walks through trees ended: ${cause}`, code: null, path: "" };
    for (const [id, resolve] of waiting) resolve({ id, kind: "failed", failure });
    waiting.clear();
  };
  worker.on("error", end).on("exit", end);
  worker.on("message", (answer: WalkAnswer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) rest();
  });

  /** This process may end meanwhile. */
  function rest(): void {
    worker.unref();
    idle = setTimeout(() => {
      current = null;
      void worker.terminate();
    }, idleMilliseconds).unref();
  }

  const thread: Thread = {
    ask(order) {
      clearTimeout(idle);
      worker.ref();
      const { promise, resolve } = Promise.withResolvers<WalkAnswer>();
      waiting.set(order.id, resolve);
      worker.postMessage(order);
      return promise;
    },
  };
  return thread;
}
