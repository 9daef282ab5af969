/**
 * Blobs in a bucket of an S3-compatible object store: Amazon's, MinIO, Garage, Ceph and their like.
 *
 * What arrives is what was sent: each put carries the MD5 and the SHA-256 of its content, and the store refuses what does
 * not match. The ETag of the answer isn't held against anything, because it is no MD5 where the store encrypts.
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { XMLParser } from "fast-xml-parser";
import * as v from "valibot";
import { BlobMissing, type Blobs, checkBlobName } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

export interface S3Place {
  /** `https://host:port`. The bucket is in the path. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Folders, with a slash at the end, that all names lie below; or empty. */
  readonly prefix: string;
  /** Null: as the host's name says, where it is Amazon's or another well-known one; otherwise `us-east-1`. */
  readonly region: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** How long is waited for a store that doesn't answer, or not well. */
export interface Patience {
  /** In milliseconds, between one try and the next. */
  readonly pauses: readonly number[];
  /** Rejects if the signal is aborted. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Is aborted when a try that carries so many bytes has had its time. */
  tryTime(bytes: number): AbortSignal;
}

const leastTryMilliseconds = 30_000;
/** Of a megabit a second, about: on a slower line nothing is kept. */
const leastBytesPerMillisecond = 128;

/**
 * Pauses of ten seconds in all, each longer or shorter by chance, so that not all who were refused come back together.
 * From a store that hangs, nobody gets away later than after twelve minutes with a pack, or after two and a half without.
 */
export const usualPatience: Patience = {
  pauses: [500, 2_000, 7_500],
  pause: (milliseconds, signal) => delay(milliseconds * (0.5 + Math.random()), undefined, { signal }),
  tryTime: (bytes) => AbortSignal.timeout(leastTryMilliseconds + Math.ceil(bytes / leastBytesPerMillisecond)),
};

