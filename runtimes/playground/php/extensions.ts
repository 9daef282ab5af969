/** PHP's extensions that are not part of its own code (`assets/extensions.ts`). */

import type { PHP } from "@php-wasm/universal";
import { mountFolder } from "./mounts.ts";

const mountPoint = "/internal/extensions";

/** Environment variables of PHP's process: where ICU finds its data. */
export const extensionVariables = { ICU_DATA: mountPoint };

/**
 * Adds the functions of C++'s library that intl needs and PHP's build lacks. Without them, MessageFormatter and others end PHP's
 * process. `symbols` is where extensions look for functions. Memory is C's; there are no threads to wait for.
 */
export function addCppFunctions(symbols: object, { malloc, free }: Readonly<Record<string, unknown>>): void {
  Object.assign(symbols, {
    // operator new, new[], delete and delete[]
    ...{ _Znwm: malloc, _Znam: malloc, _ZdlPv: free, _ZdaPv: free },
    // The destructors of std::mutex and std::condition_variable, and wait(). Destructors return the object.
    _ZNSt3__25mutexD1Ev: (object: number) => object,
    _ZNSt3__218condition_variableD1Ev: (object: number) => object,
    _ZNSt3__218condition_variable4waitERNS_11unique_lockINS_5mutexEEE: () => undefined,
  });
}

/** Mounts the host folder with the extensions. Call before PHP's first script. Returns the settings that load them. */
export async function mountExtensions(php: PHP, folder: string, version: string): Promise<Record<string, string>> {
  await mountFolder(php, mountPoint, folder, "readOnly");
  return { extension: `${mountPoint}/${version}/intl.so` };
}
