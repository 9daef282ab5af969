/** Request bodies and their size limit. */
import { isWaiting } from "./expectations.ts";
import { maxBodyBytes, type UploadLimits } from "./limits.ts";
import { type MadePage, makePage } from "./pages.ts";
import { createPiecePace } from "./tinyPieces.ts";
import type { RequestHead, VisitorRequest, VisitorResponse } from "./visitorHttp.ts";

export class UploadTooLarge extends Error {
  override readonly name = "UploadTooLarge";
}

/** Whether the request has a body. */
export function hasBody({ headers, stream }: RequestHead): boolean {
  if (stream !== undefined) return !stream.endAfterHeaders;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0;
}

/** Whether the announced length exceeds the limit, so that the body need not be read. */
export function exceedsUploadLimit(request: VisitorRequest, limits: UploadLimits): boolean {
  return Number(request.headers["content-length"] ?? 0) > maxBodyBytes(limits);
}

/** How long and how much of a refused upload is read and discarded, so that the response arrives. */
const drainMilliseconds = 2_000;
const drainBytes = 64 * 1024 * 1024;

/** Refuses a body that is too large. */
export function refuseUpload(
  request: VisitorRequest,
  response: VisitorResponse,
  { uploadBytes }: UploadLimits,
): Promise<void> {
  const limit = `${Math.round((uploadBytes / megabyte) * 10) / 10} MB`;
  return refuseBody(request, response, makePage(request, "tooLarge", { limit }));
}

const megabyte = 1_048_576;

/**
 * Sends the page and closes the connection. Reads and discards the rest of the body for a while: closing at once would
 * reset the connection while the visitor is still sending, and the page would be lost.
 */
export async function refuseBody(request: VisitorRequest, response: VisitorResponse, page: MadePage): Promise<void> {
  response.writeHead(page.status, { ...page.headers, connection: "close" });
  response.write(page.body);
  await drain(request);
  response.end();
}

/** Resolves when the rest has been read, is too large or takes too long. */
function drain(request: VisitorRequest): Promise<void> {
  if (request.readableEnded || request.destroyed || isWaiting(request)) return Promise.resolve();
  return new Promise((done) => {
    let bytes = 0;
    const pace = createPiecePace();
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > drainBytes || pace(chunk.length) !== null) finish();
    };
    const finish = () => {
      clearTimeout(timer);
      request.off("data", count);
      request.pause();
      done();
    };
    const timer = setTimeout(finish, drainMilliseconds);
    request.on("data", count);
    request.once("end", finish).once("close", finish).once("error", finish);
    request.resume();
  });
}

/** Whether the head announces a form with files, or a file. */
export function isUpload({ headers }: Pick<VisitorRequest, "headers">): boolean {
  const type = headers["content-type"] ?? "";
  return /^multipart\/form-data\b/i.test(type) || headers["content-disposition"] !== undefined;
}
