import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { examineMachine } from "./machine.ts";
import { discoverPhp } from "./versions/discovery.ts";

const groups = { memory: true, pids: true };

/** All programs are found but bubblewrap. */
async function withoutBubblewrap(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "programs-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ["sh", "setpriv", "true"]) await symlink(`/usr/bin/${name}`, path.join(folder, name));
  vi.stubEnv("PATH", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
}

let phpRoots: string;
beforeEach(async () => {
  phpRoots = await mkdtemp(path.join(tmpdir(), "machine-"));
  onTestFinished(() => rm(phpRoots, { recursive: true }));
});

test("a machine with everything has nothing missing", async () => {
  const { missing, offered } = await examineMachine({ groups, phpRoots });
  expect(missing).toEqual([]);
  expect(offered).not.toEqual([]);
});

test("without bubblewrap, that alone is missing: PHP, which can't be asked without it, is not blamed", async () => {
  await withoutBubblewrap();
  const { missing, offered } = await examineMachine({ groups, phpRoots }, () => false);
  expect(missing).toEqual([expect.stringMatching(/^There is no bwrap or setpriv .* Install bubblewrap util-linux\.$/)]);
  expect(offered).toEqual([]);
});

test("without bubblewrap, PHP's versions can't be listed, and one sentence says why", async () => {
  await withoutBubblewrap();
  await expect(discoverPhp({ folder: phpRoots })).rejects.toThrow("a program is missing: apt-get install bubblewrap");
});
