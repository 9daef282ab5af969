/** Reads for which kind of processor a program is. */
import { closeSync, openSync, readSync } from "node:fs";

/** Linux programs begin with this. */
const magic = Buffer.from("\x7fELF", "latin1");
/** Place of `e_machine` in the header of a program. */
const machineOffset = 18;

function machineOf(file: string): number | null {
  const header = Buffer.alloc(machineOffset + 2);
  const descriptor = openSync(file, "r");
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header.subarray(0, magic.length).equals(magic) ? header.readUInt16LE(machineOffset) : null;
}

/** Whether the file is a program for another kind of processor than this process. Throws if it can't be read. */
export function isForOtherProcessor(file: string): boolean {
  const machine = machineOf(file);
  return machine !== null && machine !== machineOf(process.execPath);
}
