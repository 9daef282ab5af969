/**
 * PHP's WebAssembly, compiled to machine code once for all workers. V8 compiles each function quickly at its first
 * call, and again with optimisation when it has been called often: that takes two thirds of the CPU time of a worker's
 * first page. A process that has rendered some pages saves its optimised code, and workers start with it.
 *
 * Browsers cache WebAssembly in the same way. Node has no function for it, so V8's internal test functions are used.
 * They check that version, settings and processor match, and return nothing otherwise; PHP is then compiled as usual. A
 * checksum detects damage.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { crc32 } from "node:zlib";
import { wasmFileOf } from "./build.ts";

/**
 * V8 flags of every process that creates or uses machine code. Lazy validation: most of PHP's functions are never
 * called, so they are never validated. One thread besides PHP's own is enough for optimisation, and leaves CPU time to
 * other workers' first pages.
 */
export const machineCodeFlags = ["--wasm-lazy-validation", "--v8-pool-size=1", "--allow-natives-syntax"] as const;

/** Bytes executed before V8 optimises a function, roughly. `default` is V8's own setting. */
const tieringBudgets = { default: 13_000_000, eager: 1 } as const;

const checksumBytes = 4;

interface Natives {
  serialize(module: WebAssembly.Module): ArrayBuffer;
  deserialize(code: ArrayBuffer, wasm: Uint8Array): WebAssembly.Module | undefined;
}

function isNatives(value: unknown): value is Natives {
  return typeof value === "object" && value !== null && "serialize" in value && "deserialize" in value;
}

/** Throws in a process without the flags. */
function natives(): Natives {
  const found: unknown = runInThisContext(`({
    serialize: (module) => %SerializeWasmModule(module),
    deserialize: (code, wasm) => %DeserializeWasmModule(code, wasm),
  })`);
  if (!isNatives(found)) throw new Error("V8 does not support saving machine code.");
  return found;
}

function setTieringBudget(budget: keyof typeof tieringBudgets): void {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudgets[budget]}`);
}

/** Compiles PHP so that every function is optimised after its first call. */
export async function compileEagerly(phpVersion: string): Promise<WebAssembly.Module> {
  setTieringBudget("eager");
  return WebAssembly.compile(readFileSync(await wasmFileOf(phpVersion)));
}

/** Returns the optimised code so far. At least one function must be optimised, or V8 crashes. */
export function machineCodeOf(module: WebAssembly.Module): Buffer {
  // V8 compares the settings too.
  setTieringBudget("default");
  const code = Buffer.from(natives().serialize(module));
  const checksum = Buffer.alloc(checksumBytes);
  checksum.writeUInt32LE(crc32(code));
  return Buffer.concat([code, checksum]);
}

/**
 * Loads PHP with the machine code in a file. Null if it is damaged or belongs to another PHP build, V8 version or
 * processor.
 */
export async function loadModule(phpVersion: string, file: string): Promise<WebAssembly.Module | null> {
  const content = readFileSync(file);
  const length = content.length - checksumBytes;
  if (length < 0 || crc32(content.subarray(0, length)) !== content.readUInt32LE(length)) return null;
  const code = new Uint8Array(content.subarray(0, length)).buffer;
  return natives().deserialize(code, readFileSync(await wasmFileOf(phpVersion))) ?? null;
}
