import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createAssetStore } from "../../assets/store.ts";
import { runJob } from "../../job.ts";
import { createCompiledStore } from "../templates/compiled.ts";
import { createTemplateStore } from "../templates/template.ts";
import type { LoadJob } from "../testing/loadModule.ts";
import { sharedAssets } from "../testing/world.ts";
import { machineCodeFlags } from "./machineCode.ts";

let machineCode: string;

beforeAll(async () => {
  const assets = createAssetStore({ folder: sharedAssets });
  machineCode = (await createCompiledStore(assets, createTemplateStore(assets)).get("8.3")).machineCode;
}, 400_000);

/** Loads these files in a process with these flags. Returns PHP's version for each, or null if the file is refused. */
function load(files: readonly string[], flags: readonly string[] = machineCodeFlags): Promise<unknown> {
  return runJob(new URL("../testing/loadModule.ts", import.meta.url), { phpVersion: "8.3", files } satisfies LoadJob, {
    deadlineSeconds: 60,
    flags,
  });
}

const damages: Readonly<Record<string, (code: Buffer) => Buffer>> = {
  empty: () => Buffer.alloc(0),
  "truncated within its checksum": (code) => code.subarray(0, 3),
  truncated: (code) => code.subarray(0, code.length / 2),
  "changed in one bit": (code) =>
    code.fill((code[code.length >> 1] ?? 0) ^ 1, code.length >> 1, (code.length >> 1) + 1),
  "something else": () => Buffer.alloc(100_000, "else"),
};

describe("PHP's machine code", () => {
  test("is refused by a process with other flags", async () => {
    expect(await load([machineCode], [...machineCodeFlags, "--no-wasm-bounds-checks"])).toEqual([null]);
  });

  test(`is refused if it is ${Object.keys(damages).join(", ")}, and otherwise runs PHP`, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "machine-code-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const files = Object.keys(damages).map((name) => path.join(folder, name));
    for (const [name, damage] of Object.entries(damages)) {
      await writeFile(path.join(folder, name), damage(await readFile(machineCode)));
    }
    expect(await load([...files, machineCode])).toEqual([...files.map(() => null), expect.stringMatching(/^8\.3\./)]);
  });
});
