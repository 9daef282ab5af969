/** A process that checks whether V8 accepts machine code and PHP runs on it, as when a worker starts. */

import { serveJob } from "../../job.ts";
import { bootPhp } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";

export interface LoadJob {
  readonly phpVersion: string;
  readonly files: readonly string[];
}

/** Runs a script on the module in each file. Returns their outputs, null if V8 rejects the module. */
async function loadAll({ phpVersion, files }: LoadJob): Promise<readonly (string | null)[]> {
  return Promise.all(files.map((file) => load(phpVersion, file)));
}

async function load(phpVersion: string, file: string): Promise<string | null> {
  const module = await loadModule(phpVersion, file);
  if (module === null) return null;
  const php = await bootPhp({ version: phpVersion, network: () => null, opcodes: null, module });
  const response = await php.runStream({ code: "<?php echo PHP_VERSION;" });
  return response.stdoutText;
}

if (import.meta.main) serveJob(loadAll);
