import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { UploadTooLarge } from "../http/uploads.ts";
import { makeFolder } from "../testing/withEdge.ts";
import { type BodyOptions, openBodies, VisitorLeft } from "./bodies.ts";
import { NoRoom } from "./bodyStore.ts";

const piece = 64 * 1024;
const megabyte = 1 << 20;
const someone = { payer: "one", network: "192.0.2.1" };

async function open(changes: Partial<BodyOptions> = {}) {
  const folder = path.join(await makeFolder(), "bodies");
  const pace = { graceSeconds: 60, requestSeconds: 60 };
  const bodies = await openBodies({ folder, bodyBytes: 64 * megabyte, pace, ...changes });
  const receive: typeof bodies.receive = async (request, claimant) => {
    const body = await bodies.receive(request, claimant);
    onTestFinished(() => body.close());
    return body;
  };
  return { folder, bodies: { ...bodies, receive } };
}

/** A request whose body the test sends. Without a length, it is chunked. */
function upload(length?: number) {
  const headers = length === undefined ? {} : { "content-length": String(length) };
  const socket = { bytesWritten: 0 };
  const request = Object.assign(new PassThrough(), { headers, rawHeaders: [], httpVersion: "1.1", socket });
  onTestFinished(() => void request.destroy());
  return request;
}

function piecesOf(count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => Buffer.alloc(piece, `piece ${index} `));
}

