/** A process that looks whether V8 takes machine code, and whether PHP runs on it: what a worker begins with. */
import { bootPhp } from "../php/boot.ts";
import { loadModule } from "../php/machineCode.ts";
import { serveJob } from "../templates/job.ts";

export interface LoadJob {
  readonly phpVersion: string;
  readonly file: string;
}

/** What a script says that runs on it; null if it is refused. */
async function load({ phpVersion, file }: LoadJob): Promise<string | null> {
  const module = await loadModule(phpVersion, file);
  if (module === null) return null;
  const php = await bootPhp({ version: phpVersion, network: () => null, opcodes: null, module });
  const response = await php.runStream({ code: "<?php echo PHP_VERSION;" });
  return response.stdoutText;
}

if (import.meta.main) serveJob(load);
