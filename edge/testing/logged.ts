import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import type { EdgeWorld } from "./withEdge.ts";

/** Waits until the log of the environment `one` has `count` lines, and returns them. */
export async function logged({ folder }: Pick<EdgeWorld, "folder">, name: "access" | "error", count: number) {
  const own = path.join(folder, "logs", "one");
  let lines: string[] = [];
  await eventually(async () => {
    const files = (await readdir(own)).filter((file) => file.startsWith(`${name}-`));
    lines = (await Promise.all(files.map((file) => readFile(path.join(own, file), "utf8")))).join("").split("\n");
    expect(lines.length - 1).toBeGreaterThanOrEqual(count);
  });
  expect(lines.slice(0, -1)).toHaveLength(count);
  return lines.slice(0, -1);
}
