import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeAcceptMail } from "./accept.ts";
import { openSpool, type SpoolLimits } from "./spool.ts";

let folder = "";
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "spool-")), "mail");
});
afterEach(() => rm(join(folder, ".."), { recursive: true }));

const environmentId = randomUUID();
const content = {
  sender: null,
  recipients: ["ada@example.com"],
  message: Buffer.from("To: ada@example.com\n\nü\0ÿ\n"),
};
const limits: SpoolLimits = { messages: 3, bytes: 10_000, allBytes: 15_000, freeBytes: 0 };

describe("a spooled message", () => {
  it("stays complete until removed, readable only by the owner", async () => {
    const id = await openSpool(folder).put(environmentId, content);
    const spool = openSpool(folder);
    const [mail] = await spool.list();
    expect(mail).toMatchObject({ id, environmentId });
    expect(mail && (await spool.read(mail))).toEqual(content);
    const [name = ""] = await readdir(folder);
    expect([(await stat(folder)).mode & 0o777, (await stat(join(folder, name))).mode & 0o777]).toEqual([0o700, 0o600]);
    if (mail) {
      await spool.remove(mail);
      await spool.remove(mail);
    }
    expect(await spool.list()).toEqual([]);
  });

  it("is told apart from unfinished and foreign files", async () => {
    const spool = openSpool(folder);
    const id = await spool.put(environmentId, content);
    await writeFile(join(folder, `${environmentId}.${randomUUID()}.5.123.abcdef`), "half");
    await writeFile(join(folder, "notes.txt"), "");
    expect((await spool.list()).map((mail) => mail.id)).toEqual([id]);
  });

  it("is ignored if the file is truncated", async () => {
    const spool = openSpool(folder);
    await spool.put(environmentId, content);
    const [mail] = await spool.list();
    const [name = ""] = await readdir(folder);
    await truncate(join(folder, name), 10);
    expect(mail && (await spool.read(mail))).toBeNull();
  });
});

describe("messages are refused", () => {
  const put = (spool: ReturnType<typeof openSpool>, environment = environmentId, bytes = 10) =>
    spool.put(environment, { ...content, message: Buffer.alloc(bytes, "x") });

  it("if one environment has too many, also when they arrive at once; others are not affected", async () => {
    const spool = openSpool(folder, limits);
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => put(spool)));
    expect(all.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(3);
    for (let more = 0; more < 3; more += 1) await put(spool).catch(() => undefined);
    expect(await spool.list()).toHaveLength(3);
    await expect(put(spool)).rejects.toThrow("too many messages are waiting");
    await put(spool, randomUUID());
  });

  it("if one environment, or all together, have too many bytes", async () => {
    const spool = openSpool(folder, limits);
    await expect(put(spool, environmentId, 11_000)).rejects.toThrow("too many messages are waiting");
    await put(spool, environmentId, 9_000);
    await expect(put(spool, randomUUID(), 9_000)).rejects.toThrow("too many messages are waiting");
    await put(spool, randomUUID(), 4_000);
  });

  it("if the disk is full", async () => {
    const spool = openSpool(folder, { ...limits, freeBytes: Number.MAX_SAFE_INTEGER / 2 });
    await expect(put(spool)).rejects.toThrow("the server's disk is full");
    expect(await spool.list()).toEqual([]);
  });
});

describe("accepting a message from PHP", () => {
  it("returns null once it is on disk, otherwise the reason, leaving no file", async () => {
    const failures: unknown[] = [];
    const spool = openSpool(folder);
    const take = makeAcceptMail({ spool, onFailure: (error) => failures.push(error) });
    expect(await take(environmentId, content)).toBeNull();
    expect(await take(environmentId, { sender: null, message: Buffer.from("To: a b\n\n") })).toContain(
      "invalid address",
    );
    expect(await spool.list()).toHaveLength(1);
    const broken = makeAcceptMail({
      spool: { put: () => Promise.reject(new Error("EIO")) },
      onFailure: (e) => failures.push(e),
    });
    expect(await broken(environmentId, content)).toBe("the message could not be stored");
    expect(failures).toHaveLength(1);
  });
});
