/** Downloads of packages from good and bad package sources. */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openPackageSource } from "../../packages/source.ts";
import { listening } from "../../packages/testing/listening.ts";
import { pluginZip } from "../../packages/testing/zips.ts";
import { fetchPackage } from "./fetchPackage.ts";

const { signal } = new AbortController();
const options = { kind: "plugin", name: "shop", slug: "shop", file: "shop/shop.php", version: "2.0" } as const;
const largest = 500_000_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fetch-package-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

/** A source that offers one zip, which `send` sends. */
async function sourceThat(send: (response: ServerResponse) => void) {
  const answer: RequestListener = (request, response) => {
    if (request.url === "/shop.zip") return send(response);
    const versions = { "2.0": `http://${request.headers.host}/shop.zip` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ slug: "shop", version: "2.0", versions }));
  };
  return openPackageSource(await listening(createServer(answer)));
}

test("unpacks a package into its own folder", async () => {
  const zip = await pluginZip("shop", "2.0");
  const source = await sourceThat((response) => response.end(zip));
  expect(await readdir(await fetchPackage(source, options, folder, signal))).toEqual(["shop.php"]);
});

/** Sends data until the client disconnects. */
function sendWithoutEnd(response: ServerResponse): void {
  const part = Buffer.alloc(1 << 20);
  const more = () => {
    while (response.write(part));
  };
  response.on("drain", more);
  more();
}

async function bytesIn(place: string): Promise<number> {
  const sizes = (await readdir(place)).map(async (name) => (await stat(path.join(place, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

describe("a zip", () => {
  test("that claims to have ten gigabytes is not downloaded", async () => {
    const source = await sourceThat((response) => {
      response.writeHead(200, { "content-length": 10_000_000_000 }).flushHeaders();
    });
    await expect(fetchPackage(source, options, folder, signal)).rejects.toThrow(
      "shop 2.0: The zip is larger than 500 MB.",
    );
    expect(await readdir(folder)).toEqual([]);
  });

  test("without an end is aborted at the size limit", { timeout: 120_000 }, async () => {
    let isClosed = false;
    const source = await sourceThat((response) => {
      response.on("close", () => {
        isClosed = true;
      });
      sendWithoutEnd(response);
    });
    await expect(fetchPackage(source, options, folder, signal)).rejects.toThrow(
      "shop 2.0: The zip is larger than 500 MB.",
    );
    await expect.poll(() => isClosed).toBe(true);
    expect((await bytesIn(folder)) <= largest).toBe(true);
  });

  test.each([
    [
      "breaks off",
      (half: Buffer, whole: Buffer, response: ServerResponse) => {
        response.writeHead(200, { "content-length": whole.length });
        response.write(half, () => response.destroy());
      },
      "could not be reached",
      null,
    ],
    [
      "was cut short",
      (half: Buffer, _: Buffer, response: ServerResponse) => response.end(half),
      "truncated",
      "refused",
    ],
    [
      "is an HTML page",
      (_: Buffer, __: Buffer, response: ServerResponse) => response.end("<!doctype html>"),
      "not a zip",
      "refused",
    ],
    [
      "does not exist",
      (_: Buffer, __: Buffer, response: ServerResponse) => response.writeHead(404).end(),
      "status 404",
      null,
    ],
    [
      "contains another version",
      async (_: Buffer, __: Buffer, response: ServerResponse) => response.end(await pluginZip("shop", "2.1")),
      "it is version 2.1",
      "refused",
    ],
  ])("that %s is rejected with the reason and the kind of failure", async (_, send, reason, kind) => {
    const whole = await pluginZip("shop", "2.0");
    const half = whole.subarray(0, whole.length >> 1);
    const source = await sourceThat((response) => void send(half, whole, response));
    const message = expect.stringMatching(new RegExp(`^shop 2\\.0: .*${reason}`));
    await expect(fetchPackage(source, options, folder, signal)).rejects.toMatchObject({ message, kind });
  });
});
