import { describe, expect, test } from "vitest";
import type { UpstreamUsage } from "./php/upstream.ts";
import { eventually } from "./testing/eventually.ts";
import { ask } from "./testing/http.ts";
import { startEmptyEdge, startSite } from "./testing/withEdge.ts";

type AdminEdge = Parameters<typeof ask>[0] & { readonly adminSocket: string };

async function usage(edge: AdminEdge, since: object | null = null) {
  const body = JSON.stringify(since);
  const got = await ask(edge, "/usage", { method: "POST", body, socketPath: edge.adminSocket });
  expect(got.status).toBe(200);
  return JSON.parse(got.body);
}

const php: UpstreamUsage = {
  environmentId: "one",
  phpRequests: 3,
  phpMilliseconds: 400,
  cpuMilliseconds: 300,
  killedForTime: 1,
  killedForMemory: 0,
  refusedBusy: 2,
  writes: 1,
  recentCores: 0.5,
};

describe("usage of environments", () => {
  test("has the bytes sent to visitors and the usage of PHP", async () => {
    const { edge, upstream } = await startSite({ "style.css": "a".repeat(50_000) });
    await ask(edge, "/style.css");
    await ask(edge, "/");
    await eventually(async () => {
      const [one] = (await usage(edge)).environments;
      expect(one).toMatchObject({ environmentId: "one", phpRequests: 0 });
      expect(one.bytesSent).toBeGreaterThan(50_000);
      expect(one.bytesSent).toBeLessThan(52_000);
    });
    upstream.used = [php, { ...php, environmentId: "two" }];
    const [one, two] = (await usage(edge)).environments;
    expect({ ...one, bytesSent: 0 }).toEqual({ ...php, bytesSent: 0 });
    expect(two).toEqual({ ...php, environmentId: "two", bytesSent: 0 });
  });

  test("does not include PHP's requests to its own site", async () => {
    const { edge } = await startSite();
    await ask(edge, "/", { php: edge.loopbackSocket });
    expect((await usage(edge)).environments).toEqual([]);
  });

  test("has only changes since an earlier report of the same run", async () => {
    const { edge, upstream } = await startEmptyEdge();
    upstream.used = [php, { ...php, environmentId: "two" }];
    const first = await usage(edge);
    const idsOf = ({ environments }: { environments: { environmentId: string }[] }) =>
      environments.map(({ environmentId }) => environmentId);
    expect(idsOf(first)).toEqual(["one", "two"]);
    expect(idsOf(await usage(edge, first))).toEqual([]);
    upstream.used = [php, { ...php, environmentId: "two", writes: 2 }];
    // Its response may have been lost.
    await usage(edge, first);
    expect(idsOf(await usage(edge, first))).toEqual(["two"]);
    expect(idsOf(await usage(edge, { run: "of another edge", report: first.report }))).toEqual(["one", "two"]);
  });

  test("has a different run id for each start of the edge", async () => {
    const [one, two] = [await startEmptyEdge(), await startEmptyEdge()];
    const runs = [(await usage(one.edge)).run, (await usage(one.edge)).run, (await usage(two.edge)).run];
    expect(runs[0]).toBe(runs[1]);
    expect(runs[0]).not.toBe(runs[2]);
  });
});

describe("an upload that exceeds the disk quota", () => {
  const limits = (leftBytes: number) => ({
    environment: {
      limits: { threads: 2, memoryMb: 256, requestSeconds: null, disk: { leftBytes, measuredAt: 1 } },
    },
    edge: {
      limits: {
        uploadBytes: 10_000_000,
        formBytes: 0,
        headSeconds: 15,
        requestSeconds: 60,
        connectionsPerNetwork: 10_000,
        bodyGraceSeconds: 10,
        unreadBytes: 1_000_000_000,
        silenceSeconds: 60,
        freezeSeconds: 20,
        holdSeconds: 20,
      },
    },
  });
  const form = { "content-type": "multipart/form-data; boundary=x" };
  const send = (edge: AdminEdge, path: string, bytes: number, headers: Readonly<Record<string, string>>) =>
    ask(edge, path, { method: "POST", body: Buffer.alloc(bytes), headers });

  test("is refused without PHP", async () => {
    const { edge, upstream } = await startSite({}, limits(1_000_000));
    const got = await send(edge, "/wp-admin/async-upload.php", 2_000_000, form);
    expect([got.status, got.body]).toEqual([507, expect.stringContaining("no space left")]);
    expect(upstream.asked).toEqual([]);
  });

  test("is refused with a JSON error in the block editor", async () => {
    const { edge } = await startSite({}, limits(-1));
    const headers = { "content-disposition": "attachment; filename=a.jpg", "content-type": "image/jpeg" };
    const got = await send(edge, "/wp-json/wp/v2/media", 200_000, headers);
    expect(JSON.parse(got.body)).toMatchObject({ code: "disk_quota_reached", data: { status: 507 } });
  });

  test("is not refused if it fits, if it is a small form, or if it has no files", async () => {
    const { edge } = await startSite({}, limits(1_000_000));
    expect((await send(edge, "/", 900_000, form)).status).toBe(200);
    const full = await startSite({}, limits(-1));
    expect((await send(full.edge, "/", 50_000, form)).status).toBe(200);
    const query = { "content-type": "application/x-www-form-urlencoded" };
    expect((await send(full.edge, "/", 200_000, query)).status).toBe(200);
  });
});
