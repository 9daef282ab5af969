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

/** Nobody else's. */
const freshPlace = () => server.place(`${randomUUID()}/`);

testBlobs("a bucket", async () => openS3Blobs(freshPlace()));

test("a backup of which threads make the pieces is kept in a bucket, and comes back", async () => {
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

/** Such as `s3://KEY:SECRET@host:port/bucket/folder`: what this test puts there stays there. */
const other = process.env.SITEWRIGHT_TEST_S3;
if (other !== undefined) {
  testBlobs("the bucket that SITEWRIGHT_TEST_S3 names", async () => {
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

/** Never waits, but says how long it would have. A try's time is up when `time` says so. */
function impatience(time = new AbortController().signal): Patience & { readonly waited: number[] } {
  const waited: number[] = [];
  return {
    pauses: usualPatience.pauses,
    pause: async (milliseconds) => void waited.push(milliseconds),
    tryTime: () => time,
    waited,
  };
}

const tries = usualPatience.pauses.length + 1;

/** `http://127.0.0.1:port` of a server of the test's own. */
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

async function openFaulty(answer: RequestListener, patience: Patience = impatience()): Promise<Blobs> {
  return openS3Blobs({ ...place, endpoint: await listen(answer) }, patience);
}

/** Sends it on to the S3 server, with the body given, and its answer back. */
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
  test("lists more than it gives at once", async () => {
    const blobs = openS3Blobs(freshPlace());
    const names = Array.from({ length: 1_001 }, (_, at) => `packs/${at}`);
    const queue = names.values();
    const workers = Array.from({ length: 20 }, async () => {
      for (const each of queue) await blobs.put(each, Buffer.from(each), signal);
    });
    await Promise.all(workers);
    expect(await blobs.list("packs", signal)).toEqual(new Map(names.map((each) => [each, each.length])));
  });

  test("keeps apart what lies below two folders, and below none", async () => {
    const [mine, yours, all] = [freshPlace(), freshPlace(), server.place("")];
    await openS3Blobs(mine).put(name, content, signal);
    expect(await openS3Blobs(yours).list("packs", signal)).toEqual(new Map());
    const below = mine.prefix.slice(0, -1);
    expect(await openS3Blobs(all).list(below, signal)).toEqual(new Map([[`${below}/${name}`, content.length]]));
    expect((await openS3Blobs(all).read(`${below}/${name}`, 0, content.length, signal)).equals(content)).toBe(true);
  });

  test.each(calls)("says on %s that there is no such bucket", async (_, call) => {
    const error = await failureOf(call(openS3Blobs({ ...freshPlace(), bucket: "elsewhere" }), signal));
    expect(error).toBeInstanceOf(ObjectStoreFailure);
    expect(error.message).toMatch(/^There is no such bucket .* with 404 NoSuchBucket: /);
  });

  test.each([{ accessKeyId: "NOBODY" }, { secretAccessKey: "another-secret" }])("refuses %j", async (wrong) => {
    for (const [, call] of calls) {
      const error = await failureOf(call(openS3Blobs({ ...freshPlace(), ...wrong }), signal));
      expect(error.message).toMatch(/^The archive store refuses the key, .* with 403 /);
      expect(inspect(error, { depth: Infinity })).not.toMatch(/NOBODY|another-secret/);
    }
  });
});

describe("a store that fails", () => {
  test.each(calls)("at first is asked to %s again", async (_, call) => {
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
    const patience = impatience();
    const got = await call(openS3Blobs({ ...straight, endpoint: through }, patience), signal);
    expect(patience.waited).toEqual(usualPatience.pauses);
    if (got instanceof Buffer) expect(got.equals(content)).toBe(true);
    if (got instanceof Map) expect(got).toEqual(new Map([[name, content.length]]));
  });

  test.each(calls)("for ever is given up on %s", async (_, call) => {
    const patience = impatience();
    let asked = 0;
    const blobs = await openFaulty((_request, answer) => {
      asked += 1;
      answer.writeHead(500).end(errorXml("InternalError", "We encountered an internal error."));
    }, patience);
    const error = await failureOf(call(blobs, signal));
    expect(error).toMatchObject({ name: "ObjectStoreFailure", isTransient: true });
    expect(error.message).toMatch(
      /^The archive store can't do it at the moment\. .* with 500 InternalError: We encountered an internal error\.$/,
    );
    expect([asked, patience.waited]).toEqual([tries, usualPatience.pauses]);
  });

  test.each(calls)("to answer %s in time is given up", async (_, call) => {
    const time = new AbortController();
    const blobs = await openFaulty(() => time.abort(), impatience(time.signal));
    const error = await failureOf(call(blobs, signal));
    expect(error.message).toMatch(/^The archive store at http:.* takes too long to answer\.$/);
    expect(error).toMatchObject({ isTransient: true });
  });

  test("to end its answer in time is given up", async () => {
    const time = new AbortController();
    const blobs = await openFaulty((_request, answer) => {
      answer.writeHead(206, { "content-length": content.length }).write("a little", () => time.abort());
    }, impatience(time.signal));
    const error = await failureOf(blobs.read(name, 0, content.length, signal));
    expect(error.message).toContain("takes too long to answer");
  });

  test.each(calls)("to be there is said on %s", async (_, call) => {
    const patience = impatience();
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

  test.each(calls)("to keep up the connection is asked to %s again", async (_, call) => {
    const patience = impatience();
    const blobs = await openFaulty((asked) => asked.socket.destroy(), patience);
    expect((await failureOf(call(blobs, signal))).message).toContain("can't be reached");
    expect(patience.waited).toEqual(usualPatience.pauses);
  });

  test.each(calls)("for good is not asked to %s again", async (_, call) => {
    let asked = 0;
    const blobs = await openFaulty((_request, answer) => {
      asked += 1;
      answer.writeHead(403).end(errorXml("AccessDenied", "Access Denied"));
    });
    const error = await failureOf(call(blobs, signal));
    expect(error).toMatchObject({ name: "ObjectStoreFailure", isTransient: false });
    expect(error.message).toMatch(/^The archive store refuses the key, or what is done with it: .* 403 AccessDenied/);
    expect(asked).toBe(1);
  });

  test.each([
    [301, "PermanentRedirect", "kept at another host"],
    [400, "AuthorizationHeaderMalformed", "in another region"],
    [403, "RequestTimeTooSkewed", "The clocks of"],
    [405, "MethodNotAllowed", "doesn't do what it is asked"],
  ])("with %i %s is understood", async (status, code, meaning) => {
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
    "is believed no more than it says: %j",
    async (body) => {
      const blobs = await openFaulty((_request, answer) => answer.writeHead(404).end(body));
      for (const [, call] of calls) {
        const error = await failureOf(call(blobs, signal));
        expect(error).toBeInstanceOf(ObjectStoreFailure);
        expect(error.message).toMatch(/^The archive store doesn't do what it is asked\. .* with 404\.$/);
      }
    },
  );

  test("to speak TLS is said", async () => {
    const endpoint = await listen((_request, answer) => answer.end());
    const blobs = openS3Blobs({ ...place, endpoint: endpoint.replace("http:", "https:") }, impatience());
    const error = await failureOf(blobs.list("packs", signal));
    expect(error.message).toMatch(/ can't be reached: it speaks no TLS .* tls=off asks without\.$/);
  });
});

describe("an answer", () => {
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
    ["of fewer bytes than it says", (_request, answer) => void answer.writeHead(206, whole).end(half)],
    ["that doesn't say of what it is a part", (_request, answer) => void answer.writeHead(206).end(content)],
  ])("%s is asked for again, and is nobody's missing blob", async (_, breakOff) => {
    let broken = 0;
    const once = await openFaulty((asked, answer) => {
      broken += 1;
      if (broken === 1) breakOff(asked, answer);
      else answer.writeHead(206, whole).end(content);
    });
    expect((await once.read(name, 0, content.length, signal)).equals(content)).toBe(true);
    const forEver = await openFaulty(breakOff);
    expect(await failureOf(forEver.read(name, 0, content.length, signal))).toBeInstanceOf(ObjectStoreFailure);
  });

  test("of the whole is as good as of the part", async () => {
    const blobs = await openFaulty((_request, answer) => answer.end(content));
    expect((await blobs.read(name, 10, 20, signal)).equals(content.subarray(10, 30))).toBe(true);
    await expect(blobs.read(name, content.length - 1, 2, signal)).rejects.toBeInstanceOf(BlobMissing);
  });

  const listXml = (inside: string) => `<ListBucketResult xmlns="http://s3.amazonaws.com/">${inside}</ListBucketResult>`;

  test("that lists is read as it is written", async () => {
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
    ["is cut short", listXml("<IsTruncated>false</IsTruncated>").slice(0, -10)],
    ["is something else", "<html></html>"],
    ["does not say where it goes on", listXml("<IsTruncated>true</IsTruncated>")],
    ["has no end", listXml("<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>")],
  ])("that %s is no list", async (_, body) => {
    const blobs = await openFaulty((_request, answer) => answer.end(body));
    expect((await failureOf(blobs.list("packs", signal))).message).toMatch(/^The archive store's list /);
  });
});

describe("what was damaged on the way", () => {
  /** Does what a store does with what it gets, and s3rver doesn't: compares it with the checksums that came with it. */
  function isDamaged({ headers }: IncomingMessage, body: Buffer): boolean {
    const md5 = createHash("md5").update(body).digest("base64");
    const sha256 = createHash("sha256").update(body).digest("hex");
    return headers["content-md5"] !== md5 || headers["x-amz-content-sha256"] !== sha256;
  }

  /** Of each PUT, as long as `times` lasts, one bit is turned over. */
  async function openDamaging(straight: S3Place, times: number): Promise<Blobs> {
    let left = times;
    const endpoint = await listen(async (asked, answer) => {
      const body = await buffer(asked);
      if (left > 0) body.writeUInt8(body.readUInt8(5_000) ^ 1, 5_000);
      left -= 1;
      if (!isDamaged(asked, body)) return passOn(asked, body, answer);
      answer.writeHead(400).end(errorXml("BadDigest", "The Content-MD5 you specified did not match what we received."));
    });
    return openS3Blobs({ ...straight, endpoint }, impatience());
  }

  test("is refused", async () => {
    const straight = freshPlace();
    const error = await failureOf((await openDamaging(straight, Infinity)).put(name, content, signal));
    expect(error.message).toMatch(/^What was sent to the archive store arrived damaged\. .* with 400 BadDigest/);
    expect(await openS3Blobs(straight).list("packs", signal)).toEqual(new Map());
  });

  test("is sent again", async () => {
    const straight = freshPlace();
    await (await openDamaging(straight, 2)).put(name, content, signal);
    expect((await openS3Blobs(straight).read(name, 0, content.length, signal)).equals(content)).toBe(true);
  });
});

describe("whoever gives up", () => {
  const untilAsked = calls.filter(([call]) => call !== "remove");

  test.each(untilAsked)("a %s that is under way waits for no answer", async (_, call) => {
    const given = new AbortController();
    const reason = new Error("given up");
    const patience = impatience();
    const blobs = await openFaulty(() => given.abort(reason), patience);
    expect(await failureOf(call(blobs, given.signal))).toBe(reason);
    expect(patience.waited).toEqual([]);
  });

  test.each(untilAsked)("a %s waits for no further try", async (_, call) => {
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

test("the usual patience waits ten seconds in all", () => {
  expect(usualPatience.pauses.reduce((sum, pause) => sum + pause)).toBe(10_000);
});

test("the region is that of the place, or us-east-1", async () => {
  const scopes: (string | undefined)[] = [];
  const endpoint = await listen((asked, answer) => {
    scopes.push(/Credential=AKIAEXAMPLE\/\d{8}\/([^,]+),/.exec(asked.headers.authorization ?? "")?.[1]);
    answer.writeHead(204).end();
  });
  for (const region of [null, "eu-central-1"]) await openS3Blobs({ ...place, endpoint, region }).remove(name);
  expect(scopes).toEqual(["us-east-1/s3/aws4_request", "eu-central-1/s3/aws4_request"]);
});

test("no error holds the key or the secret, even where the store repeats what it was sent", async () => {
  const { accessKeyId, secretAccessKey } = place;
  const repeated = (asked: IncomingMessage) => `${accessKeyId} ${secretAccessKey} ${asked.headers.authorization}`;
  const faults: readonly RequestListener[] = [
    (asked, answer) => answer.writeHead(403).end(errorXml("InvalidAccessKeyId", repeated(asked))),
    (asked, answer) => answer.writeHead(500).end(errorXml(accessKeyId, repeated(asked))),
    // Where it is cut short, half of the secret would be left.
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