describe("a body", () => {
  test.each([
    { pieces: 0, isAnnounced: true, files: 0 },
    { pieces: 16, isAnnounced: true, files: 0 },
    { pieces: 16, isAnnounced: false, files: 0 },
    { pieces: 17, isAnnounced: true, files: 2 * megabyte },
    { pieces: 100, isAnnounced: false, files: 7 * megabyte },
  ])("of $pieces pieces is complete, and only a large one goes to disk", async ({ pieces, isAnnounced, files }) => {
    const { bodies } = await open();
    const sent = piecesOf(pieces);
    const request = upload(isAnnounced ? pieces * piece : undefined);
    const receiving = bodies.receive(request, someone);
    for (const chunk of sent) request.write(chunk);
    request.end();
    const body = await receiving;
    for (const _ of ["first time", "again"]) expect((await buffer(body)).equals(Buffer.concat(sent))).toBe(true);
    expect(bodies.usage()).toMatchObject({ memoryBytes: files === 0 ? pieces * piece : 0, diskBytes: files });
    await body.close();
    await body.close();
    expect(bodies.usage()).toMatchObject({ memoryBytes: 0, diskBytes: 0 });
  });

  test("is in memory once", async () => {
    const { bodies } = await open();
    const [sent = Buffer.alloc(0)] = piecesOf(1);
    const request = upload(sent.length);
    request.end(sent);
    for await (const chunk of await bodies.receive(request, someone)) expect(chunk.buffer).toBe(sent.buffer);
  });

  test.each([
    { where: "memory", length: 640_000 },
    { where: "a file", length: 2 * megabyte },
  ])("of small chunks is held in few buffers in $where", async ({ length }) => {
    const { bodies } = await open();
    const sent = Buffer.alloc(640_000, "0123456789");
    const request = upload(length);
    for (let at = 0; at < sent.length; at += 32) request.write(sent.subarray(at, at + 32));
    request.end();
    const body = await bodies.receive(request, someone);
    const read: Buffer[] = [];
    for await (const chunk of body) read.push(chunk);
    expect(read.length).toBeLessThan(200);
    expect(Buffer.concat(read).equals(sent)).toBe(true);
  });

  test("goes to disk, whatever its size, when memory is used up", async () => {
    const { bodies } = await open();
    const requests = Array.from({ length: 30 }, () => upload(megabyte));
    const receiving = requests.map((request) => bodies.receive(request, someone));
    await expect.poll(() => bodies.usage().diskBytes).toBe(9 * megabyte);
    expect(bodies.usage().memoryBytes).toBe(21 * megabyte);
    for (const request of requests) request.end(Buffer.alloc(megabyte, "x"));
    for (const body of await Promise.all(receiving)) expect((await buffer(body)).length).toBe(megabyte);
  });

  test("of an announced length is refused before it is read if there is no room", async () => {
    const { bodies } = await open({ freeDisk: async () => 12 * megabyte });
    bodies.receive(upload(2 * megabyte), someone).catch(() => undefined);
    await expect.poll(() => bodies.usage().diskBytes).toBe(2 * megabyte);
    const request = upload(2 * megabyte);
    await expect(bodies.receive(request, someone)).rejects.toBeInstanceOf(NoRoom);
    expect(request.readableDidRead).toBe(false);
    expect(bodies.usage().diskBytes).toBe(2 * megabyte);
  });

  test("of unknown length is refused when there is no more room, and gives its room back", async () => {
    const { bodies } = await open({ freeDisk: async () => 12 * megabyte });
    const request = upload();
    const receiving = bodies.receive(request, someone);
    for (const chunk of piecesOf(48)) request.write(chunk);
    await expect(receiving).rejects.toBeInstanceOf(NoRoom);
    expect(request.destroyed).toBe(false);
    expect(bodies.usage()).toMatchObject({ memoryBytes: 0, diskBytes: 0 });
  });

  test("never gets more than half of the free disk space, nor space for 128 of the largest uploads", async () => {
    const full = await open({ freeDisk: async () => 2 * megabyte });
    await expect(full.bodies.receive(upload(2 * megabyte), someone)).rejects.toBeInstanceOf(NoRoom);
    const { bodies } = await open({ bodyBytes: 2 * megabyte, freeDisk: async () => 1e12 });
    const uploads = Array.from({ length: 60 }, () => bodies.receive(upload(2 * megabyte), someone));
    const outcomes = await Promise.all(
      uploads.map((each) => Promise.race([each.catch(() => "refused"), held(bodies)])),
    );
    expect(outcomes.filter((outcome) => outcome === "refused").length).toBe(18);
  });

  test("that is too long, breaks off or can't be stored leaves nothing behind", async () => {
    const { bodies, folder } = await open({ bodyBytes: 2 * megabyte });
    const long = upload();
    const [tooLong, breaksOff] = [bodies.receive(long, someone), upload(2 * megabyte)];
    for (const chunk of piecesOf(33)) long.write(chunk);
    await expect(tooLong).rejects.toBeInstanceOf(UploadTooLarge);
    const broken = bodies.receive(breaksOff, someone);
    breaksOff.write(Buffer.alloc(piece));
    breaksOff.destroy();
    await expect(broken).rejects.toBeInstanceOf(VisitorLeft);
    const left = upload(2 * megabyte).destroy();
    await expect(bodies.receive(left, someone)).rejects.toBeInstanceOf(VisitorLeft);
    const failing = await open({ freeDisk: () => Promise.reject(new Error("no such disk")) });
    await expect(failing.bodies.receive(upload(2 * megabyte), someone)).rejects.toThrow("no such disk");
    expect([bodies.usage(), await readdir(folder)]).toMatchObject([{ memoryBytes: 0, diskBytes: 0 }, []]);
  });
});

test("a visitor who leaves while space for a body is being claimed leaves nothing behind", async () => {
  const asked = Promise.withResolvers<void>();
  const free = Promise.withResolvers<number>();
  const freeDisk = () => {
    asked.resolve();
    return free.promise;
  };
  const { bodies } = await open({ freeDisk });
  const request = upload();
  const receiving = bodies.receive(request, someone);
  for (const chunk of piecesOf(17)) request.write(chunk);
  await asked.promise;
  request.destroy();
  free.resolve(1e9);
  await expect(receiving).rejects.toBeInstanceOf(VisitorLeft);
  expect(bodies.usage()).toMatchObject({ memoryBytes: 0, diskBytes: 0 });
});

test("files of a killed process are removed at startup", async () => {
  const folder = path.join(await makeFolder(), "bodies");
  await mkdir(folder);
  await writeFile(path.join(folder, "left"), "x");
  await open({ folder });
  expect(await readdir(folder)).toEqual([]);
});

/** Resolves when 42 uploads of 2 MB have their space. */
async function held(bodies: Awaited<ReturnType<typeof openBodies>>): Promise<string> {
  await expect.poll(() => bodies.usage().diskBytes).toBe(84 * megabyte);
  return "held";
}
