import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAssetStore } from "../assets/store.ts";
import { createCompiledStore } from "../templates/compiled.ts";
import { runJob } from "../templates/job.ts";
import { createTemplateStore } from "../templates/template.ts";
import type { LoadJob } from "../testing/loadModule.ts";
import { sharedAssets } from "../testing/world.ts";
import { machineCodeFlags } from "./machineCode.ts";

let machineCode: string;

beforeAll(async () => {
  const assets = createAssetStore({ folder: sharedAssets });
  machineCode = (await createCompiledStore(assets, createTemplateStore(assets)).get("8.3")).machineCode;
}, 400_000);

/** Loads the file in a process with these flags. Returns PHP's version, or null if the file is refused. */
function load(file: string, flags: readonly string[] = machineCodeFlags): Promise<unknown> {
  return runJob("../testing/loadModule.ts", { phpVersion: "8.3", file } satisfies LoadJob, {
    deadlineSeconds: 60,
    flags,
  });
}

async function fileWith(content: Buffer): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "machine-code-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, "machine-code");
  await writeFile(file, content);
  return file;
}

describe("PHP's machine code", () => {
  test("runs PHP in a process with the same flags", async () => {
    expect(await load(machineCode)).toMatch(/^8\.3\./);
  });

  test("is refused by a process with other flags", async () => {
    expect(await load(machineCode, [...machineCodeFlags, "--no-wasm-bounds-checks"])).toBeNull();
  });

  test.each<[string, (code: Buffer) => Buffer]>([
    ["empty", () => Buffer.alloc(0)],
    ["truncated within its checksum", (code) => code.subarray(0, 3)],
    ["truncated", (code) => code.subarray(0, code.length / 2)],
    [
      "changed in one bit",
      (code) => code.fill((code[code.length >> 1] ?? 0) ^ 1, code.length >> 1, (code.length >> 1) + 1),
    ],
    ["something else", () => Buffer.alloc(100_000, "else")],
  ])("that is %s is refused", async (_description, damage) => {
    expect(await load(await fileWith(damage(await readFile(machineCode))))).toBeNull();
  });
});
