/** How PHP in a sandbox finds opcodes. */
import { opcodeFolder } from "../../phpFolders.ts";
import type { Sandbox } from "../sandbox.ts";

/** Compiled code, to be mounted below the folder that PHP searches for it. */
export interface Opcodes {
  /** How PHP names its build; the name of the folder. */
  readonly build: string;
  readonly folder: string;
}

interface MountedOpcodes extends Pick<Sandbox, "mounts" | "memoryFolders"> {
  /** Of PHP. */
  readonly settings: Readonly<Record<string, string>>;
}

/** PHP of another build may try to store opcodes there; the folder is only the mount point. */
const opcodeFolderBytes = 64 << 10;

/**
 * PHP looks for opcodes in a folder that it could write to, below which the mounted ones are read-only: it neither changes nor adds any.
 */
export function mountOpcodes(opcodes: Opcodes | null): MountedOpcodes {
  if (opcodes === null) return { settings: {}, mounts: [], memoryFolders: [] };
  return {
    settings: { "opcache.file_cache": opcodeFolder },
    mounts: [{ from: opcodes.folder, to: `${opcodeFolder}/${opcodes.build}`, isWritable: false }],
    memoryFolders: [{ path: opcodeFolder, maxBytes: opcodeFolderBytes }],
  };
}
