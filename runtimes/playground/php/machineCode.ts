/**
 * PHP's WebAssembly, compiled to machine code once for all workers. V8 compiles each function in haste when it is first
 * called, and again with care when it has been called often: two thirds of the processor time of a worker's first page.
 * A process that has answered some pages hands over what it has compiled with care; workers begin with that.
 *
 * Browsers keep WebAssembly in the same way. Node has no function for it, so V8's own ones are taken, which it has for
 * its tests. They look whether version, settings and processor are the same, and give nothing where they are not; then
 * PHP is compiled as ever. Damage is found by a sum of ours.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { crc32 } from "node:zlib";
import { wasmFileOf } from "./build.ts";

/**
 * V8's settings in every process that makes or uses machine code. Validating lazily: most of PHP's functions are never
 * called, so they are not even looked at. One thread besides PHP's own is enough to optimise the rest, and leaves the
 * processors to others' first pages.
 */
export const machineCodeFlags = ["--wasm-lazy-validation", "--v8-pool-size=1", "--allow-natives-syntax"] as const;

/** After how much work, roughly in bytes run, V8 compiles a function with care. The first is its own setting. */
const tieringBudgets = { usual: 13_000_000, eager: 13_000 } as const;

const sumBytes = 4;

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
  if (!isNatives(found)) throw new Error("V8 keeps no machine code.");
  return found;
}

function setTieringBudget(budget: keyof typeof tieringBudgets): void {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudgets[budget]}`);
}

/** PHP, which from now on is compiled with care as soon as a function is called a few times. */
export async function compileEagerly(phpVersion: string): Promise<WebAssembly.Module> {
  setTieringBudget("eager");
  return WebAssembly.compile(readFileSync(await wasmFileOf(phpVersion)));
}

/** What was compiled with care by now. At least one function must be, or V8 ends the process. */
export function machineCodeOf(module: WebAssembly.Module): Buffer {
  // The settings are part of what V8 compares.
  setTieringBudget("usual");
  const code = Buffer.from(natives().serialize(module));
  const sum = Buffer.alloc(sumBytes);
  sum.writeUInt32LE(crc32(code));
  return Buffer.concat([code, sum]);
}

/** PHP with this machine code from a file; null if there is none for just this PHP, V8 and processor, or a damaged one. */
export async function loadModule(phpVersion: string, file: string): Promise<WebAssembly.Module | null> {
  const content = readFileSync(file);
  const length = content.length - sumBytes;
  if (length < 0 || crc32(content.subarray(0, length)) !== content.readUInt32LE(length)) return null;
  const code = new Uint8Array(content.subarray(0, length)).buffer;
  return natives().deserialize(code, readFileSync(await wasmFileOf(phpVersion))) ?? null;
}
