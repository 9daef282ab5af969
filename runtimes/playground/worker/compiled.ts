/** What was compiled once for all, as a process that runs PHP begins with it. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { OpcodeFiles } from "../php/boot.ts";
import type { Compiled } from "../templates/compiled.ts";
import { descriptorPath } from "./dropPrivileges.ts";

/** Null if it is gone: another process may have removed it because it was outdated there. */
export function usableOf(compiled: Compiled | null): Compiled | null {
  return compiled !== null && existsSync(compiled.opcodes) && existsSync(compiled.machineCode) ? compiled : null;
}

/** Readable for whichever user this process becomes. */
export function reachable({ opcodes }: Compiled): OpcodeFiles {
  return { folder: `${descriptorPath(path.dirname(opcodes))}/${path.basename(opcodes)}`, kind: "readOnly" };
}
