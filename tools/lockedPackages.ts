/** The packages in a `package-lock.json`, without the workspaces. */
import { readFileSync } from "node:fs";
import * as v from "valibot";

const Lock = v.object({
  packages: v.record(v.string(), v.object({ version: v.optional(v.string()), name: v.optional(v.string()) })),
});

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
}

export function readLockedPackages(file: string): LockedPackage[] {
  const { packages } = v.parse(Lock, JSON.parse(readFileSync(file, "utf8")));
  return Object.entries(packages).flatMap(([path, { name, version }]) => {
    const [, last] = /(?:^|.*\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
    return last === undefined || version === undefined ? [] : [{ name: name ?? last, version }];
  });
}
