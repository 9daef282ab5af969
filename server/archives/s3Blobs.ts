/**
 * Blobs in a bucket of an S3-compatible object store: Amazon S3, MinIO, Garage, Ceph and similar ones.
 *
 * Each put carries the MD5 and SHA-256 of its content, and the store rejects content that does not match. The ETag of the
 * response is ignored, because it is no MD5 if the store encrypts.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import * as v from "valibot";
import { BlobMissing, type Blobs, checkBlobName } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

export interface S3Place {
  /** `https://host:port`. Requests have the bucket in the path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Prefix of all names, ending with a slash, or empty. */
  readonly prefix: string;
  /** Null: from the host name of a well-known provider, otherwise `us-east-1`. */
  readonly region: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Retries and timeouts for a store that fails. */
export interface Patience {
  /** Milliseconds before each retry. */
  readonly pauses: readonly number[];
  /** Rejects if the signal is aborted. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns the timeout signal of an attempt that transfers this many bytes. */
  tryTime(bytes: number): AbortSignal;
}

const minTimeoutMilliseconds = 30_000;
/** About one megabit per second. Slower connections time out. */
const minBytesPerMillisecond = 128;

/**
 * Pauses of ten seconds in all, randomized so that retries don't coincide. Worst case for a hanging store: twelve minutes per
 * pack, two and a half minutes for other requests.
 */
export const usualPatience: Patience = {
  pauses: [500, 2_000, 7_500],
  pause: (milliseconds, signal) => delay(milliseconds * (0.5 + Math.random()), undefined, { signal }),
  tryTime: (bytes) => AbortSignal.timeout(minTimeoutMilliseconds + Math.ceil(bytes / minBytesPerMillisecond)),
};

interface S3Request {
  readonly method: "GET" | "PUT" | "DELETE";
  /** Without the prefix. Null: the bucket itself. */
  readonly name: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Buffer;
  /** Approximate number of bytes to transfer. */
  readonly bytes?: number;
}

interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Sends no request before the first use. All methods reject with `ObjectStoreFailure` if the store fails. */
export function openS3Blobs(place: S3Place, patience: Patience = usualPatience): Blobs {
  const send = makeSend(place, patience);

  return {
    put: async (name, given, signal) => {
      checkBlobName(name);
      // `fetch` does not send shared memory but the name of its type.
      const content = given.buffer instanceof SharedArrayBuffer ? Buffer.from(given) : given;
      const headers = {
        "content-md5": createHash("md5").update(content).digest("base64"),
        "x-amz-content-sha256": createHash("sha256").update(content).digest("hex"),
      };
      await send({ method: "PUT", name, headers, content, bytes: content.length }, () => undefined, signal);
    },
    read: async (name, start, length, signal) => {
      checkBlobName(name);
      const headers = { range: `bytes=${start}-${start + length - 1}` };
      const bytes = await send(
        { method: "GET", name, headers, bytes: length },
        (response) => bytesIn(response, start, length),
        signal,
      ).catch((cause: unknown) => {
        throw isAbsence(cause) ? new BlobMissing(name, { cause }) : cause;
      });
      if (bytes.length < length) throw new BlobMissing(name);
      return bytes;
    },
    list: async (folder, signal) => {
      checkBlobName(folder);
      const found = new Map<string, number>();
      const query = { "list-type": "2", prefix: `${place.prefix}${folder}/` };
      for (let from: string | null = null; ; ) {
        const more: Record<string, string> = from === null ? {} : { "continuation-token": from };
        const page: Page = await send({ method: "GET", name: null, query: { ...query, ...more } }, pageIn, signal);
        for (const [key, bytes] of page.objects) found.set(key.slice(place.prefix.length), bytes);
        if (page.next === null) return found;
        if (page.next === from) throw unreadable("The archive store's list does not end.");
        from = page.next;
      }
    },
    remove: async (name) => {
      checkBlobName(name);
      await send({ method: "DELETE", name }, () => undefined, new AbortController().signal).catch((error: unknown) => {
        if (!isAbsence(error)) throw error;
      });
    },
  };
}

type Send = <T>(request: S3Request, read: (response: S3Response) => T, signal: AbortSignal) => Promise<T>;

/** Sends a request, retrying transient failures, including responses that `read` can't read. */
function makeSend(place: S3Place, patience: Patience): Send {
  return async (request, read, signal) => {
    for (let retries = 0; ; retries += 1) {
      try {
        const response = await sendOnce(place, request, patience.tryTime(request.bytes ?? 0), signal);
        if (response.status < 200 || response.status > 299) throw refusal(place, request, response);
        return read(response);
      } catch (error) {
        const pause = patience.pauses[retries];
        if (pause === undefined || !(error instanceof ObjectStoreFailure && error.isTransient)) throw error;
        await patience.pause(pause, signal);
      }
    }
  };
}

/** Rejects with the signal's reason if it was aborted. */
async function sendOnce(
  place: S3Place,
  request: S3Request,
  timeout: AbortSignal,
  signal: AbortSignal,
): Promise<S3Response> {
  try {
    return await exchange(place, request, AbortSignal.any([signal, timeout]));
  } catch (cause) {
    signal.throwIfAborted();
    const [problem, detail] = timeout.aborted
      ? ["takes too long to answer", ""]
      : ["can't be reached", `: ${reasonOf(cause)}`];
    // Without the cause, which may contain everything that the store sent.
    throw new ObjectStoreFailure(withoutSecrets(place, `The archive store at ${place.endpoint} ${problem}${detail}.`), {
      isTransient: true,
      summary: `The archive store ${problem}.`,
    });
  }
}

