/** Compiled code and extensions for a process that runs PHP. */
import { existsSync } from "node:fs";
import type { OpcodeFiles } from "../php/boot.ts";
import type { Compiled } from "../templates/compiled.ts";
import { reachableFolder } from "./dropPrivileges.ts";

/** Returns the compiled code, or null if it is gone: another process may have removed it as outdated. */
export function usableCompiled(compiled: Compiled | null): Compiled | null {
  return compiled !== null && existsSync(compiled.opcodes) && existsSync(compiled.machineCode) ? compiled : null;
}

/** Returns the opcode folder under a path that stays readable when this process changes its user. */
export function opcodeFilesOf({ opcodes }: Compiled): OpcodeFiles {
  return { folder: reachableFolder(opcodes), kind: "readOnly" };
}

/** Returns the folder of extensions under a path that stays readable, or null if there is none. */
export function usableExtensions(folder: string | null | undefined): string | null {
  return folder != null && existsSync(folder) ? reachableFolder(folder) : null;
}
