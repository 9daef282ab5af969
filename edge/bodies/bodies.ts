/**
 * Receives request bodies completely before anything else happens with a request, so that slow visitors occupy neither
 * PHP nor a write. All bodies together are limited, and so are those of each payer and network (`budget.ts`).
 */
import { statfs } from "node:fs/promises";
import { Writable } from "node:stream";
import { askForBody } from "../http/expectations.ts";
import { createPiecePace } from "../http/tinyPieces.ts";
import { UploadTooLarge } from "../http/uploads.ts";
import type { VisitorRequest } from "../http/visitorHttp.ts";
import { cleanBodyFolder } from "./bodyFile.ts";
import { type Body, type BodyStore, createBodyStore, NoRoom } from "./bodyStore.ts";
import { type Claimant, createBudget } from "./budget.ts";
import { isTooSlow, type Pace } from "./pace.ts";
import { createPayerLimiter } from "./payerLimiter.ts";

export interface Bodies {
  /**
   * Receives the request's body. Rejects with `NoRoom`, `TooSlow`, `UploadTooLarge`, `VisitorLeft` or the error of the
   * file system. Then the rest of the body is still unread.
   */
  receive(request: VisitorRequest, claimant: Claimant): Promise<Body>;
  usage(): BodyUsage;
}

export interface BodyUsage {
  /** Bytes that bodies hold, or have been promised. */
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Bodies that were refused since the start because there was no room. */
  readonly refused: number;
}

export class VisitorLeft extends Error {
  override readonly name = "VisitorLeft";
}

/** The body arrives more slowly than the minimum. */
export class TooSlow extends Error {
  override readonly name = "TooSlow";
}

export interface BodyOptions {
  /** For large bodies. Used for nothing else: it is emptied at startup. */
  readonly folder: string;
  /** Limit for one body. */
  readonly bodyBytes: number;
  readonly pace: Pace;
  /** Disk space that sites may still use, in bytes. Absent: what is free where the folder is. */
  readonly freeDisk?: () => Promise<number>;
}

/** Budget for bodies in memory. Those that don't fit go to files. */
const memoryBytes = 64 << 20;
/** Files may hold this many of the largest bodies, */
const maxUploads = 128;
/** and at most this fraction of the disk space that sites may still use. */
const diskFraction = 1 / 2;
/**
 * Concurrent writes of one payer: half of this process's disk threads, so that one site's uploads don't block other
 * sites' files.
 */
const maxWrites = 2;
const paceCheckMilliseconds = 1_000;

/** Rejects if the folder can't be created. */
export async function openBodies({ folder, bodyBytes, pace, freeDisk }: BodyOptions): Promise<Bodies> {
  await cleanBodyFolder(folder);
  const [memory, disk, writes] = [createBudget(), createBudget(), createPayerLimiter(maxWrites)];
  let refused = 0;
  const free = freeDisk ?? (() => freeSpace(folder));
  const diskBytes = async () => Math.min(maxUploads * bodyBytes, (await free()) * diskFraction);

  return {
    async receive(request, claimant) {
      const store = createBodyStore({
        memory: memory.claim(claimant),
        disk: disk.claim(claimant),
        memoryBytes,
        diskBytes,
        folder,
        write: (work) => writes.run(claimant.payer, work),
      });
      try {
        await fill(store, request, bodyBytes, pace);
        return store.body();
      } catch (error) {
        await store.body().close();
        if (error instanceof NoRoom) refused += 1;
        throw error;
      }
    },
    usage: () => ({ memoryBytes: memory.held(), diskBytes: disk.held(), refused }),
  };
}

async function freeSpace(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function fill(store: BodyStore, request: VisitorRequest, bodyBytes: number, pace: Pace): Promise<void> {
  const began = performance.now();
  const announcedBytes = announcedLength(request);
  await store.reserve(announcedBytes ?? 0);
  askForBody(request);
  let receivedBytes = 0;
  /** Time in which the visitor was not waited for. */
  let busy = performance.now() - began;

  async function add(chunk: Buffer): Promise<void> {
    const since = performance.now();
    receivedBytes += chunk.length;
    // Node enforces an announced length only.
    if (receivedBytes > bodyBytes) throw new UploadTooLarge(`more than ${bodyBytes} bytes`);
    await store.add(chunk);
    busy += performance.now() - since;
  }

  const isLate = () =>
    isTooSlow({ receivedBytes, announcedBytes, milliseconds: performance.now() - began - busy }, pace);
  await pipeInto(request, add, isLate);
}

/** Null if it is not announced. */
function announcedLength({ headers }: Pick<VisitorRequest, "headers">): number | null {
  const length = headers["content-length"];
  return length === undefined ? null : Number(length);
}

/** Calls `add` with each chunk. Rejects if it does, if the visitor leaves, or when the visitor `isLate`. */
function pipeInto(
  request: VisitorRequest,
  add: (chunk: Buffer) => Promise<void>,
  isLate: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let adding: Promise<void> | null = null;
    const pace = createPiecePace();
    const addNow = (chunk: Buffer, done: (error?: Error | null) => void) => {
      adding = add(chunk).finally(() => {
        adding = null;
      });
      adding.then(() => done(), done);
    };
    const sink = new Writable({
      // Holds one chunk, whatever its size: more would be memory that no budget counts, and many tiny ones would each cost an error
      // if the visitor leaves.
      objectMode: true,
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        const pause = pace(chunk.length);
        if (pause === null) addNow(chunk, done);
        else pause.then(() => (sink.destroyed ? done() : addNow(chunk, done)));
      },
      // Over HTTP/2, an aborted upload ends like a complete one.
      final: (done) => done(request.stream?.closed === true ? new VisitorLeft() : null),
    });
    const timer = setInterval(() => {
      if (adding === null && isLate()) stop(new TooSlow("The request's body arrives too slowly."));
    }, paceCheckMilliseconds);
    const leave = () => {
      if (!request.readableEnded) stop(new VisitorLeft());
    };
    const settle = () => {
      clearInterval(timer);
      request.off("close", leave);
    };
    const stop = (error: Error) => {
      settle();
      // Not destroyed: the visitor still gets a response.
      request.unpipe(sink);
      sink.destroy();
      // After the last chunk, which claims space too.
      Promise.allSettled([adding]).then(() => reject(error));
    };
    sink.once("error", stop).once("finish", () => {
      settle();
      resolve();
    });
    // Stays: a request that is aborted later must not end the process.
    request.on("error", () => stop(new VisitorLeft())).once("close", leave);
    if (request.destroyed) leave();
    else request.pipe(sink);
  });
}
