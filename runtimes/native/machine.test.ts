import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { examineMachine } from "./machine.ts";

const groups = { memory: true, pids: true };

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

test("without bubblewrap, the missing packages are reported although PHP can't be inspected", async () => {
  vi.stubEnv("PATH", "/nowhere");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { missing, offered } = await examineMachine({ groups, phpRoots }, () => false);
  expect(missing).toEqual([expect.stringMatching(/^There is no bwrap or setpriv .* Install bubblewrap util-linux\.$/)]);
  expect(offered).toEqual([]);
});