async function exchange(place: S3Place, request: S3Request, signal: AbortSignal): Promise<S3Response> {
  const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = place;
  const { method, name, query = {}, content: body = null } = request;
  const path = name === null ? bucket : `${bucket}/${prefix}${name}`;
  const search = new URLSearchParams(query).toString();
  const url = `${endpoint}/${path}${search === "" ? "" : `?${search}`}`;
  const key = { accessKeyId, secretAccessKey, service: "s3", region: region ?? "" };
  const { headers } = await new AwsV4Signer({ ...key, method, url, headers: { ...request.headers } }).sign();
  // Redirects are not followed: the signature would be invalid there.
  const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

/** `fetch` itself says only that it failed; the reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  // The rest of OpenSSL's message is of no use to operators.
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("ERR_SSL_")
    ? `the TLS connection failed (${code}); with tls=off it is made without TLS`
    : error.message;
}

/** The requested bytes, or fewer if there are no more. A store may also send the whole object. */
function bytesIn({ status, headers, body }: S3Response, start: number, length: number): Buffer {
  if (status === 200) return body.subarray(start, start + length);
  const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(headers.get("content-range") ?? "") ?? [];
  if (Number(first) !== start || body.length !== Number(last) - start + 1) {
    throw unreadable("The archive store sent other bytes than requested.");
  }
  return body.subarray(0, length);
}

interface Page {
  /** Keys and sizes. */
  readonly objects: readonly (readonly [string, number])[];
  /** Token of the next page, or null. */
  readonly next: string | null;
}

const pageSchema = v.object({
  ListBucketResult: v.object({
    IsTruncated: v.picklist(["true", "false"]),
    NextContinuationToken: v.optional(v.pipe(v.string(), v.minLength(1))),
    Contents: v.optional(v.array(v.object({ Key: v.string(), Size: v.pipe(v.string(), v.regex(/^\d+$/)) }))),
  }),
});

// Names that look like numbers must stay strings.
const xml = new XMLParser({ parseTagValue: false, isArray: (name) => name === "Contents" });

/** Null if the body is not complete XML. */
function parseXml(body: Buffer): unknown {
  try {
    return xml.parse(body.toString("utf8"), true);
  } catch {
    return null;
  }
}

function pageIn({ body }: S3Response): Page {
  const page = parseXml(body);
  if (!v.is(pageSchema, page)) throw unreadable("The archive store's list can't be read.");
  const { IsTruncated, NextContinuationToken, Contents = [] } = page.ListBucketResult;
  const isLast = IsTruncated === "false";
  if (!isLast && NextContinuationToken === undefined) throw unreadable("The archive store's list is incomplete.");
  // Folders created by hand appear as objects.
  const objects = Contents.filter(({ Key }) => !Key.endsWith("/"));
  return {
    objects: objects.map(({ Key, Size }) => [Key, Number(Size)]),
    next: isLast ? null : (NextContinuationToken ?? null),
  };
}

/** Transient, because the response may have been truncated in transit. */
function unreadable(message: string): ObjectStoreFailure {
  return new ObjectStoreFailure(message, { isTransient: true });
}

function isAbsence(error: unknown): boolean {
  return error instanceof ObjectStoreFailure && error.isAbsence;
}

const errorSchema = v.object({ Error: v.object({ Code: v.string(), Message: v.optional(v.string()) }) });

/** Explanations by the store's error code or, if that is unknown, by the status. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["NoSuchBucket", "There is no such bucket in the archive store. Create it, or name another."],
  ["RequestTimeTooSkewed", "The clocks of the archive store and this machine differ. Correct this machine's clock."],
  ["AuthorizationHeaderMalformed", "The archive store is in another region. Name that region."],
  ["BadDigest", "Data was damaged on the way to the archive store."],
  ["XAmzContentSHA256Mismatch", "Data was damaged on the way to the archive store."],
  ["301", "The bucket is at another host or in another region. Name that host or region."],
  ["307", "The bucket is at another host or in another region. Name that host or region."],
  ["401", "The archive store denies access. Check key, secret and permissions."],
  ["403", "The archive store denies access. Check key, secret and permissions."],
  ["507", "The archive store is full. Free up space in it."],
]);

/** Transient errors, in addition to the statuses 408, 429 and 5xx. */
const transientCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "OperationAborted",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

/** Maximum length of the store's response in an error message. */
const maxExcerpt = 300;

function refusal(place: S3Place, { method }: S3Request, { status, body }: S3Response): ObjectStoreFailure {
  const error = parseXml(body);
  const { Code: code, Message = "" } = v.is(errorSchema, error) ? error.Error : { Code: "" };
  const isTransient = status === 408 || status === 429 || status >= 500 || transientCodes.has(code);
  const meaning =
    meanings.get(code) ??
    meanings.get(String(status)) ??
    (isTransient ? "The archive store is temporarily unavailable." : "The archive store rejected the request.");
  const answer = [status, code].join(" ").trim() + (Message === "" ? "." : `: ${Message}`);
  // Secrets are removed before shortening, because half a secret would not be found.
  const excerpt = withoutSecrets(place, answer).slice(0, maxExcerpt);
  return new ObjectStoreFailure(
    `${meaning} ${place.endpoint} answered ${method} in the bucket ${place.bucket} with ${excerpt}`,
    { isTransient, isAbsence: code === "NoSuchKey" || code === "InvalidRange" || status === 416, summary: meaning },
  );
}

/** Some stores repeat the request in error messages. */
function withoutSecrets({ accessKeyId, secretAccessKey }: S3Place, text: string): string {
  return text.replaceAll(secretAccessKey, "…").replaceAll(accessKeyId, "…");
}
