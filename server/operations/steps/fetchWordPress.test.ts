/** Downloads of WordPress from good and bad package sources. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openPackageSource } from "../../packages/source.ts";
import { coreSource } from "../../packages/testing/coreSource.ts";
import { listening } from "../../packages/testing/listening.ts";
import { withText, zipOf } from "../../packages/testing/zips.ts";
import { smallCoreZip, versionFile } from "../../testing/wordpressUpdates.ts";
import { fetchWordPress, wordPressFolder } from "./fetchWordPress.ts";

const { signal } = new AbortController();
const options = { from: "7.1.1", to: "7.2", phpVersion: "8.3" };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "fetch-wordpress-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function fetched(send: (response: ServerResponse) => void): Promise<void> {
  await fetchWordPress(await coreSource(options.to, send), options, folder, signal);
}

test("unpacks WordPress, also if it needs a patch release of the environment's PHP version", async () => {
  const zip = await smallCoreZip("7.2", { "wp-includes/version.php": versionFile("7.2", "8.3.7") });
  await fetched((response) => response.end(zip));
  expect((await readdir(wordPressFolder(folder))).toSorted()).toEqual([
    "index.php",
    "wp-admin",
    "wp-includes",
    "wp-load.php",
    "wp-login.php",
  ]);
  expect(await readFile(path.join(wordPressFolder(folder), "index.php"), "utf8")).toBe("<?php // 7.2\n");
});

/** A zip with a path that leads out of it, which zip libraries refuse to write. */
const escaping = async () =>
  withText(await smallCoreZip("7.2", { "xx/evil.php": "" }), "wordpress/xx/evil.php", "wordpress/../evil.php");

/** A zip that claims a wrong size for a file. */
async function withWrongSize(): Promise<Buffer> {
  const zip = await smallCoreZip("7.2", { "wp-includes/large.bin": "x".repeat(123_457) });
  const sizes = [123_457, 0xf000_0000].map((bytes) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes);
    return size.toString("latin1");
  });
  return withText(zip, sizes[0] ?? "", sizes[1] ?? "");
}

async function without(name: string): Promise<Buffer> {
  const files = ["wp-admin/upgrade.php", "wp-includes/version.php", "wp-load.php", "wp-login.php", "index.php"];
  const left = files.filter((file) => file !== name).map((file) => [`wordpress/${file}`, versionFile("7.2")]);
  return zipOf(Object.fromEntries(left));
}

describe("a zip is refused, with the reason,", () => {
  const link = { content: "/etc/passwd", mode: 0o120777 };
  test.each<[what: string, zip: () => Promise<Buffer>, reason: string]>([
    [
      "that was cut short",
      async () => (await smallCoreZip("7.2")).subarray(0, 400),
      "it is damaged, truncated, or not a zip",
    ],
    [
      "that is an HTML page",
      async () => Buffer.from("<!doctype html><title>Sign in</title>"),
      "it is damaged, truncated, or not a zip",
    ],
    ["with a path that leads out of it", escaping, "a path in it leads outside"],
    [
      "with a link",
      () => smallCoreZip("7.2", { "wp-includes/link": link }),
      '"wordpress/wp-includes/link" is neither a file nor a folder',
    ],
    ["without WordPress", () => zipOf({ "shop/shop.php": "" }), 'it contains "shop" instead of wordpress'],
    ["that claims to be too large", withWrongSize, "it needs more than 1000 MB when unpacked"],
    ["without a login page", () => without("wp-login.php"), "it has no wp-login.php"],
    ["without the database upgrade", () => without("wp-admin/upgrade.php"), "it has no wp-admin/upgrade.php"],
    ["without a version", () => without("wp-includes/version.php"), "it has no wp-includes/version.php"],
    ["of another version", () => smallCoreZip("7.1.9"), "it is version 7.1.9"],
    [
      "whose version.php has no version",
      () => smallCoreZip("7.2", { "wp-includes/version.php": "<?php\n" }),
      "it has no version",
    ],
    [
      "that needs a newer PHP",
      () => smallCoreZip("7.2", { "wp-includes/version.php": versionFile("7.2", "8.4") }),
      "it needs PHP 8.4, but the environment has 8.3",
    ],
    [
      "with a configuration",
      () => smallCoreZip("7.2", { "wp-config.php": "<?php" }),
      'it contains "wp-config.php", which belongs to the site',
    ],
    [
      "with web server rules",
      () => smallCoreZip("7.2", { ".htaccess": "Deny from all" }),
      'it contains ".htaccess", which belongs to the site',
    ],
  ])("%s", async (_, zip, reason) => {
    const content = await zip();
    await expect(fetched((response) => response.end(content))).rejects.toThrow(
      `WordPress 7.2: The package is refused: ${reason}.`,
    );
    expect((await readdir(folder)).filter((name) => !name.startsWith("wordpress"))).toEqual([]);
  });
});

describe("a source", () => {
  test("whose zip claims to have ten gigabytes is rejected before the download", async () => {
    const large = fetched((response) => response.writeHead(200, { "content-length": 10_000_000_000 }).flushHeaders());
    await expect(large).rejects.toThrow("WordPress 7.2: The zip is larger than 500 MB.");
    expect(await readdir(folder)).toEqual([]);
  });

  test("that closes the connection early counts as unreachable", async () => {
    const half = fetched((response) => {
      response.writeHead(200, { "content-length": 1_000 });
      response.write("PK", () => response.destroy());
    });
    await expect(half).rejects.toThrow(/^WordPress 7\.2: The package source at .* could not be reached\./);
  });

  test("without the zip is reported with its status", async () => {
    const missing = fetched((response) => response.writeHead(404).end());
    await expect(missing).rejects.toThrow("WordPress 7.2: The package source answers with the status 404.");
  });

  test("that does not offer the version is reported", async () => {
    const other = await coreSource("7.3", (response) => response.end());
    await expect(fetchWordPress(other, options, folder, signal)).rejects.toThrow(
      "WordPress 7.2: The package source does not offer it.",
    );
  });

  test("that answers with HTML is reported", async () => {
    const page = openPackageSource(await listening(createServer((_, response) => response.end("<!doctype html>"))));
    await expect(fetchWordPress(page, options, folder, signal)).rejects.toThrow(
      /^WordPress 7\.2: The package source at .* did not answer with JSON\.$/,
    );
  });

  test.each(["the list", "the zip"])(
    "that hangs before %s is disconnected when the signal is aborted",
    async (what) => {
      const [requested, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const hang = (response: ServerResponse) => {
        response.on("close", () => closed.resolve());
        requested.resolve();
      };
      const source =
        what === "the zip"
          ? await coreSource(options.to, hang)
          : openPackageSource(await listening(createServer((_, response) => hang(response))));
      const stop = new AbortController();
      const waiting = fetchWordPress(source, options, folder, stop.signal);
      await Promise.all([
        expect(waiting).rejects.toThrow("The time is over"),
        requested.promise.then(() => stop.abort(new Error("The time is over"))),
        closed.promise,
      ]);
    },
  );
});
