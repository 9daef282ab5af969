import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openPackageSource } from "../packages/source.ts";
import { pluginZip } from "../packages/testing/zips.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sw-mirror-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "shop.zip"), await pluginZip("shop", "1.0"));
  await writeFile(join(folder, "broken.zip"), "");
});

function operator(...given: readonly string[]) {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, SITEWRIGHT_DATA: folder };
  const program = join(import.meta.dirname, "../operator.ts");
  const child = spawn(process.execPath, [program, "mirror", ...given], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("the operator's mirror prints its content and address, and stops at SIGTERM", async () => {
  const child = operator(folder, "--listen", "127.0.0.1:0");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line.startsWith("Served at")) break;
  }
  expect(lines.slice(0, 2)).toEqual([
    "Plugins: 1, themes: 0, versions of WordPress: 0, language packs: 0, zips: 1",
    "Left out: broken.zip: The package is refused: it is damaged, truncated, or not a zip.",
  ]);
  const url = /SITEWRIGHT_WPORG_URL=(\S+)$/.exec(lines.at(-1) ?? "")?.[1] ?? "";
  const found = await openPackageSource(url).newest("plugin", ["shop/shop.php"], new AbortController().signal);
  expect(found.get("shop/shop.php")?.version).toBe("1.0");
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
});

describe("a mirror is not started", () => {
  test.each([
    [["/nowhere"], 1, "/nowhere is not a folder. Name a folder that contains zips."],
    [[".", "--listen", "8090"], 2, "--listen 8090 is not an address and a port, such as 127.0.0.1:8090."],
    [[".", "--listen", "203.0.113.9:8090"], 1, "The mirror can't listen there: "],
    [[".", "--json"], 2, "Unknown option '--json'.\n\nUsage: npm run --silent operator -- mirror <folder>"],
  ])("with %j", async (given, code, message) => {
    const child = operator(...given);
    const [errors, [exit]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect(exit).toBe(code);
    expect(errors).toContain(message);
  });
});
