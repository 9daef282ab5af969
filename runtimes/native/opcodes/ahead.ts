/** Compiles shared code before environments need it. */
import { createAssetStore } from "../../assets/store.ts";
import type { ServedEnvironment } from "../../serving.ts";
import { sharedFolders } from "../../site/sharedCode.ts";
import { opcodeJobOf } from "../environmentFpm.ts";
import type { PhpProgram } from "../environmentSandbox.ts";
import { type OpcodeStore, retryMilliseconds } from "./store.ts";

type SharingEnvironment = Pick<ServedEnvironment, "overlays" | "phpVersion">;

interface AheadOptions {
  readonly assets: string;
  readonly phpOf: (version: string) => PhpProgram;
  readonly onFailure: (error: unknown) => void;
}

export interface Ahead {
  /** Compiles the code that new environments of this PHP version get, if WordPress is there. */
  compileDefault(phpVersion: string): Promise<void>;
  /** Compiles the shared code of the environment. */
  compileFor(environment: SharingEnvironment): void;
}

export function createAhead(store: OpcodeStore, { assets, phpOf, onFailure }: AheadOptions): Ahead {
  /** When each compilation was requested (`performance.now()`), by key. */
  const asked = new Map<string, number>();

  function compileFor(environment: SharingEnvironment): void {
    const key = JSON.stringify([environment.phpVersion, environment.overlays]);
    const now = performance.now();
    // It may have failed meanwhile.
    if (now - (asked.get(key) ?? Number.NEGATIVE_INFINITY) < retryMilliseconds) return;
    asked.set(key, now);
    try {
      const job = opcodeJobOf(environment, phpOf(environment.phpVersion), { assets });
      if (job !== null) void store.find(job);
    } catch (error) {
      // Its PHP or its WordPress is missing, which its visitors are told.
      onFailure(error);
    }
  }

  return {
    compileFor,
    compileDefault: async (phpVersion) => {
      const files = await createAssetStore({ folder: assets })
        .files()
        .catch(() => null);
      if (files === null) return;
      const overlays = Object.fromEntries(sharedFolders.map((name) => [name, `${files.core}/${name}`]));
      compileFor({ overlays, phpVersion });
    },
  };
}
