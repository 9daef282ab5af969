/** How much a visitor may send. */
import { type Readable, Transform } from "node:stream";
import { type MadePage, makePage } from "../pages.ts";
import type { RequestHead, VisitorRequest, VisitorResponse } from "./visitorHttp.ts";

export class UploadTooLarge extends Error {
  override readonly name = "UploadTooLarge";
}

/** Whether something follows the head. */
export function hasBody({ headers, stream }: RequestHead): boolean {
  if (stream !== undefined) return !stream.endAfterHeaders;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

/** Whether the request says itself that it is over the limit, so that nothing of it need be read. */
export function announcesTooMuch(request: VisitorRequest, limitBytes: number): boolean {
  return Number(request.headers["content-length"] ?? 0) > limitBytes;
}

/**
 * The request's body, or null if it has none. A body of announced length can't be longer than that; one that
 * comes in pieces, or by HTTP/2, is counted, and fails with `UploadTooLarge` once it is over the limit.
 */
export function readBody(request: VisitorRequest, limitBytes: number): Readable | null {
  if (!hasBody(request)) return null;
  const { headers, stream } = request;
  if (stream === undefined && headers["transfer-encoding"] === undefined) return request;
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limitBytes) done(new UploadTooLarge(`more than ${limitBytes} bytes`));
      else done(null, chunk);
    },
    // Over HTTP/2, an aborted upload ends like a complete one.
    flush: (done) => done(stream?.closed === true ? new Error("The visitor has left") : null),
  });
  request.on("error", (error) => counted.destroy(error));
  return request.pipe(counted);
}

/** How long and how much of an unwanted upload is read and thrown away, so that the answer still arrives. */
const lingerMilliseconds = 2_000;
const lingerBytes = 64 * 1024 * 1024;

/** Answers that the upload is larger than `uploadBytes`, as `refuseBody` does. */
export function refuseUpload(request: VisitorRequest, response: VisitorResponse, uploadBytes: number): Promise<void> {
  const limit = `${Math.round((uploadBytes / megabyte) * 10) / 10} MB`;
  return refuseBody(request, response, makePage(request, "tooLarge", { limit }));
}

const megabyte = 1_048_576;

/**
 * Answers with the page and closes. Closing at once would make the system reset the connection while the visitor is still sending,
 * and the page would be lost, so the rest of the body is read and discarded for a while.
 */
export async function refuseBody(request: VisitorRequest, response: VisitorResponse, page: MadePage): Promise<void> {
  response.writeHead(page.status, { ...page.headers, connection: "close" });
  response.write(page.body);
  await swallow(request);
  response.end();
}

/** Resolves when the rest has come, was too much, or took too long. */
function swallow(request: VisitorRequest): Promise<void> {
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
export function isUpload({ headers }: Pick<VisitorRequest, "headers">): boolean {
  const type = headers["content-type"] ?? "";
  return /^multipart\/form-data\b/i.test(type) || headers["content-disposition"] !== undefined;
}
