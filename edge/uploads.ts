/** How much a visitor may send. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Readable, Transform } from "node:stream";
import { makePage, type PageName } from "./pages.ts";

export class UploadTooLarge extends Error {
  override readonly name = "UploadTooLarge";
}

/** Whether something follows the head. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

/** Whether the request says itself that it is over the limit, so that nothing of it need be read. */
export function announcesTooMuch(request: IncomingMessage, limitBytes: number): boolean {
  return Number(request.headers["content-length"] ?? 0) > limitBytes;
}

/**
 * The request's body, or null where it has none. A body of announced length can't be longer than that; one that
 * comes in chunks is counted, and fails with `UploadTooLarge` once it is over the limit.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Readable | null {
  if (!hasBody(request)) return null;
  if (request.headers["transfer-encoding"] === undefined) return request;
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limitBytes) done(new UploadTooLarge(`more than ${limitBytes} bytes`));
      else done(null, chunk);
    },
  });
  request.on("error", (error) => counted.destroy(error));
  return request.pipe(counted);
}

/** How long and how much of an unwanted upload is read and thrown away, so that the answer still arrives. */
const lingerMilliseconds = 2_000;
const lingerBytes = 64 * 1024 * 1024;

/**
 * Answers with the page, `tooLarge` unless another one is named, and closes. Closing at once would make the system reset the connection under a visitor who is still
 * sending, and the page would be lost; so the rest is swallowed for a while.
 */
export async function refuseUpload(
  request: IncomingMessage,
  response: ServerResponse,
  name: PageName = "tooLarge",
  asked: Pick<IncomingMessage, "headers"> = request,
): Promise<void> {
  const page = makePage(asked, name);
  response.writeHead(page.status, { ...page.headers, connection: "close" });
  response.write(page.body);
  await swallow(request);
  response.end();
}

/** Resolves when the rest has come, was too much, or took too long. */
function swallow(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return Promise.resolve();
  return new Promise((done) => {
    let bytes = 0;
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > lingerBytes) finish();
    };
    const finish = () => {
      clearTimeout(timer);
      request.off("data", count);
      done();
    };
    const timer = setTimeout(finish, lingerMilliseconds);
    request.on("data", count);
    request.once("end", finish).once("close", finish).once("error", finish);
    request.resume();
  });
}

/** Whether it is a form with files, or a file by itself, as far as its head says. */
export function isUpload({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const type = headers["content-type"] ?? "";
  return /^multipart\/form-data\b/i.test(type) || headers["content-disposition"] !== undefined;
}
