import { createHash, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parseArchiveUrl } from "../settings/archiveUrl.ts";
import { BlobMissing, type Blobs } from "./blobs.ts";
import { load, loadManifest } from "./load.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { makePieceBox } from "./pieceBox.ts";
import { openS3Blobs, type Patience, type S3Place, usualPatience } from "./s3Blobs.ts";
import { save } from "./save.ts";
import { testBlobs } from "./testing/blobsConformance.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";
import { type S3Server, startS3Server } from "./testing/s3Server.ts";

const { signal } = new AbortController();

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());

/** A unique place. */
const freshPlace = () => server.place(`${randomUUID()}/`);

testBlobs("a bucket", async () => openS3Blobs(freshPlace()));

test("a backup whose pieces are made by threads can be stored in a bucket and restored", async () => {
  const root = await mkdtemp(join(tmpdir(), "sws3-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const from = join(root, "from");
  await mkdir(from);
  const files = { "large.bin": randomBytes(12_000_000), "small.txt": Buffer.from("small") };
  for (const [file, bytes] of Object.entries(files)) await writeFile(join(from, file), bytes);
  const blobs = openS3Blobs(freshPlace());
  const options = {
    blobs,
    index: createMemoryIndex(),
    box: makePieceBox(randomBytes(32), "company"),
    folder: "packs",
    signal,
  };
  const { manifest } = await save(from, { ...options, before: new Map() });
  const to = join(root, "to");
  await load(await loadManifest(manifest, options), to, () => true, options);
  for (const [file, bytes] of Object.entries(files)) expect((await readFile(join(to, file))).equals(bytes)).toBe(true);
});

/** Such as `s3://KEY:SECRET@host:port/bucket/folder`. The test leaves its objects there. */
const other = process.env.SITEWRIGHT_TEST_S3;
if (other !== undefined) {
  testBlobs("the bucket of SITEWRIGHT_TEST_S3", async () => {
    const place = parseArchiveUrl(other, "");
    if (place.kind !== "s3") throw new Error("SITEWRIGHT_TEST_S3 names no bucket.");
    return openS3Blobs({ ...place, prefix: `${place.prefix}${randomUUID()}/` });
  });
}

const content = randomBytes(100_000);
const name = "packs/one";

const calls: readonly (readonly [string, (blobs: Blobs, signal: AbortSignal) => Promise<unknown>])[] = [
  ["put", (blobs, until) => blobs.put(name, content, until)],
  ["read", (blobs, until) => blobs.read(name, 0, content.length, until)],
  ["list", (blobs, until) => blobs.list("packs", until)],
  ["remove", (blobs) => blobs.remove(name)],
];

/** Records pauses instead of waiting. Attempts time out when `timeout` is aborted. */
function withoutWaiting(timeout = new AbortController().signal): Patience & { readonly waited: number[] } {
  const waited: number[] = [];
  return {
    pauses: usualPatience.pauses,
    pause: async (milliseconds) => void waited.push(milliseconds),
    tryTime: () => timeout,
    waited,
  };
}

const tries = usualPatience.pauses.length + 1;

/** Starts a server and returns `http://127.0.0.1:port`. */
async function listen(answer: RequestListener): Promise<string> {
  const listening = createServer(answer).listen(0, "127.0.0.1");
  await once(listening, "listening");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  const address = listening.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const place: Omit<S3Place, "endpoint"> = {
  bucket: "archives",
  prefix: "",
  region: null,
  accessKeyId: "AKIAEXAMPLE",
  secretAccessKey: "not/to+be:seen",
};

async function openFaulty(answer: RequestListener, patience: Patience = withoutWaiting()): Promise<Blobs> {
  return openS3Blobs({ ...place, endpoint: await listen(answer) }, patience);
}

/** Forwards the request to the S3 server, and its response back. */
function passOn(from: IncomingMessage, body: Buffer, to: Parameters<RequestListener>[1]): void {
  const { method, headers } = from;
  const onward = request(new URL(from.url ?? "/", server.place("").endpoint), { method, headers }, (answer) => {
    to.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(to);
  });
  onward.end(body);
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("It should have failed.");
  return error;
}

const errorXml = (code: string, message: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;

describe("a real store", () => {
  test("lists more objects than fit on one page", async () => {
    const blobs = openS3Blobs(freshPlace());
    const names = Array.from({ length: 1_001 }, (_, at) => `packs/${at}`);
    const queue = names.values();
    const workers = Array.from({ length: 20 }, async () => {
      for (const each of queue) await blobs.put(each, Buffer.from(each), signal);
    });
    await Promise.all(workers);
    expect(await blobs.list("packs", signal)).toEqual(new Map(names.map((each) => [each, each.length])));
  });

  test("separates folders", async () => {
    const [mine, yours, all] = [freshPlace(), freshPlace(), server.place("")];
    await openS3Blobs(mine).put(name, content, signal);
    expect(await openS3Blobs(yours).list("packs", signal)).toEqual(new Map());
    const below = mine.prefix.slice(0, -1);
    expect(await openS3Blobs(all).list(below, signal)).toEqual(new Map([[`${below}/${name}`, content.length]]));
    expect((await openS3Blobs(all).read(`${below}/${name}`, 0, content.length, signal)).equals(content)).toBe(true);
  });

  test.each(calls)("reports a missing bucket on %s", async (_, call) => {
    const error = await failureOf(call(openS3Blobs({ ...freshPlace(), bucket: "elsewhere" }), signal));
    expect(error).toBeInstanceOf(ObjectStoreFailure);
    expect(error.message).toMatch(/^There is no such bucket .* with 404 NoSuchBucket: /);
  });

  test.each([{ accessKeyId: "NOBODY" }, { secretAccessKey: "another-secret" }])("refuses %j", async (wrong) => {
    for (const [, call] of calls) {
      const error = await failureOf(call(openS3Blobs({ ...freshPlace(), ...wrong }), signal));
      expect(error.message).toMatch(/^The archive store denies access\. .* with 403 /);
      expect(inspect(error, { depth: Infinity })).not.toMatch(/NOBODY|another-secret/);
    }
  });
});

describe("a store that fails", () => {
  test.each(calls)("at first is retried on %s", async (_, call) => {
    let failures = 0;
    const through = await listen(async (asked, answer) => {
      const body = await buffer(asked);
      const fault = [500, 503, 429][failures];
      if (fault === undefined) return passOn(asked, body, answer);
      failures += 1;
      answer.writeHead(fault).end(errorXml("SlowDown", "Please reduce your request rate."));
    });
    const straight = freshPlace();
    await openS3Blobs(straight).put(name, content, signal);
    const patience = withoutWaiting();
    const got = await call(openS3Blobs({ ...straight, endpoint: through }, patience), signal);
    expect(patience.waited).toEqual(usualPatience.pauses);
    if (got instanceof Buffer) expect(got.equals(content)).toBe(true);
    if (got instanceof Map) expect(got).toEqual(new Map([[name, content.length]]));
  });

  test.each(calls)("permanently is given up on %s", async (_, call) => {
    const patience = withoutWaiting();
    let asked = 0;
    const blobs = await openFaulty((_request, answer) => {
      asked += 1;
      answer.writeHead(500).end(errorXml("InternalError", "We encountered an internal error."));
    }, patience);
    const error = await failureOf(call(blobs, signal));
    expect(error).toMatchObject({ name: "ObjectStoreFailure", isTransient: true });
    expect(error.message).toMatch(
      /^The archive store is temporarily unavailable\. .* with 500 InternalError: We encountered an internal error\.$/,
    );
    expect([asked, patience.waited]).toEqual([tries, usualPatience.pauses]);
  });

  test.each(calls)("to answer %s in time is given up on", async (_, call) => {
    const time = new AbortController();
    const blobs = await openFaulty(() => time.abort(), withoutWaiting(time.signal));
    const error = await failureOf(call(blobs, signal));
    expect(error.message).toMatch(/^The archive store at http:.* takes too long to answer\.$/);
    expect(error).toMatchObject({ isTransient: true });
  });

  test("to complete its response in time is given up on", async () => {
    const time = new AbortController();
    const blobs = await openFaulty((_request, answer) => {
      answer.writeHead(206, { "content-length": content.length }).write("a little", () => time.abort());
    }, withoutWaiting(time.signal));
    const error = await failureOf(blobs.read(name, 0, content.length, signal));
    expect(error.message).toContain("takes too long to answer");
  });

  test.each(calls)("because it is down is reported on %s", async (_, call) => {
    const patience = withoutWaiting();
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" ? address?.port : "";
    taken.close();
    const error = await failureOf(
      call(openS3Blobs({ ...place, endpoint: `http://127.0.0.1:${port}` }, patience), signal),
    );
    expect(error.message).toBe(
      `The archive store at http://127.0.0.1:${port} can't be reached: connect ECONNREFUSED 127.0.0.1:${port}.`,
    );
    expect(patience.waited).toEqual(usualPatience.pauses);
  });

  test.each(calls)("by closing the connection is retried on %s", async (_, call) => {
    const patience = withoutWaiting();
    const blobs = await openFaulty((asked) => asked.socket.destroy(), patience);
    expect((await failureOf(call(blobs, signal))).message).toContain("can't be reached");
    expect(patience.waited).toEqual(usualPatience.pauses);
  });

  test.each(calls)("for good is not retried on %s", async (_, call) => {
    let asked = 0;
    const blobs = await openFaulty((_request, answer) => {
      asked += 1;
      answer.writeHead(403).end(errorXml("AccessDenied", "Access Denied"));
    });
    const error = await failureOf(call(blobs, signal));
    expect(error).toMatchObject({ name: "ObjectStoreFailure", isTransient: false });
    expect(error.message).toMatch(/^The archive store denies access\. .* 403 AccessDenied/);
    expect(asked).toBe(1);
  });

  test.each([
    [301, "PermanentRedirect", "at another host"],
    [400, "AuthorizationHeaderMalformed", "in another region"],
    [403, "RequestTimeTooSkewed", "The clocks of"],
    [405, "MethodNotAllowed", "rejected the request"],
  ])("with %i %s is explained", async (status, code, meaning) => {
    for (const [, call] of calls) {
      const body = errorXml(code, "It says why.");
      const blobs = await openFaulty((_request, answer) => answer.writeHead(status, { location: "/" }).end(body));
      const error = await failureOf(call(blobs, signal));
      expect(error).toBeInstanceOf(ObjectStoreFailure);
      expect(error.message).toContain(meaning);
      expect(error.message).toMatch(new RegExp(`with ${status} ${code}: It says why\\.$`));
    }
  });

  test.each(["", "<html>Not found</html>", "<Error><Code>NoSuchK"])(
    "with an unreadable error body: %j",
    async (body) => {
      const blobs = await openFaulty((_request, answer) => answer.writeHead(404).end(body));
      for (const [, call] of calls) {
        const error = await failureOf(call(blobs, signal));
        expect(error).toBeInstanceOf(ObjectStoreFailure);
        expect(error.message).toMatch(/^The archive store rejected the request\. .* with 404\.$/);
      }
    },
  );

  test("to speak TLS is reported", async () => {
    const endpoint = await listen((_request, answer) => answer.end());
    const blobs = openS3Blobs({ ...place, endpoint: endpoint.replace("http:", "https:") }, withoutWaiting());
    const error = await failureOf(blobs.list("packs", signal));
    expect(error.message).toMatch(/ can't be reached: the TLS connection failed .* tls=off it is made without TLS\.$/);
  });
});

describe("a response", () => {
  const whole = { "content-range": `bytes 0-${content.length - 1}/${content.length}` };
  const half = content.subarray(0, 50_000);

  test.each<[string, RequestListener]>([
    [
      "whose connection breaks",
      (_request, answer) => {
        answer.writeHead(206, { ...whole, "content-length": content.length });
        answer.write(half, () => answer.destroy());
      },
    ],
    ["with fewer bytes than announced", (_request, answer) => void answer.writeHead(206, whole).end(half)],
    ["that doesn't say which part it is", (_request, answer) => void answer.writeHead(206).end(content)],
  ])("%s is retried, and is not a missing blob", async (_, breakOff) => {
    let requests = 0;
    const once = await openFaulty((asked, answer) => {
      requests += 1;
      if (requests === 1) breakOff(asked, answer);
      else answer.writeHead(206, whole).end(content);
    });
    expect((await once.read(name, 0, content.length, signal)).equals(content)).toBe(true);
    const always = await openFaulty(breakOff);
    expect(await failureOf(always.read(name, 0, content.length, signal))).toBeInstanceOf(ObjectStoreFailure);
  });

  test("with the whole object instead of a part is accepted", async () => {
    const blobs = await openFaulty((_request, answer) => answer.end(content));
    expect((await blobs.read(name, 10, 20, signal)).equals(content.subarray(10, 30))).toBe(true);
    await expect(blobs.read(name, content.length - 1, 2, signal)).rejects.toBeInstanceOf(BlobMissing);
  });

  const listXml = (inside: string) => `<ListBucketResult xmlns="http://s3.amazonaws.com/">${inside}</ListBucketResult>`;

  test("with a list keeps names that look like numbers", async () => {
    const objects = ["packs/007", "packs/1e3", "packs/"].map(
      (key) => `<Contents><Key>${key}</Key><ETag>&quot;a&quot;</ETag><Size>12</Size></Contents>`,
    );
    const body = listXml(`<IsTruncated>false</IsTruncated>${objects.join("")}`);
    const blobs = await openFaulty((_request, answer) => answer.end(body));
    expect(await blobs.list("packs", signal)).toEqual(
      new Map([
        ["packs/007", 12],
        ["packs/1e3", 12],
      ]),
    );
  });

  test.each([
    ["is truncated", listXml("<IsTruncated>false</IsTruncated>").slice(0, -10)],
    ["is something else", "<html></html>"],
    ["has no continuation token", listXml("<IsTruncated>true</IsTruncated>")],
    ["does not end", listXml("<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>")],
  ])("with a list that %s is rejected", async (_, body) => {
    const blobs = await openFaulty((_request, answer) => answer.end(body));
    expect((await failureOf(blobs.list("packs", signal))).message).toMatch(/^The archive store's list /);
  });
});

describe("content that is damaged in transit", () => {
  /** Compares the content with its checksums, which real stores do and s3rver doesn't. */
  function isDamaged({ headers }: IncomingMessage, body: Buffer): boolean {
    const md5 = createHash("md5").update(body).digest("base64");
    const sha256 = createHash("sha256").update(body).digest("hex");
    return headers["content-md5"] !== md5 || headers["x-amz-content-sha256"] !== sha256;
  }

  /** Flips one bit in each of the first `times` PUTs. */
  async function openDamaging(straight: S3Place, times: number): Promise<Blobs> {
    let left = times;
    const endpoint = await listen(async (asked, answer) => {
      const body = await buffer(asked);
      if (left > 0) body.writeUInt8(body.readUInt8(5_000) ^ 1, 5_000);
      left -= 1;
      if (!isDamaged(asked, body)) return passOn(asked, body, answer);
      answer.writeHead(400).end(errorXml("BadDigest", "The Content-MD5 you specified did not match what we received."));
    });
    return openS3Blobs({ ...straight, endpoint }, withoutWaiting());
  }

  test("is rejected", async () => {
    const straight = freshPlace();
    const error = await failureOf((await openDamaging(straight, Infinity)).put(name, content, signal));
    expect(error.message).toMatch(/^Data was damaged on the way to the archive store\. .* with 400 BadDigest/);
    expect(await openS3Blobs(straight).list("packs", signal)).toEqual(new Map());
  });

  test("is sent again", async () => {
    const straight = freshPlace();
    await (await openDamaging(straight, 2)).put(name, content, signal);
    expect((await openS3Blobs(straight).read(name, 0, content.length, signal)).equals(content)).toBe(true);
  });
});

describe("aborting", () => {
  const untilAsked = calls.filter(([call]) => call !== "remove");

  test.each(untilAsked)("a running %s rejects at once", async (_, call) => {
    const given = new AbortController();
    const reason = new Error("given up");
    const patience = withoutWaiting();
    const blobs = await openFaulty(() => given.abort(reason), patience);
    expect(await failureOf(call(blobs, given.signal))).toBe(reason);
    expect(patience.waited).toEqual([]);
  });

  test.each(untilAsked)("a %s is not retried", async (_, call) => {
    const given = new AbortController();
    let asked = 0;
    const answer: RequestListener = (_request, response) => {
      asked += 1;
      response.writeHead(500).end();
    };
    const pause: Patience["pause"] = (milliseconds, until) => {
      given.abort();
      return usualPatience.pause(milliseconds, until);
    };
    const blobs = await openFaulty(answer, { ...usualPatience, pause });
    expect((await failureOf(call(blobs, given.signal))).name).toBe("AbortError");
    expect(asked).toBe(1);
  });
});

test("the default pauses are ten seconds in all", () => {
  expect(usualPatience.pauses.reduce((sum, pause) => sum + pause)).toBe(10_000);
});

test("the region is the configured one, or us-east-1", async () => {
  const scopes: (string | undefined)[] = [];
  const endpoint = await listen((asked, answer) => {
    scopes.push(/Credential=AKIAEXAMPLE\/\d{8}\/([^,]+),/.exec(asked.headers.authorization ?? "")?.[1]);
    answer.writeHead(204).end();
  });
  for (const region of [null, "eu-central-1"]) await openS3Blobs({ ...place, endpoint, region }).remove(name);
  expect(scopes).toEqual(["us-east-1/s3/aws4_request", "eu-central-1/s3/aws4_request"]);
});

test("errors never contain the key or the secret, even if the store repeats the request", async () => {
  const { accessKeyId, secretAccessKey } = place;
  const repeated = (asked: IncomingMessage) => `${accessKeyId} ${secretAccessKey} ${asked.headers.authorization}`;
  const faults: readonly RequestListener[] = [
    (asked, answer) => answer.writeHead(403).end(errorXml("InvalidAccessKeyId", repeated(asked))),
    (asked, answer) => answer.writeHead(500).end(errorXml(accessKeyId, repeated(asked))),
    // Truncated in the middle of the secret.
    (_asked, answer) => answer.writeHead(500).end(errorXml("A", secretAccessKey.repeat(100))),
    (asked, answer) => answer.end(repeated(asked)),
    (asked) => asked.socket.end(`HTTP/1.1 ${repeated(asked)}\r\n\r\n`),
    (asked) => asked.socket.destroy(),
  ];
  for (const fault of faults) {
    for (const [, call] of calls) {
      const blobs = await openFaulty(fault);
      const error: unknown = await call(blobs, signal).catch((reason: unknown) => reason);
      const shown = inspect(error, { depth: Infinity });
      expect(shown).not.toContain(accessKeyId);
      expect(shown).not.toContain(secretAccessKey.slice(0, 6));
    }
  }
});
