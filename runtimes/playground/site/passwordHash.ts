/** bcrypt takes a tenth of a second of pure computing: it runs in a thread, beside the copying and out of everybody's way. */
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { genSaltSync, hashSync } from "bcryptjs";

interface Answer {
  readonly id: number;
  readonly hash: string;
}

interface Question {
  readonly id: number;
  readonly digest: string;
}

let thread: Worker | null = null;
let lastId = 0;
const waiting = new Map<number, { resolve(hash: string): void; reject(error: unknown): void }>();

function failAll(error: unknown): void {
  thread = null;
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}

function startThread(): Worker {
  const started = new Worker(new URL(import.meta.url), { env: {} });
  started.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.resolve(answer.hash);
    waiting.delete(answer.id);
    if (waiting.size === 0) started.unref();
  });
  started.on("error", failAll);
  started.on("exit", () => failAll(new Error("The thread that hashes passwords ended.")));
  return started;
}

/** What WordPress stores for a password whose digest this is (`runtimes/password.ts`). */
export function hashPassword(digest: string): Promise<string> {
  thread ??= startThread();
  const worker = thread;
  worker.ref();
  lastId += 1;
  const question: Question = { id: lastId, digest };
  return new Promise((resolve, reject) => {
    waiting.set(question.id, { resolve, reject });
    worker.postMessage(question);
  });
}

/** WordPress marks its own scheme with `$wp`, and PHP writes bcrypt as `$2y$`; `$2b$` would be hashed anew at the first login. */
export function hashNow(digest: string): string {
  return `$wp${hashSync(digest, genSaltSync(10)).replace(/^\$2[ab]\$/, "$2y$")}`;
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  port.on("message", ({ id, digest }: Question) => port.postMessage({ id, hash: hashNow(digest) } satisfies Answer));
}