interface Question {
  readonly method: "GET" | "PUT" | "DELETE";
  /** Without the prefix; null asks about the bucket. */
  readonly name: string | null;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: Buffer;
  /** How many bytes go to and fro, about. */
  readonly bytes?: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Nothing is asked before the first use. Everything rejects with `ObjectStoreFailure` if the store fails. */
export function openS3Blobs(place: S3Place, patience: Patience = usualPatience): Blobs {
  const ask = makeAsk(place, patience);

  return {
    put: async (name, given, signal) => {
      checkBlobName(name);
      // Of memory that several threads have `fetch` sends the name of its type.
      const content = given.buffer instanceof SharedArrayBuffer ? Buffer.from(given) : given;
      const headers = {
        "content-md5": createHash("md5").update(content).digest("base64"),
        "x-amz-content-sha256": createHash("sha256").update(content).digest("hex"),
      };
      await ask({ method: "PUT", name, headers, content, bytes: content.length }, () => undefined, signal);
    },
    read: async (name, start, length, signal) => {
      checkBlobName(name);
      const headers = { range: `bytes=${start}-${start + length - 1}` };
      const bytes = await ask(
        { method: "GET", name, headers, bytes: length },
        (answer) => bytesIn(answer, start, length),
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
        const page: Page = await ask({ method: "GET", name: null, query: { ...query, ...more } }, pageIn, signal);
        for (const [key, bytes] of page.objects) found.set(key.slice(place.prefix.length), bytes);
        if (page.next === null) return found;
        if (page.next === from) throw unreadable("The archive store's list has no end.");
        from = page.next;
      }
    },
    remove: async (name) => {
      checkBlobName(name);
      await ask({ method: "DELETE", name }, () => undefined, new AbortController().signal).catch((error: unknown) => {
        if (!isAbsence(error)) throw error;
      });
    },
  };
}

type Ask = <T>(question: Question, read: (answer: Answer) => T, signal: AbortSignal) => Promise<T>;

/** Asks until there is an answer that `read` makes something of, or the patience is at its end. */
function makeAsk(place: S3Place, patience: Patience): Ask {
  return async (question, read, signal) => {
    for (let tried = 0; ; tried += 1) {
      try {
        const answer = await askOnce(place, question, patience.tryTime(question.bytes ?? 0), signal);
        if (answer.status < 200 || answer.status > 299) throw refusal(place, question, answer);
        return read(answer);
      } catch (error) {
        const pause = patience.pauses[tried];
        if (pause === undefined || !(error instanceof ObjectStoreFailure && error.isTransient)) throw error;
        await patience.pause(pause, signal);
      }
    }
  };
}

/** Rejects with the signal's reason where that is what ended it. */
async function askOnce(place: S3Place, question: Question, time: AbortSignal, signal: AbortSignal): Promise<Answer> {
  try {
    return await exchange(place, question, AbortSignal.any([signal, time]));
  } catch (cause) {
    signal.throwIfAborted();
    const [what, why] = time.aborted ? ["takes too long to answer", ""] : ["can't be reached", `: ${reasonOf(cause)}`];
    // Not with its cause, which may hold all that the store sent.
    throw new ObjectStoreFailure(without(place, `The archive store at ${place.endpoint} ${what}${why}.`), {
      isTransient: true,
      summary: `The archive store ${what}.`,
    });
  }
}

async function exchange(place: S3Place, question: Question, signal: AbortSignal): Promise<Answer> {
  const { endpoint, bucket, prefix, region, accessKeyId, secretAccessKey } = place;
  const { method, name, query = {}, content: body = null } = question;
  const path = name === null ? bucket : `${bucket}/${prefix}${name}`;
  const search = new URLSearchParams(query).toString();
  const url = `${endpoint}/${path}${search === "" ? "" : `?${search}`}`;
  const key = { accessKeyId, secretAccessKey, service: "s3", region: region ?? "" };
  const { headers } = await new AwsV4Signer({ ...key, method, url, headers: { ...question.headers } }).sign();
  // Followed, a redirection would lead to where the signature is not good.
  const response = await fetch(url, { method, headers, body, signal, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

/** `fetch` itself says no more than that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  // What OpenSSL says besides is for its own authors.
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("ERR_SSL_")
    ? `it speaks no TLS that is understood (${code}), and tls=off asks without`
    : error.message;
}

/** What was asked for, or what there is of it. A store may also give the whole of what it was asked a part of. */
function bytesIn({ status, headers, body }: Answer, start: number, length: number): Buffer {
  if (status === 200) return body.subarray(start, start + length);
  const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(headers.get("content-range") ?? "") ?? [];
  if (Number(first) !== start || body.length !== Number(last) - start + 1) {
    throw unreadable("The archive store gave other bytes than it was asked for.");
  }
  return body.subarray(0, length);
}

interface Page {
  /** Bytes by key. */
  readonly objects: readonly (readonly [string, number])[];
  /** Where the next page begins; null: there is none. */
  readonly next: string | null;
}

const pageSchema = v.object({
  ListBucketResult: v.object({
    IsTruncated: v.picklist(["true", "false"]),
    NextContinuationToken: v.optional(v.pipe(v.string(), v.minLength(1))),
    Contents: v.optional(v.array(v.object({ Key: v.string(), Size: v.pipe(v.string(), v.regex(/^\d+$/)) }))),
  }),
});

// Names may look like numbers, and are none.
const xml = new XMLParser({ parseTagValue: false, isArray: (name) => name === "Contents" });

/** Null if it is no XML, or not all of it. */
function parseXml(body: Buffer): unknown {
  try {
    return xml.parse(body.toString("utf8"), true);
  } catch {
    return null;
  }
}

function pageIn({ body }: Answer): Page {
  const page = parseXml(body);
  if (!v.is(pageSchema, page)) throw unreadable("The archive store's list can't be read.");
  const { IsTruncated, NextContinuationToken, Contents = [] } = page.ListBucketResult;
  const isLast = IsTruncated === "false";
  if (!isLast && NextContinuationToken === undefined) throw unreadable("The archive store's list breaks off.");
  // A folder created by hand is represented by an object.
  const objects = Contents.filter(({ Key }) => !Key.endsWith("/"));
  return {
    objects: objects.map(({ Key, Size }) => [Key, Number(Size)]),
    next: isLast ? null : (NextContinuationToken ?? null),
  };
}

/** It may have been cut short on the way. */
function unreadable(message: string): ObjectStoreFailure {
  return new ObjectStoreFailure(message, { isTransient: true });
}

function isAbsence(error: unknown): boolean {
  return error instanceof ObjectStoreFailure && error.isAbsence;
}

const errorSchema = v.object({ Error: v.object({ Code: v.string(), Message: v.optional(v.string()) }) });

/** What to do about it, by the store's code or, where it has none that is known, by the status. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["NoSuchBucket", "There is no such bucket in the archive store: make it, or name another."],
  ["RequestTimeTooSkewed", "The clocks of the archive store and of this machine differ: set this machine's."],
  ["AuthorizationHeaderMalformed", "The archive store is in another region: name that one."],
  ["BadDigest", "What was sent to the archive store arrived damaged."],
  ["XAmzContentSHA256Mismatch", "What was sent to the archive store arrived damaged."],
  ["301", "The bucket is kept at another host, or in another region: name that one."],
  ["307", "The bucket is kept at another host, or in another region: name that one."],
  ["401", "The archive store refuses the key, or what is done with it: check key, secret and permissions."],
  ["403", "The archive store refuses the key, or what is done with it: check key, secret and permissions."],
  ["507", "The archive store is full: make room in it."],
]);

/** Apart from 408, 429 and all from 500 on, which pass by their status. */
const passingCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "OperationAborted",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

/** Letters of it in an error. */
const longestAnswer = 300;

function refusal(place: S3Place, { method }: Question, { status, body }: Answer): ObjectStoreFailure {
  const error = parseXml(body);
  const { Code: code, Message = "" } = v.is(errorSchema, error) ? error.Error : { Code: "" };
  const isTransient = status === 408 || status === 429 || status >= 500 || passingCodes.has(code);
  const meaning =
    meanings.get(code) ??
    meanings.get(String(status)) ??
    (isTransient ? "The archive store can't do it at the moment." : "The archive store doesn't do what it is asked.");
  const words = [status, code].join(" ").trim() + (Message === "" ? "." : `: ${Message}`);
  // Shortened last: half a secret is not found.
  const said = without(place, words).slice(0, longestAnswer);
  return new ObjectStoreFailure(
    `${meaning} ${place.endpoint} answered ${method} in the bucket ${place.bucket} with ${said}`,
    { isTransient, isAbsence: code === "NoSuchKey" || code === "InvalidRange" || status === 416, summary: meaning },
  );
}

/** Some stores repeat in an error what they were sent. */
function without({ accessKeyId, secretAccessKey }: S3Place, text: string): string {
  return text.replaceAll(secretAccessKey, "…").replaceAll(accessKeyId, "…");
}
